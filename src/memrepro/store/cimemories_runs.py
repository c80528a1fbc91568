"""CIMemories in the store: the stage outputs of a run as typed rows, its metrics and tables."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from memrepro.records import (
    CIMemoriesAttribute,
    CIMemoriesContext,
    CIMemoriesLabels,
    CIMemoriesScore,
)
from memrepro.store import connect, metric_entries, query, statements
from memrepro.store.cimemories import READINGS, SQL, define_readings, fill
from memrepro.store.columns import columns
from memrepro.store.rows import load_jsonl

_ORDER = {"draw": "INTEGER", "profile": "INTEGER", "place": "INTEGER", "turn": "INTEGER"}

SCORED_TABLES = ("accumulation", "runs", "domain", "recipient", "prompt_level", "frontier")


class Run(NamedTuple):
    """The files of a run: a score file a system, and what the scores are about."""

    scores: Sequence[Path]
    contexts: Path
    attributes: Path


# Labels of contexts as (profile, place, letters), the letters as in the labels' records.
Labels = Sequence[tuple[int, int, str]]
# Orders of tasks as (draw, profile, place, turn).
Orders = Sequence[tuple[int, int, int, int]]


@contextmanager
def _opened(run: Run, labels: Path | Labels, composition: str = "full") -> Iterator[Any]:
    """A database with the run's rows of one composition, in both readings."""
    with connect() as connection:
        load_run(connection, run.scores, labels, (run.contexts, run.attributes), composition)
        yield connection


def load_run(
    connection: Any,
    scores: Sequence[Path],
    labels: Path | Labels,
    about: tuple[Path, Path] | None,
    composition: str = "full",
) -> None:
    """Add a run's rows of one composition to a database, in both readings.

    Args:
        connection: the database.
        scores: a score file a system.
        labels: those that score.
        about: contexts and attributes. Without them numbers stand for their names, as in the score
            rows: enough for the paper's reading, and wrong for the released code's.
        composition: which.

    Raises:
        InputError: a file is missing or a row does not fit.
    """
    load_jsonl(connection, "stage_score", scores, CIMemoriesScore)
    if isinstance(labels, Path):
        load_jsonl(connection, "stage_label", [labels], CIMemoriesLabels)
    else:
        fill(connection, "stage_label", columns(CIMemoriesLabels), labels)
    if about is None:
        connection.execute(statements(SQL, "numbered"))
    else:
        load_jsonl(connection, "stage_context", [about[0]], CIMemoriesContext)
        load_jsonl(connection, "stage_attribute", [about[1]], CIMemoriesAttribute)
    connection.execute("SET VARIABLE composition = $name", {"name": composition})
    connection.execute(statements(SQL, "runs"))
    define_readings(connection)


def cimemories_metrics(
    run: Run, labels: Path | Labels
) -> dict[str, dict[str, dict[str, float | int]]]:
    """CIMemories' metrics by system and reading.

    `violation` and `completeness` are the deterministic composer's and judge's; those of a model
    carry its prompt level, as in `violation_model_level_1`. With each stands its sample standard
    deviation over profiles where there are two. What failures leave open is replaced by its bounds
    (see `metric_entries`).
    """
    metrics: dict[str, dict[str, dict[str, float | int]]] = {}
    with _opened(run, labels) as connection:
        for reading in READINGS:
            suffix = reading.replace("-", "_")
            counts = query(connection, "cimemories_items", f"contexts_{suffix}")[0]
            for metric in ("violation", "completeness"):
                for row in query(connection, "cimemories", f"{metric}_{suffix}"):
                    name = metric_of(metric, row["judge"], row["prompt_level"])
                    entries = metrics.setdefault(row["system"], {}).setdefault(
                        reading, dict(counts)
                    )
                    entries.update(metric_entries(name, row))
                    if row["std"] is not None:
                        entries[f"{name}_std"] = row["std"]
    return {
        system: {reading: dict(sorted(found.items())) for reading, found in readings.items()}
        for system, readings in sorted(metrics.items())
    }


def metric_of(metric: str, judge: str, level: int) -> str:
    """A metric's name for a judge and prompt level."""
    return metric if judge == "verbatim" else f"{metric}_model_level_{level}"


def metric_judge(name: str) -> tuple[str, int]:
    """The judge and prompt level that a metric's name stands for."""
    _, _, level = name.partition("_model_level_")
    return ("model", int(level.removesuffix("_std"))) if level else ("verbatim", 0)


def cimemories_raised_caps(scores: Sequence[Path]) -> dict[tuple[str, str, int], int]:
    """How many scores, by system, judge and prompt level, rest on a reply under a raised cap."""
    with connect() as connection:
        load_jsonl(connection, "stage_score", scores, CIMemoriesScore)
        found = query(connection, "cimemories_items", "raised_caps")
    return {(row["system"], row["judge"], row["prompt_level"]): row["n"] for row in found}


def cimemories_tables(
    run: Run, labels: Path | Labels, orders: Orders
) -> dict[str, list[dict[str, Any]]]:
    """What is asked of the scores beside the metrics, by table.

    Args:
        run: its files.
        labels: those that score.
        orders: drawn orders of the tasks of each profile, for the accumulation.
    """
    with _opened(run, labels) as connection:
        fill(connection, "cimemories_order", _ORDER, orders)
        tables = {name: query(connection, "cimemories_tables", name) for name in SCORED_TABLES}
        compositions = query(connection, "cimemories_items", "compositions")
    tables["composition"] = [
        row for one in compositions for row in _composition(run, labels, one["composition"])
    ]
    return tables


def _composition(run: Run, labels: Path | Labels, composition: str) -> Iterator[dict[str, Any]]:
    with _opened(run, labels, composition) as connection:
        for row in query(connection, "cimemories_tables", "frontier"):
            row.pop("on_frontier")
            yield {"composition": composition, **row}


def label_tables(
    contexts: Path, sources: Mapping[str, Path | Labels]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Of each labelled set the paper's Table 2, and the contexts that are discarded."""
    with connect() as connection:
        load_jsonl(connection, "stage_context", [contexts], CIMemoriesContext)
        connection.execute(
            "CREATE TABLE stage_label (source VARCHAR, profile INTEGER, place INTEGER, "
            "labels VARCHAR)"
        )
        for number, (name, labels) in enumerate(sources.items()):
            part = f"part_{number}"
            if isinstance(labels, Path):
                load_jsonl(connection, part, [labels], CIMemoriesLabels)
            else:
                fill(connection, part, columns(CIMemoriesLabels), labels)
            connection.execute(
                f"INSERT INTO stage_label SELECT $source, * FROM {part}", {"source": name}
            )
        return (
            query(connection, "cimemories_tables", "labels"),
            query(connection, "cimemories_tables", "discarded"),
        )
