"""mem0 for real: its own store and search, and no socket to anywhere but this host."""

import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from memrepro import memory
from memrepro.errors import InputError
from memrepro.memory.base import Resources
from memrepro.memory.conformance import CHECKS, PROCESS_CHECKS, Factory
from memrepro.memory.guard import Guard
from tests.memory import fakes
from tests.memory.fakes import RESOURCES, hash_embed, ids, session
from tests.retention.corpus import ROWS, WORD, scores

needs_mem0 = pytest.mark.mem0


@pytest.fixture
def addresses(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Every address that a socket is asked to connect to, or a name to be looked up for."""
    seen: list[Any] = []

    def watch(owner: Any, name: str, address: Callable[..., Any]) -> None:
        real = getattr(owner, name)

        def watched(*args: Any, **options: Any) -> Any:
            seen.append(address(*args))
            return real(*args, **options)

        monkeypatch.setattr(owner, name, watched)

    watch(socket.socket, "connect", lambda self, address: address)
    watch(socket.socket, "connect_ex", lambda self, address: address)
    watch(socket.socket, "sendto", lambda self, data, *rest: rest[-1])
    watch(socket, "getaddrinfo", lambda host, *rest: (host,))
    yield seen


def outside(seen: list[Any]) -> list[Any]:
    """The addresses that are not this host's own."""
    own = ("127.0.0.1", "::1", "localhost")
    return [one for one in seen if isinstance(one, tuple) and one[0] not in own]


@needs_mem0
def test_the_benchmark_runs_and_nothing_leaves_the_host(addresses: list[Any]) -> None:
    def create() -> Guard:
        return Guard(RESOURCES, create=partial(fakes.make, "mem0"), governance=WORD)

    rows = ROWS[:192]
    found = scores(create, rows, governance=WORD, system="mem0")
    assert outside(addresses) == []
    # RP-01 and RP-02: two and three sentences without a keyword.
    assert [row.reason for row in found if row.reason] == ["not_blocked"] * 5
    assert len(found) == 192


@needs_mem0
def test_the_watch_sees_what_would_leave(addresses: list[Any]) -> None:
    with socket.socket() as probe:
        probe.settimeout(0.01)
        probe.connect_ex(("192.0.2.1", 9))  # reserved for documentation: nobody is there
    assert outside(addresses) == [("192.0.2.1", 9)]


@needs_mem0
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(check: Callable[[Factory], None], addresses: list[Any]) -> None:
    check(partial(fakes.make, "mem0"))
    assert outside(addresses) == []


@needs_mem0
@pytest.mark.parametrize("check", PROCESS_CHECKS, ids=lambda check: check.__name__)
def test_conformance_across_processes(
    check: Callable[[Factory, Executor], None], pool: Executor
) -> None:
    check(partial(fakes.make, "mem0"), pool)


@needs_mem0
def test_it_is_the_library_and_it_keeps_texts_as_they_are(tmp_path: Path) -> None:
    system: Any = memory.create("mem0", {}, Resources(tmp_path / "work", hash_embed))
    system.ingest(session("a", "I sail.", "  I sing.\n", "I sail."))
    assert ids(system.recall("I sail.", 5)) == ["a-0", "a-2"]
    assert [item.text for item in system.recall("  I sing.\n", 1)] in ([], ["  I sing.\n"])
    kept = system._library.get_all(filters={"user_id": "user"})["results"]
    assert sorted(one["memory"] for one in kept) == ["  I sing.\n", "I sail.", "I sail."]
    assert type(system._library.vector_store.client).__module__.startswith("qdrant_client")
    assert list((tmp_path / "work").rglob("*.sqlite")), "Qdrant keeps its store on disk"
    assert os.environ["MEM0_TELEMETRY"] == "False" and system._library.llm is None


@needs_mem0
@pytest.mark.parametrize("threshold", [-0.1, 1.1, "0.1"])
def test_a_wrong_threshold_names_its_key(threshold: object) -> None:
    with pytest.raises(InputError, match="threshold"):
        memory.create("mem0", {"threshold": threshold}, RESOURCES)


def test_without_an_embedder_or_beside_what_downloads() -> None:
    with pytest.raises(InputError, match="no embedder is set up"):
        memory.create("mem0", {}, Resources(Path("unused")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("importlib.util.find_spec", lambda name: name == "spacy" or None)
        with pytest.raises(InputError, match="spacy is installed"):
            memory.create("mem0", {}, RESOURCES)


@pytest.mark.skipif(find_spec("mem0") is not None, reason="mem0 is installed")
def test_without_the_library_its_extra_is_named() -> None:
    with pytest.raises(InputError, match="mem0 is not installed") as caught:
        fakes.make("mem0")
    assert 'pip install "memrepro[mem0]"' in str(caught.value)
