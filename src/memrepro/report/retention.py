"""The retention benchmark's report in Markdown: rates, tables, the grid, and facts with reasons."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memrepro.files import read_records
from memrepro.records import RetentionScore
from memrepro.store.retention import retention_metrics, retention_table

TABLES = ("by_policy", "by_category", "by_blocked", "reasons", "grid", "undecided")
_RATES = ("accuracy", "leak_rate", "forgetting_rate", "allowed_rate", "policies_passed")
_HEAD = ("edition", "system", "mode", *(name.replace("_", " ") for name in _RATES), "undecided")


class Run(NamedTuple):
    """One edition, system and mode: its entries in the metrics file, its tables, its cells."""

    edition: str
    system: str
    mode: str
    entries: Mapping[str, float | int]
    tables: Mapping[str, list[dict[str, Any]]]
    scores: Sequence[RetentionScore]

    @property
    def title(self) -> str:
        """Its three names."""
        return f"{self.edition} · {self.system} · {self.mode}"


class Wording(NamedTuple):
    """What the ids stand for: facts' texts by edition and id, statements by policy id."""

    texts: Mapping[tuple[str, str], str]
    statements: Mapping[str, str]


def runs_of(
    files: Sequence[Path], edition: str | None, system: str | None, mode: str | None
) -> list[Run]:
    """The runs in score files that have the names asked for; None stands for all.

    Raises:
        InputError: a file is missing or a row does not fit.
    """
    wanted = (edition, system, mode)
    scores: dict[tuple[str, ...], list[RetentionScore]] = {}
    for file in files:
        for row in read_records(file, RetentionScore, hint="dvc repro"):
            scores.setdefault((row.edition, row.system, row.mode), []).append(row)
    tables = {name: retention_table(files, name) for name in TABLES}
    return [
        Run(
            *place,
            entries,
            {name: [row for row in rows if _place(row) == place] for name, rows in tables.items()},
            scores[place],
        )
        for place, entries in _metrics(files)
        if all(name in (None, found) for name, found in zip(wanted, place, strict=True))
    ]


def _metrics(files: Sequence[Path]) -> Iterator[tuple[tuple[str, str, str], dict[str, Any]]]:
    for edition, systems in retention_metrics(files).items():
        for system, modes in systems.items():
            for mode, entries in modes.items():
                yield (edition, system, mode), entries


def _place(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["edition"], row["system"], row["mode"]


def rollup(runs: Iterable[Run]) -> Iterator[tuple[str, ...]]:
    """A row a run, the head first: its rates.

    Where a cell has no score it is both bounds, and how many are scored.
    """
    yield _HEAD
    for run in runs:
        undecided = sum(row["n"] for row in run.tables["undecided"])
        rates = (_rate(run.entries, name) for name in _RATES)
        yield (run.edition, run.system, run.mode, *rates, str(undecided))


def _rate(entries: Mapping[str, float | int], name: str) -> str:
    if name in entries:
        return _number(entries[name])
    if f"{name}_low" not in entries:
        return "–"
    low, high = (_number(entries[f"{name}_{end}"]) for end in ("low", "high"))
    scored, total = (entries[f"{name}_n_{end}"] for end in ("scored", "total"))
    return f"{low}–{high} ({scored}/{total})"


def _number(value: float) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def markdown(
    runs: Sequence[Run], wording: Wording, *, max_examples: int, picture: str | None
) -> str:
    """The whole report.

    Args:
        runs: in the order in which they are told.
        wording: what ids stand for.
        max_examples: of how many policies of a run the facts are told one by one.
        picture: where the picture of the grids lies, relative to the report; None has none.
    """
    lines = ["# Retention policy", "", *_table(rollup(runs)), ""]
    if picture is not None:
        lines += [f"![Share of facts that passed, policy by category]({picture})", ""]
    for run in runs:
        lines += [f"## {run.title}", "", *_sections(run), *_examples(run, wording, max_examples)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _sections(run: Run) -> Iterator[str]:
    by = ("cells", "scored", "passed")
    prohibited = ("prohibited", "prohibited passed")
    numbers = ("n_total", "n_scored", "n_passed", "n_prohibited", "n_prohibited_passed")
    tables = run.tables
    yield from _section("By policy", ("policy", *by, *prohibited),
                        tables["by_policy"], ("policy_id", *numbers))  # fmt: skip
    yield from _section("By category", ("category", *by, *prohibited),
                        tables["by_category"], ("category", *numbers))  # fmt: skip
    yield from _section(
        "By what was blocked at ingest", ("expected", "blocked", *by, "recalled"),
        tables["by_blocked"], ("expected", "blocked", *numbers[:3], "n_recalled"),
    )  # fmt: skip
    if tables["reasons"]:
        yield from _section("Why cells did not pass", ("reason", "cells"),
                            tables["reasons"], ("reason", "n"))  # fmt: skip
    yield from ("### Facts that passed, policy by category", "", *_table(_grid(run)), "")


def _section(
    title: str, head: Sequence[str], rows: Iterable[Mapping[str, Any]], keys: Sequence[str]
) -> Iterator[str]:
    told = (tuple(_told(row[key]) for key in keys) for row in rows)
    yield from (f"### {title}", "", *_table([head, *told]), "")


def _told(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _grid(run: Run) -> Iterator[tuple[str, ...]]:
    """Passed of all a cell; what has no score follows behind a question mark."""
    cells = run.tables["grid"]
    categories = list(dict.fromkeys(row["category"] for row in cells))
    found = {(row["policy_id"], row["category"]): row for row in cells}
    yield ("policy", *categories)
    for policy in dict.fromkeys(row["policy_id"] for row in cells):
        yield (policy, *(_share(found[policy, category]) for category in categories))


def _share(row: Mapping[str, Any]) -> str:
    open_ = row["n_total"] - row["n_scored"]
    return f"{row['n_passed']}/{row['n_total']}" + (f" ?{open_}" if open_ else "")


def _examples(run: Run, wording: Wording, most: int) -> Iterator[str]:
    """The first policies' facts: the prohibited ones, and every one that did not pass."""
    policies = list(dict.fromkeys(row.policy_id for row in run.scores))[:most]
    for policy in policies:
        rows = [row for row in run.scores if row.policy_id == policy]
        shown = [row for row in rows if row.expected == "drop" or row.reason is not None]
        rest = len(rows) - len(shown)
        yield from (f"### {policy}: {_cell(wording.statements[policy])}", "")
        head = ("fact", "text", "expected", "blocked", "decided by", "recalled", "result")
        yield from _table([head, *(_fact(row, wording) for row in shown)])
        yield from ("", f"{rest} more facts, all permitted, were kept and recalled.", "")


def _fact(row: RetentionScore, wording: Wording) -> tuple[str, ...]:
    recalled = "?" if row.recalled is None else _told(bool(row.recalled))
    return (
        row.fact_id,
        _cell(wording.texts[row.edition, row.fact_id]),
        row.expected,
        _told(row.blocked),
        row.decided_by,
        recalled,
        row.reason or "passed",
    )


def _cell(text: str) -> str:
    """A text that stays within its cell."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table; the first row is its head."""
    head, *body = rows
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in body),
    ]
