"""A comparison as text: JSON for programs, a table for a terminal, Markdown for a pull request."""

import json
from dataclasses import fields
from typing import Any, Literal

from memrepro.compare import Difference, Metric
from memrepro.compare.gate import failures
from memrepro.compare.pages import Block, blocks

Format = Literal["table", "json", "markdown"]
FORMATS: tuple[Format, ...] = ("table", "json", "markdown")


def render(difference: Difference, form: Format) -> str:
    """The whole comparison, in a form."""
    if form == "json":
        values = _values(difference)
        # default: a date in a params file
        return json.dumps(values, ensure_ascii=False, allow_nan=False, default=str) + "\n"
    write = _markdown if form == "markdown" else _plain
    return "\n".join(write(block) for block in blocks(difference))


def _values(difference: Difference) -> dict[str, Any]:
    sides = [
        {"name": name, "commit": commit}
        for name, commit in zip(difference.names, difference.commits, strict=True)
    ]
    return {
        "a": sides[0],
        "b": sides[1],
        "same_commit": difference.same_commit,
        "datasets": {
            one.dataset: {
                "settings": one.settings.model_dump(),
                "metrics_compared": len(one.metrics),
                "family": [metric.path for metric in one.metrics if metric.in_family],
                "moved": [_metric_values(metric) for metric in one.moved],
            }
            for one in difference.datasets
        },
        "regressions": failures(difference, "regression"),
        "incomparable": failures(difference, "incomparable"),
        "differs": _fields(difference.surroundings),
        "not_at_hand": difference.not_at_hand,
    }


def _fields(row: Any) -> dict[str, Any]:
    """A dataclass's fields by name; unlike `asdict`, without a copy of a million ids."""
    return {field.name: getattr(row, field.name) for field in fields(row)}


def _metric_values(metric: Metric) -> dict[str, Any]:
    values = {
        **_fields(metric),
        "comparability": _fields(metric.comparability),
        "items": _fields(metric.items) if metric.items else None,
    }
    if metric.texts is None:
        del values["texts"]  # an empty one says that none is at hand
    return values


def _plain(block: Block) -> str:
    widths = [max(map(len, column)) for column in zip(*block.rows, strict=True)]
    rows = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in block.rows]
    return "\n".join([block.title, *(f"  {line}" for line in (*rows, *block.lines)), ""])


def _markdown(block: Block) -> str:
    lines = [f"### {block.title}", ""]
    if block.rows:
        header, *rows = ([cell.replace("|", "\\|") for cell in row] for row in block.rows)
        lines += [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]
        lines.append("")
    lines += [f"  - {line.strip()}" if line[0] == " " else f"- {line}" for line in block.lines]
    return "\n".join([*lines, *([""] if block.lines else [])])
