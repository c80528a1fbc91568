"""Statistics against published tables, scipy, statsmodels and calculations by hand."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from memrepro.errors import InputError
from memrepro.stats import (
    Units,
    bootstrap,
    holm,
    mcnemar,
    smallest_difference,
    smallest_flips,
    units,
    wilson,
)


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


# Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3.
@pytest.mark.parametrize(
    ("successes", "items", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(successes: int, items: int, low: float, high: float) -> None:
    found = wilson(successes, items)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


# statsmodels 0.15.0, proportion_confint(successes, items, alpha, method="wilson").
@pytest.mark.parametrize(
    ("successes", "items", "alpha", "low", "high"),
    [
        (0, 10, 0.05, 0.0, 0.27753279986288926),
        (81, 263, 0.05, 0.2552885198782742, 0.36620957698280004),
        (15, 148, 0.05, 0.06238639953073628, 0.16048724172330803),
        (1, 29, 0.05, 0.006113214292762667, 0.17175521879320294),
        (125, 125, 0.05, 0.9701846062916737, 1.0),
        (20, 125, 0.01, 0.09306615619030052, 0.2612084154103386),
    ],
)
def test_wilson_as_statsmodels(
    successes: int, items: int, alpha: float, low: float, high: float
) -> None:
    assert wilson(successes, items, alpha=alpha) == pytest.approx((low, high), abs=1e-9)


@settings(deadline=None)
@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_as_scipy(counts: tuple[int, int]) -> None:
    expected = binomtest(*counts).proportion_ci(0.95, method="wilson")
    assert wilson(*counts) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_wilson_of_none_and_of_all_reaches_the_end_exactly() -> None:
    """Exact in the formula: at a share of 0, middle and half are the same; at 1, they add up."""
    for items in range(1, 200):
        assert wilson(0, items).low == 0.0
        assert wilson(items, items).high == 1.0


# statsmodels 0.15.0, mcnemar([[10, won], [lost, 10]], exact=True).pvalue.
# 150 and 86: the approval ratings of Agresti, Categorical Data Analysis, table 10.1.
@pytest.mark.parametrize(
    ("won", "lost", "p"),
    [
        (0, 0, 1.0),
        (0, 6, 0.03125),
        (1, 9, 0.021484375),
        (5, 3, 0.7265625),
        (12, 3, 0.03515625),
        (59, 6, 4.964650327128616e-12),
        (150, 86, 3.7159361395713866e-05),
        (20, 31, 0.16077960181198847),
    ],
)
def test_mcnemar_as_statsmodels(won: int, lost: int, p: float) -> None:
    assert mcnemar(won, lost) == pytest.approx(p, abs=1e-9, rel=1e-9)
    assert mcnemar(lost, won) == mcnemar(won, lost)


def test_mcnemar_by_hand() -> None:
    """1 of 10 pairs: 2 · (C(10,0) + C(10,1)) / 2^10 = 2 · 11 / 1024."""
    assert mcnemar(1, 9) == pytest.approx(22 / 1024, abs=1e-12)


def test_mcnemar_of_a_pair_more_on_one_side_is_1() -> None:
    """Of 2k + 1 pairs, k or fewer on one side is half of a symmetric distribution: 2 · 1/2."""
    for pairs in range(100):
        p = mcnemar(pairs, pairs + 1)
        assert p == pytest.approx(1.0, abs=1e-12)
        assert p <= 1.0


def test_holm_by_hand() -> None:
    """Four p: 4 · .005, 3 · .01, 2 · .03, then the larger of .06 and 1 · .04."""
    family = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}
    assert holm(family) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02}, abs=1e-12)
    assert list(holm(family)) == list(family)


def test_holm_as_statsmodels() -> None:
    """The fifteen p of Benjamini & Hochberg 1995, by multipletests(p, method="holm") of 0.15.0."""
    given = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
        0.5719, 0.6528, 0.7590, 1.0,
    ]  # fmt: skip
    adjusted = [0.0015, 0.0056, 0.0247, 0.114, 0.2211, 0.278, 0.278, 0.278, 0.3213] + [1.0] * 6
    family = {str(place): p for place, p in enumerate(given)}
    assert list(holm(family).values()) == pytest.approx(adjusted, abs=1e-9)
    assert holm({}) == {}


def test_smallest_difference_by_hand() -> None:
    """2 · 0.5^6 = 0.03125 ≤ 0.05 < 2 · 0.5^5; of seven systems 2 · 0.5^9 = 0.0039 ≤ 0.05 / 7."""
    assert smallest_flips(0.05) == 6
    assert smallest_flips(2 * 0.5**6) == 6  # at the level itself is significant
    assert smallest_flips(0.05, 7) == 9
    assert smallest_difference(125, 0.05) == 6 / 125
    assert smallest_difference(125, 0.05, 7) == 9 / 125
    assert smallest_difference(5, 0.05) is None
    assert smallest_difference(6, 0.05) == 1.0
    assert binomtest(0, 8, 0.5).pvalue > 0.05 / 7 >= binomtest(0, 9, 0.5).pvalue


def test_units_are_floats_and_each_value_has_its_cluster() -> None:
    """Two clusters, of 1 + 2 and of 4; a value without a cluster is an error, not left out."""
    apart = units([1, 2, 4])
    assert (apart.sums.tolist(), apart.counts.tolist()) == ([1, 2, 4], [1, 1, 1])
    together = units([1, 4, 2], ["p", "q", "p"])
    assert (together.sums.tolist(), together.counts.tolist()) == ([3, 4], [2, 1])
    for found in (apart, together):
        assert found.sums.dtype == found.counts.dtype == np.dtype("float64")
    with pytest.raises(ValueError, match="shorter"):
        units([1, 2], ["p"])


@pytest.mark.parametrize(("ones", "items"), [(20, 125), (63, 125), (110, 125), (7, 40)])
def test_bootstrap_of_a_proportion_is_binomial(ones: int, items: int) -> None:
    """A resample's number of ones is binomial (items, share): the percentiles are its quantiles."""
    values = [1.0] * ones + [0.0] * (items - ones)
    found = bootstrap(units(values), alpha=0.05, resamples=200_000, generator=generator())
    assert found is not None
    expected = [float(binom.ppf(q, items, ones / items)) / items for q in (0.025, 0.975)]
    assert found.interval == pytest.approx(expected, abs=1e-9)


