"""The items behind a metric of two sides: who won and lost, and what the difference amounts to."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from memrepro.compare.measures import MEAN_OF_MEANS, direction, is_binary
from memrepro.digest import seed_of
from memrepro.params import Diff
from memrepro.stats import (
    Interval,
    Resampled,
    Units,
    bootstrap,
    holm,
    mcnemar,
    smallest_difference,
    smallest_flips,
)
from memrepro.store.items import ItemPairs

Test = Literal["exact McNemar", "paired bootstrap"]


@dataclass(frozen=True)
class Items:
    """One metric's paired items.

    Args:
        pairs: items scored on both sides.
        clusters: how many clusters those come in; None where each stands for itself.
        only_a: items that the second side does not have; `only_b` likewise.
        open_a: items that failures of the first side leave open; `open_b` likewise.
        won: ids of the items that got better (higher where neither way is better).
        lost: ids of those that got worse.
        difference: the metric over the pairs alone, second side less first; None without pairs.
        interval: its percentile bootstrap interval, clustered where items come in clusters; None
            for a single item or cluster.
        test: the paired test that `p` is of.
        p: two-sided; None without pairs.
        p_holm: adjusted over the family; None outside of it.
        flips_needed: the fewest items that, all flipping one way, the test would find significant
            at the first rank of the family; None where items are not yes or no.
        smallest_difference: that as a difference; None where even all pairs are too few.
    """

    pairs: int
    clusters: int | None
    only_a: int
    only_b: int
    open_a: int
    open_b: int
    won: tuple[str, ...]
    lost: tuple[str, ...]
    difference: float | None
    interval: Interval | None
    test: Test
    p: float | None
    p_holm: float | None = None
    flips_needed: int | None = None
    smallest_difference: float | None = None

    @property
    def flips(self) -> tuple[str, ...]:
        """Ids of the items that got better or worse."""
        return self.won + self.lost


def summarize(path: str, found: ItemPairs, settings: Diff) -> Items:
    """One metric's items; the draws are seeded by the params and the metric's path."""
    metric = path.rpartition("/")[2]
    moved = (tuple(found.rose), tuple(found.fell))
    won, lost = reversed(moved) if direction(metric) < 0 else moved
    drawn = _resample(path, found, settings) if found.paired else None
    binary = is_binary(metric)
    if not found.paired:
        p = None
    elif binary:
        p = mcnemar(len(won), len(lost))
    else:
        p = drawn.p if drawn else None
    return Items(
        pairs=found.paired,
        clusters=len(found.units) if found.clustered else None,
        only_a=found.only_a,
        only_b=found.only_b,
        open_a=found.open_a,
        open_b=found.open_b,
        won=won,
        lost=lost,
        difference=_difference(path, found) if found.paired else None,
        interval=drawn.interval if drawn else None,
        test="exact McNemar" if binary else "paired bootstrap",
        p=p,
    )


def _mean_of_means(path: str, found: ItemPairs) -> bool:
    return found.clustered and path.startswith(MEAN_OF_MEANS)


def _difference(path: str, found: ItemPairs) -> float:
    if _mean_of_means(path, found):
        return sum(unit.total / unit.items for unit in found.units) / len(found.units)
    return sum(unit.total * unit.times for unit in found.units) / found.paired


def _resample(path: str, found: ItemPairs, settings: Diff) -> Resampled | None:
    if not found.rose and not found.fell and sum(unit.times for unit in found.units) > 1:
        return Resampled(Interval(0.0, 0.0), 1.0)  # every resample is 0
    sums, counts, times = (
        np.array(column, dtype=float) for column in zip(*found.units, strict=True)
    )
    return bootstrap(
        Units(sums, counts),
        times=times,
        alpha=settings.alpha,
        resamples=settings.resamples,
        generator=np.random.default_rng(seed_of(settings.seed, path)),
        mean_of_means=_mean_of_means(path, found),
    )


def adjust(items: Mapping[str, Items], family: list[str], settings: Diff) -> dict[str, Items]:
    """Add to every metric's items what the family decides: adjusted p, and the smallest difference.

    Outside the family the smallest difference is that of a test for itself alone.

    Args:
        items: by path.
        family: paths of its members; those without a p do not count.
        settings: for alpha.
    """
    p_values = {path: p for path in family if path in items and (p := items[path].p) is not None}
    adjusted = holm(p_values)
    return {path: _adjusted(path, one, adjusted, settings.alpha) for path, one in items.items()}


def _adjusted(path: str, one: Items, adjusted: Mapping[str, float], alpha: float) -> Items:
    size = len(adjusted) if path in adjusted else 1
    binary = one.pairs and one.test == "exact McNemar"
    return replace(
        one,
        p_holm=adjusted.get(path),
        flips_needed=smallest_flips(alpha, size) if binary else None,
        smallest_difference=smallest_difference(one.pairs, alpha, size) if binary else None,
    )
