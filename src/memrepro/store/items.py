"""The items of two runs side by side: what each metric rests on, joined in the database."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memrepro.store import connect, load_inmind, query, statements
from memrepro.store.cimemories_runs import load_run
from memrepro.store.retention import load_retention


class ItemFiles(NamedTuple):
    """A run's files that hold one benchmark's items.

    Args:
        scores: a score file a system.
        labels: CIMemories' labels that score.
        about: CIMemories' contexts and attributes, where they are at hand: with them the released
            code's reading has items too.
    """

    scores: Sequence[Path]
    labels: Path | None = None
    about: tuple[Path, Path] | None = None


class Unit(NamedTuple):
    """Equal units of a bootstrap: total difference and items of each, and how many they are."""

    total: float
    items: int
    times: int


class ItemPairs(NamedTuple):
    """One metric's items of two runs, paired by id.

    Args:
        place: of the metric in the metrics file, below its benchmark, apart by slashes.
        paired: items that are scored on both sides.
        only_a: items that the second run does not have; `only_b` likewise.
        open_a: items of both that failures of the first leave open; `open_b` likewise.
        rose: ids of the paired items whose score grew.
        fell: ids of those whose score shrank.
        units: of the bootstrap of the paired differences.
        clustered: whether those are clusters of items.
    """

    place: str
    paired: int
    only_a: int
    only_b: int
    open_a: int
    open_b: int
    rose: list[str]
    fell: list[str]
    units: list[Unit]
    clustered: bool


def pair_items(benchmark: str, a: ItemFiles, b: ItemFiles) -> dict[str, ItemPairs]:
    """Every metric's items of two runs, by the metric's place.

    Raises:
        InputError: a file is missing or a row does not fit.
    """
    with connect() as connection:
        for side, files in (("side_a", a), ("side_b", b)):
            connection.execute(f"CREATE SCHEMA {side}; SET search_path = '{side},main'")
            load_items(connection, benchmark, files)
        connection.execute("RESET search_path")
        connection.execute(statements("item_rows", "pairs"))
        units: dict[str, list[tuple[str | None, Unit]]] = {}
        for row in query(connection, "items", "units"):
            unit = Unit(row["total"], row["items"], row["times"])
            units.setdefault(row["place"], []).append((row["cluster"], unit))
        return {
            row["place"]: _pairs(row, units.get(row["place"], []))
            for row in query(connection, "items", "summary")
        }


def load_items(connection: Any, benchmark: str, files: ItemFiles) -> None:
    """Add a run's items to a database: the relation `item` of place, item, cluster and score.

    Raises:
        InputError: a file is missing or a row does not fit.
    """
    if files.scores:
        _LOADERS[benchmark](connection, files)
    else:
        connection.execute(statements("item_rows", "none"))


def _pairs(row: Mapping[str, Any], units: list[tuple[str | None, Unit]]) -> ItemPairs:
    return ItemPairs(
        **row,
        units=[unit for _, unit in units],
        clustered=any(cluster is not None for cluster, _ in units),
    )


def _inmind(connection: Any, files: ItemFiles) -> None:
    load_inmind(connection, files.scores)
    connection.execute(statements("item_rows", "inmind"))


def _cimemories(connection: Any, files: ItemFiles) -> None:
    load_run(connection, files.scores, files.labels or (), files.about)
    connection.execute("SET VARIABLE named = $named", {"named": files.about is not None})
    connection.execute(statements("item_rows", "cimemories"))


def _retention(connection: Any, files: ItemFiles) -> None:
    load_retention(connection, files.scores)
    connection.execute(statements("item_rows", "retention"))


# How each benchmark's score rows become the relation `item`: place, item, cluster, score.
_LOADERS: dict[str, Callable[[Any, ItemFiles], None]] = {
    "inmind": _inmind,
    "cimemories": _cimemories,
    "retention": _retention,
}
BENCHMARKS = tuple(_LOADERS)
