"""Every registered system keeps the protocol of memory.base."""

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

import pytest

from memrepro import memory
from memrepro.memory import conformance
from memrepro.memory.base import MemorySystem, Resources
from memrepro.memory.conformance import CHECKS, PROCESS_CHECKS, Factory
from memrepro.memory.embedding import Embedder, by_name
from tests.memory import fakes

# mem0 needs its library: test_mem0 runs the suite on it.
NAMES = sorted(set(memory.SYSTEMS) - {"mem0"})


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_conformance(name: str, check: Callable[[Factory], None]) -> None:
    check(partial(fakes.make, name))


@pytest.mark.parametrize("check", PROCESS_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_conformance_across_processes(
    name: str, check: Callable[[Factory, Executor], None], pool: Executor
) -> None:
    check(partial(fakes.make, name), pool)


def _real(name: str, embedder: Embedder) -> MemorySystem:
    return memory.create(name, {}, Resources(Path("unused"), by_name({"minilm_int8": embedder})))


@pytest.mark.full
@pytest.mark.dense
@pytest.mark.parametrize("name", ["dense_int8", "hybrid"])
def test_conformance_with_the_real_embedder(name: str, embedder: Embedder, pool: Executor) -> None:
    embedder.prepare([turn.text for s in conformance.sample_sessions() for turn in s.turns])
    assert conformance.failures(partial(_real, name, embedder), pool) == {}
