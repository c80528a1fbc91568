"""The retention benchmark in the store: metrics and tables from its score rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memrepro.records import RetentionScore
from memrepro.store import connect, metric_entries, names, query, statements
from memrepro.store.rows import load_jsonl

# edition → system → mode → metric → value
Metrics = dict[str, dict[str, dict[str, dict[str, float | int]]]]


def retention_metrics(files: Sequence[Path]) -> Metrics:
    """The metrics by edition, system and mode, from score files.

    A metric with an unscored item is replaced by its `_low` and `_high`, with `_n_scored` and
    `_n_total` beside them. The edition `policy_change` has a forgetting rate in place of a leak
    rate.

    Raises:
        InputError: a file is missing or a row does not fit.
    """
    metrics: Metrics = {}
    with connect() as connection:
        load_retention(connection, files)
        for name in names("retention"):
            for row in query(connection, "retention", name):
                by_system = metrics.setdefault(row["edition"], {})
                by_mode = by_system.setdefault(row["system"], {})
                by_mode.setdefault(row["mode"], {}).update(metric_entries(name, row))
    return {
        edition: {
            system: {mode: dict(sorted(of.items())) for mode, of in sorted(modes.items())}
            for system, modes in sorted(systems.items())
        }
        for edition, systems in sorted(metrics.items())
    }


def retention_table(files: Sequence[Path], name: str) -> list[dict[str, Any]]:
    """The rows of one table of `names("retention_items")`, e.g. the policy × category grid.

    Raises:
        InputError: no such table, a file is missing or a row does not fit.
    """
    with connect() as connection:
        load_retention(connection, files)
        return query(connection, "retention_items", name)


def load_retention(connection: Any, files: Sequence[Path]) -> None:
    """Create the table `retention_score` and the macros over it.

    Raises:
        InputError: a file is missing or a row does not fit.
    """
    connection.execute(statements("retention_rows", "share"))
    load_jsonl(connection, "retention_score", files, RetentionScore)
