"""The conformance suite finds what it is there to find: each planted fault fails its check."""

from concurrent.futures import Executor
from functools import partial

import pytest

from memrepro.memory.base import MemorySystem
from memrepro.memory.conformance import failures
from memrepro.memory.full_context import FullContext
from tests.memory import fakes

PLANTED: list[tuple[type[MemorySystem], str]] = [
    (fakes.RecallKeepsQuery, "check_recall_purity"),
    (fakes.RecallPromotes, "check_recall_purity"),
    (fakes.ForkSharesHistory, "check_fork_independence"),
    (fakes.ForkSharesCache, "check_fork_independence"),
    (fakes.ConstantDigest, "check_digest"),
    (fakes.DigestOfLength, "check_digest"),
    (fakes.RanksByHash, "check_other_process"),
    (fakes.RanksByPid, "check_other_process"),
    (fakes.CountsInstances, "check_order_of_work"),
]


@pytest.mark.parametrize(
    ("system", "check"), PLANTED, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_planted_fault_is_found(system: type[MemorySystem], check: str, pool: Executor) -> None:
    assert check in failures(partial(fakes.plant, system), pool)


def test_the_system_they_are_made_from_passes(pool: Executor) -> None:
    assert failures(partial(fakes.plant, FullContext), pool) == {}
