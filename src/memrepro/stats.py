"""Intervals, clustered bootstrap and paired tests; every random draw takes a generator.

No items is an error here, never a 0: what nothing was measured on has no value.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special  # not scipy.stats, which takes a second to load

from memrepro.errors import InputError

# How many numbers of a resampling are held in memory at a time.
_BLOCK = 1 << 21


class Interval(NamedTuple):
    """From `low` to `high`."""

    low: float
    high: float


class Resampled(NamedTuple):
    """A mean's percentile interval, and the two-sided p of its being 0."""

    interval: Interval
    p: float


class Units(NamedTuple):
    """What is drawn with replacement: a unit's sum of values and its count of items."""

    sums: NDArray[np.float64]
    counts: NDArray[np.float64]


def wilson(successes: int, items: int, *, alpha: float = 0.05) -> Interval:
    """The score interval of a proportion (Wilson 1927; method 3 of Newcombe 1998).

    Raises:
        InputError: no items, or more successes than items.
    """
    _check_items(items)
    if not 0 <= successes <= items:
        raise InputError("not a number of successes", expected=f"0 to {items}", found=successes)
    z = -float(special.ndtri(alpha / 2))
    share = successes / items
    middle = share + z * z / (2 * items)
    half = z * math.sqrt(share * (1 - share) / items + z * z / (4 * items * items))
    scale = 1 + z * z / items
    return Interval(
        0.0 if successes == 0 else (middle - half) / scale,
        1.0 if successes == items else (middle + half) / scale,
    )


def mcnemar(won: int, lost: int) -> float:
    """Two-sided exact p of McNemar's test: a sign test of the pairs that differ (McNemar 1947).

    Args:
        won: pairs that went from 0 to 1.
        lost: pairs that went from 1 to 0.
    """
    if won == lost:
        return 1.0
    return min(1.0, 2 * float(special.bdtr(min(won, lost), won + lost, 0.5)))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p of each member of a family (Holm 1979), in the family's order."""
    ordered = sorted(p_values, key=lambda name: p_values[name])
    adjusted: dict[str, float] = {}
    highest = 0.0
    for place, name in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - place) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def smallest_flips(alpha: float, family: int = 1) -> int:
    """The fewest pairs that, all differing one way, exact McNemar finds significant.

    The smallest k with 2 · 0.5^k ≤ alpha / family: the first rank of Holm's in that family.
    """
    if not 0 < alpha < 1 or family < 1:
        raise InputError("not a level of significance", found=f"alpha {alpha}, family {family}")
    flips = 1
    while mcnemar(0, flips) > alpha / family:
        flips += 1
    return flips


def smallest_difference(items: int, alpha: float, family: int = 1) -> float | None:
    """The smallest difference of proportions that so many pairs could show; None: not any.

    Raises:
        InputError: no items.
    """
    _check_items(items)
    flips = smallest_flips(alpha, family)
    return flips / items if flips <= items else None


def units(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> Units:
    """Each value as a unit of its own, or those of one cluster as one unit, by first appearance.

    Raises:
        InputError: no items.
    """
    _check_items(len(values))
    if clusters is None:
        return Units(np.asarray(values, dtype=np.float64), np.ones(len(values)))
    by_cluster: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        by_cluster.setdefault(cluster, []).append(value)
    return Units(
        np.array([math.fsum(group) for group in by_cluster.values()]),
        np.array([float(len(group)) for group in by_cluster.values()]),
    )


def bootstrap(
    drawn: Units,
    *,
    alpha: float,
    resamples: int,
    generator: np.random.Generator,
    mean_of_means: bool = False,
    times: ArrayLike | None = None,
) -> Resampled | None:
    """Percentile bootstrap of a mean over units (Efron & Tibshirani 1993, ch. 13; p: 15.4, 16.4).

    The mean of paired differences makes it the paired bootstrap; a unit that is a cluster of items
    makes it the clustered one (Davison & Hinkley 1997, 3.8). A single unit says nothing about how
    others would vary: None.

    Args:
        drawn: the units.
        alpha: one minus the interval's coverage.
        resamples: how many.
        generator: draws them.
        mean_of_means: average the units' own means, not all items.
        times: how often each row of `drawn` stands for an equal unit; once if not given.

    Raises:
        InputError: no units.
    """
    weights = np.ones(len(drawn.counts)) if times is None else np.asarray(times)
    size = int(weights.sum())
    _check_items(size)
    if size == 1:
        return None
    sums, counts = drawn
    if mean_of_means:
        sums, counts = sums / counts, np.ones_like(counts)
    means = np.empty(resamples)
    step = max(1, _BLOCK // len(weights))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        picked = generator.multinomial(size, weights / size, size=rows)
        means[start : start + rows] = (picked @ sums) / (picked @ counts)
    low, high = np.quantile(means, (alpha / 2, 1 - alpha / 2))
    side = min(int((means <= 0).sum()), int((means >= 0).sum()))
    return Resampled(Interval(float(low), float(high)), min(1.0, 2 * (side + 1) / (resamples + 1)))


def _check_items(items: int) -> None:
    if items < 1:
        raise InputError("no items: nothing was measured", expected="1 or more", found=items)
