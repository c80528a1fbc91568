"""DuckDB: typed tables from stage outputs, and every metric as a SQL file over them.

The SQL files under `sql/<benchmark>/`, with the macros beside them, are the metrics' only
definition. Each returns, by system,
`n_total`, `n_scored`, and `value` (null unless everything was scored), `low` and `high` (each
failure counted as 0, as 1).
"""

from collections.abc import Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import duckdb

from memrepro.errors import InputError
from memrepro.records import InMindScore
from memrepro.store.rows import load_jsonl

_SUFFIXES = ("_low", "_high", "_n_scored", "_n_total")


def metric_name(key: str) -> str:
    """The metric that a key of a metrics file belongs to: `x_low` belongs to `x`."""
    for suffix in _SUFFIXES:
        key = key.removesuffix(suffix)
    return key


def connect() -> duckdb.DuckDBPyConnection:
    """An in-memory database with the shared macros, and one thread, so that sums have one order."""
    connection = duckdb.connect(config={"threads": 1})
    # A query of two seconds would draw a bar on standard output, whatever that is.
    connection.execute("SET enable_progress_bar = false")
    connection.execute(statements("", "share"))
    return connection


def _sql() -> Traversable:
    return resources.files("memrepro.store") / "sql"


def statements(folder: str, name: str) -> str:
    """The text of a file of SQL statements."""
    return (_sql() / folder / f"{name}.sql").read_text(encoding="utf-8")


def query(connection: duckdb.DuckDBPyConnection, benchmark: str, name: str) -> list[dict[str, Any]]:
    """Run one metric's SQL file; rows as dicts.

    Raises:
        InputError: no such metric.
    """
    file = _sql() / benchmark / f"{name}.sql"
    if not file.is_file():
        raise InputError(f"no metric {name!r} in {benchmark}", expected=", ".join(names(benchmark)))
    cursor = connection.execute(file.read_text(encoding="utf-8"))
    columns = [column[0] for column in cursor.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


def names(benchmark: str) -> list[str]:
    """The metrics of a benchmark: the names of its SQL files."""
    return sorted(entry.name.removesuffix(".sql") for entry in (_sql() / benchmark).iterdir())


def load_inmind(connection: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> None:
    """Add InMind's score rows to a database as the table `inmind_score`.

    Raises:
        InputError: a file is missing or a row does not fit.
    """
    load_jsonl(connection, "inmind_score", files, InMindScore)


def inmind_metrics(files: Sequence[Path]) -> dict[str, dict[str, float | int]]:
    """InMind's metrics by system, from score files.

    A metric with an unscored item is replaced by its `_low` and `_high`, with `_n_scored` and
    `_n_total` beside them.
    """
    metrics: dict[str, dict[str, float | int]] = {}
    with connect() as connection:
        load_inmind(connection, files)
        for name in names("inmind"):
            for row in query(connection, "inmind", name):
                metrics.setdefault(row["system"], {}).update(metric_entries(name, row))
    return {system: dict(sorted(metrics[system].items())) for system in sorted(metrics)}


def inmind_raised_caps(files: Sequence[Path]) -> dict[tuple[str, str], int]:
    """How many scores, by system and metric, rest on a reply under a raised token cap."""
    with connect() as connection:
        load_inmind(connection, files)
        found = query(connection, "inmind_items", "raised_caps")
    return {(row["system"], row["metric"]): row["n"] for row in found}


def inmind_diagnosis(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Where each task's fact was lost: rows of system, task_id and diagnosis."""
    with connect() as connection:
        load_inmind(connection, files)
        return query(connection, "inmind_items", "diagnosis")


def metric_entries(name: str, row: dict[str, Any]) -> dict[str, float | int]:
    """A metric's entries in the metrics file: its value, or what replaces it while failures stand.

    Those are `_low` and `_high`, with `_n_scored` and `_n_total` beside them.
    """
    if row["value"] is not None:
        return {name: row["value"]}
    return {f"{name}{suffix}": row[suffix.removeprefix("_")] for suffix in _SUFFIXES}
