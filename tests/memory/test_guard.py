"""A guard keeps the protocol of the system that it is wrapped round."""

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial

import pytest

from memrepro.memory.base import MemorySystem
from memrepro.memory.conformance import CHECKS, PROCESS_CHECKS, Factory
from memrepro.memory.guard import Guard
from memrepro.policy import Governance
from tests.memory import fakes

PETS = "No pets."
NONE = Governance("none")
# It stands in none of the suite's sentences: a turn that is blocked cannot change a digest.
NO_PETS = Governance("deterministic", rules={PETS: ("cat", "dog")})
WRAPPED = ("bm25", "dense_int8", "exact", "sqlite_fts")


def make(system: str, governance: Governance, statement: str | None) -> MemorySystem:
    """A guard round an empty system."""
    create = partial(fakes.make, system)
    guard = Guard(fakes.RESOURCES, create=create, governance=governance)
    guard.set_policy(statement)
    return guard


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("governance", "statement"), [(NONE, None), (NO_PETS, PETS)])
@pytest.mark.parametrize("system", WRAPPED)
def test_conformance(
    system: str,
    governance: Governance,
    statement: str | None,
    check: Callable[[Factory], None],
) -> None:
    check(partial(make, system, governance, statement))


@pytest.mark.parametrize("check", PROCESS_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("system", WRAPPED)
def test_conformance_across_processes(
    system: str, check: Callable[[Factory, Executor], None], pool: Executor
) -> None:
    check(partial(make, system, NO_PETS, PETS), pool)
