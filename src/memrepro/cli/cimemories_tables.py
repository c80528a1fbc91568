"""`memrepro cimemories tables`: what a run's tables stage wrote, to read or as JSON."""

from pathlib import Path
from typing import Annotated, Any

import typer

from memrepro.cli.output import emit
from memrepro.cli.pipeline import dataset_of
from memrepro.cli.project import find_root
from memrepro.errors import InputError
from memrepro.files import dump_json, read_json
from memrepro.params import Dataset, load_params
from memrepro.stages.declarations.cimemories import table_path

_WHAT = {
    "frontier": "completeness against violation, by system",
    "accumulation": "violation after each task, and the hazard of each",
    "runs": "Violation@n for each n",
    "domain": "what is told, by information domain",
    "recipient": "what is told, by recipient",
    "prompt_level": "violation and completeness by prompt level",
    "composition": "violation and completeness by what is in memory",
    "labels": "each labelled set: the paper's Table 2",
    "discarded": "contexts with nothing to share or nothing to withhold",
    "sensitivity": "labels and scores under other priors, and under majority",
}


def tables(
    name: Annotated[str | None, typer.Argument(help="A table; without it, what there are.")] = None,
    dataset: Annotated[str, typer.Option("--dataset", help="sample or full.")] = "full",
    system: Annotated[str | None, typer.Option("--system", help="Its rows alone.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list.")] = False,
) -> None:
    """Show a table of a run: accumulation, domains, recipients, frontier, labels and more."""
    if name is None:
        emit("".join(f"{one:13} {what}\n" for one, what in _WHAT.items()), None)
        return
    if name not in _WHAT:
        raise InputError(f"no table {name!r}", expected=", ".join(_WHAT))
    rows = _read(find_root(), dataset_of(dataset), name)
    if system is not None:
        rows = [row for row in rows if row.get("system") == system]
    if as_json:
        emit(dump_json(rows), None)
        return
    _print([_flat(row) for row in rows])


def _read(root: Path, dataset: Dataset, name: str) -> list[dict[str, Any]]:
    path = root / table_path(load_params(root, dataset), name)
    rows: list[dict[str, Any]] = read_json(path, hint=f"make repro DATASET={dataset}")
    return rows


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row without its nested scores: violation and completeness of each system beside it."""
    flat = {key: value for key, value in row.items() if key != "scores"}
    for system, metrics in row.get("scores", {}).items():
        for metric in ("violation", "completeness"):
            if metric in metrics:
                flat[f"{system} {metric}"] = metrics[metric]
    return flat


def _print(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = Table(*(column.replace("_", " ") for column in columns), box=None)
    for row in rows:
        table.add_row(*(_shown(row.get(column)) for column in columns))
    Console(width=160).print(table if rows else "no rows")


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
