"""What each metric counts as in a comparison: which way is better, and which are primary."""

from collections.abc import Callable, Iterable
from typing import Literal

Direction = Literal[-1, 0, 1]

# 1: higher is better, -1: lower is better, 0: neither. By the first that the metric begins with.
_DIRECTIONS: dict[str, Direction] = {
    "violation": -1,
    "leak_rate": -1,
    "unprompted_warning": -1,
    "naive_recall_verbatim_without_target": -1,  # what was never told cannot be recalled
    "target_recall_verbatim_without_target": -1,
    "contexts_": 0,
    "private_keys_excluded": 0,
}
# Means of what is no yes or no: McNemar's test is not for them.
_MEANS = ("completeness",)
# Benchmarks whose metrics are means over clusters, not over items.
MEAN_OF_MEANS = ("cimemories",)


def direction(metric: str) -> Direction:
    """Whether a higher value of a metric is better (1), worse (-1) or neither (0)."""
    if metric.endswith("_std"):
        return 0
    found = (way for name, way in _DIRECTIONS.items() if metric.startswith(name))
    return next(found, 1)


def is_binary(metric: str) -> bool:
    """Whether a metric's items are yes or no."""
    return not metric.startswith(_MEANS)


def primary(benchmark: str, places: Iterable[str]) -> list[str]:
    """The primary metric of each system of a benchmark: the family that Holm's correction is over.

    Args:
        benchmark: its name.
        places: the metrics that both sides have, below the benchmark, apart by slashes.
    """
    given = sorted(places)
    choose = _PRIMARY.get(benchmark)
    return [place for place in given if choose(place, given)] if choose else []


def _inmind(place: str, given: list[str]) -> bool:
    """Target recall as judged; word for word where no model judged."""
    system, _, metric = place.rpartition("/")
    return metric == "target_recall" or (
        metric == "target_recall_verbatim" and f"{system}/target_recall" not in given
    )


def _cimemories(place: str, given: list[str]) -> bool:
    """Violation of the deterministic composer in the paper's reading."""
    return place.endswith("/paper/violation")


def _retention(place: str, given: list[str]) -> bool:
    """Accuracy on the standard edition, of each system and mode."""
    return place.startswith("standard/") and place.endswith("/accuracy")


_PRIMARY: dict[str, Callable[[str, list[str]], bool]] = {
    "inmind": _inmind,
    "cimemories": _cimemories,
    "retention": _retention,
}
