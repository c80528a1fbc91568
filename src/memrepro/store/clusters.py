"""A run's items by cluster: what the interval of each metric is drawn from."""

from typing import NamedTuple

from memrepro.store import connect, query
from memrepro.store.items import ItemFiles, load_items


class Cluster(NamedTuple):
    """A metric's items of one person or policy; all of them where items come in no clusters.

    Args:
        cluster: its name; None for items without clusters.
        total: the sum of the scores.
        scored: how many items have a score.
        items: how many there are.
    """

    cluster: str | None
    total: float
    scored: int
    items: int


def clusters(benchmark: str, files: ItemFiles) -> dict[str, list[Cluster]]:
    """Every metric's clusters by the metric's place below its benchmark.

    Raises:
        InputError: a file is missing or a row does not fit.
    """
    found: dict[str, list[Cluster]] = {}
    with connect() as connection:
        load_items(connection, benchmark, files)
        for row in query(connection, "items", "clusters"):
            found.setdefault(row.pop("place"), []).append(Cluster(**row))
    return found