def test_bootstrap_takes_equal_units_once() -> None:
    """3 of 5 ones, given each and given as two rows with how often: one distribution."""
    once = Units(np.array([0.0, 1.0]), np.ones(2))
    short = bootstrap(once, times=[2, 3], alpha=0.1, resamples=50_000, generator=generator())
    long = bootstrap(units([0, 0, 1, 1, 1]), alpha=0.1, resamples=50_000, generator=generator())
    assert short is not None and long is not None
    expected = [float(binom.ppf(q, 5, 0.6)) / 5 for q in (0.05, 0.95)]
    assert short.interval == pytest.approx(expected, abs=1e-9)
    assert long.interval == pytest.approx(expected, abs=1e-9)


def test_clustered_bootstrap_by_hand() -> None:
    """Clusters (1, 1, 1) and (0): drawn twice, 1, 0 or both, a quarter, a quarter and a half.

    Both together are 3 of 4 items, or a mean of means of 1/2.
    """
    drawn = units([1, 1, 1, 0], ["p", "p", "p", "q"])
    kwargs: dict[str, Any] = {"resamples": 10_000, "generator": generator()}
    pooled = bootstrap(drawn, alpha=0.6, **kwargs)
    apart = bootstrap(drawn, alpha=0.6, mean_of_means=True, **kwargs)
    wide = bootstrap(drawn, alpha=0.05, **kwargs)
    assert pooled is not None and apart is not None and wide is not None
    assert pooled.interval == pytest.approx((0.75, 0.75), abs=1e-9)
    assert apart.interval == pytest.approx((0.5, 0.5), abs=1e-9)
    assert wide.interval == (0.0, 1.0)


@pytest.mark.parametrize("block", [1, 6, 7, 1 << 21])
def test_every_resample_is_drawn_once_however_many_at_a_time(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three units, seven resamples: drawn one by one here, at most one, two or all at once there.

    Quantiles at a quarter and three quarters of seven means: their 2.5th and 5.5th in order.
    """
    monkeypatch.setattr("memrepro.stats._BLOCK", block)
    values, draw = [-0.5, 2.0, 3.0], generator()
    means = []
    for _ in range(7):
        picked = draw.multinomial(3, [1 / 3] * 3)
        means.append(sum(n * value for n, value in zip(picked, values, strict=True)) / 3)
    means.sort()
    used = generator()
    found = bootstrap(units(values), alpha=0.5, resamples=7, generator=used)
    assert found is not None
    quartiles = ((means[1] + means[2]) / 2, (means[4] + means[5]) / 2)
    assert found.interval == pytest.approx(quartiles, abs=1e-12)
    beyond = min(sum(mean <= 0 for mean in means), sum(mean >= 0 for mean in means))
    assert found.p == pytest.approx(2 * (beyond + 1) / 8)
    assert used.bit_generator.state == draw.bit_generator.state


def test_bootstrap_p_counts_the_resamples_beyond_zero() -> None:
    """All differences 1/2: none of 999 resamples is at or below 0, so p is 2 · 1 / 1000."""
    found = bootstrap(units([0.5] * 8), alpha=0.05, resamples=999, generator=generator())
    assert found is not None
    assert found.interval == (0.5, 0.5)
    assert math.isclose(found.p, 2 / 1000)
    level = bootstrap(units([-1, 1]), alpha=0.05, resamples=9_999, generator=generator())
    assert level is not None and level.p == 1.0


def test_bootstrap_is_seeded_and_one_cluster_has_no_interval() -> None:
    values = [float(value) for value in range(40)]
    found = [
        bootstrap(units(values), alpha=0.05, resamples=500, generator=generator()) for _ in range(2)
    ]
    assert found[0] == found[1]
    assert (
        bootstrap(units([1, 0], ["p", "p"]), alpha=0.05, resamples=9, generator=generator()) is None
    )


NO_ITEMS = "no items: nothing was measured\n  expected: 1 or more\n  found:    0"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: wilson(0, 0),
        lambda: smallest_difference(0, 0.05),
        lambda: units([]),
        lambda: bootstrap(
            Units(np.array([]), np.array([])), alpha=0.05, resamples=9, generator=generator()
        ),
    ],
)
def test_no_items_is_an_error(ask: Callable[[], Any]) -> None:
    with pytest.raises(InputError) as caught:
        ask()
    assert str(caught.value) == NO_ITEMS


@pytest.mark.parametrize("successes", [3, -1])
def test_an_impossible_number_of_successes_is_an_error(successes: int) -> None:
    with pytest.raises(InputError) as caught:
        wilson(successes, 2)
    assert str(caught.value) == (
        f"not a number of successes\n  expected: 0 to 2\n  found:    {successes}"
    )


@pytest.mark.parametrize(("alpha", "family"), [(0.0, 1), (1.0, 1), (0.05, 0)])
def test_an_impossible_level_of_significance_is_an_error(alpha: float, family: int) -> None:
    with pytest.raises(InputError) as caught:
        smallest_flips(alpha, family)
    assert str(caught.value) == (
        f"not a level of significance\n  found:    alpha {alpha}, family {family}"
    )
