"""The retention benchmark's cells, in seconds, and how `exact` grows; `make bench` prints both."""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from memrepro.benchmarks.retention.run import Setting, run_policy
from memrepro.records import RetentionRow
from tests.retention.corpus import NONE, POLICIES, ROWS, WORD, guarded, scores

SIZES = (1_000, 10_000, 100_000)


def seconds(function: Callable[[], Any], rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return min(taken)


def both_systems_in_both_modes() -> int:
    return sum(
        len(scores(guarded(governance, system=system), governance=governance, system=system))
        for system in ("exact", "bm25")
        for governance in (NONE, WORD)
    )


def test_cells_of_exact_and_bm25(benchmark: Any) -> None:
    """Wanted: at most 3 s for 1,152 cells of two systems in two modes, start-up left out."""
    both_systems_in_both_modes()  # what is loaded once
    cells = benchmark.pedantic(both_systems_in_both_modes, rounds=3)
    assert cells == 4 * len(ROWS)
    taken = benchmark.stats.stats.min
    print(f"\nretention, exact and bm25, none and deterministic: {cells} cells in {taken:.2f} s")
    assert taken <= 3


def rows_of(size: int) -> list[RetentionRow]:
    """Permitted facts of one policy, each its own text."""
    policy = POLICIES[0]
    return [
        RetentionRow(
            id=f"{policy.id}/f{number}", policy_id=policy.id, policy=policy.statement,
            text=f"I once counted {number} gulls from the pier.", category="pet", expected="store",
        )
        for number in range(size)
    ]  # fmt: skip


@pytest.mark.slow
def test_exact_grows_linearly() -> None:
    """Wanted: ten times the facts, about ten times the time."""
    setting = Setting("standard", "deterministic", "exact", 5)
    taken = {}
    for size in SIZES:
        rows = rows_of(size)
        taken[size] = seconds(
            lambda rows=rows: run_policy(guarded(WORD)(), rows, setting), 3 if size < 1e5 else 1
        )
    for small, large in pairwise(SIZES):
        ratio = taken[large] / taken[small]
        print(
            f"\nretention, exact, {small} → {large} facts: "
            f"{taken[small]:.2f} → {taken[large]:.2f} s, {ratio:.1f} times"
        )
        assert ratio < 20
