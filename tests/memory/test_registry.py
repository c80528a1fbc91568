"""Names lead to systems; what cannot be used says what to type."""

from importlib.metadata import EntryPoint

import pytest

from memrepro import memory
from memrepro.errors import InputError
from memrepro.memory.bm25 import BM25
from memrepro.memory.recent import Recent
from tests.memory.fakes import RESOURCES


def test_every_name_loads_and_is_created() -> None:
    assert memory.names() == sorted(memory.SYSTEMS)
    for name in memory.names():
        kind = memory.load(name)
        # mem0's own library is none of this environment's: test_mem0 creates it.
        assert name == "mem0" or isinstance(memory.create(name, {}, RESOURCES), kind)


def test_which_run_as_control() -> None:
    control = {name for name in memory.SYSTEMS if memory.load(name).control}
    assert control >= {"bm25", "dense_int8", "dense_fp32"}
    assert control.isdisjoint({"none", "in_context", "full_context", "recent", "statements"})


def test_base_name() -> None:
    assert memory.base_name("bm25_control") == memory.base_name("bm25") == "bm25"


def test_an_unknown_system_lists_the_known() -> None:
    with pytest.raises(InputError, match="unknown memory system 'bm52'") as caught:
        memory.load("bm52")
    assert ", ".join(sorted(memory.SYSTEMS)) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "settings", "key", "what"),
    [
        ("recent", {"session": 3}, "session", "unknown setting"),
        ("bm25", {"k1": 1.2}, "k1", "unknown setting"),
        ("bm25", {"resources": 1}, "resources", "unknown setting"),
        ("recent", {"sessions": "3"}, "sessions", "wrong setting"),
        ("recent", {"sessions": True}, "sessions", "wrong setting"),
        ("recent", {"sessions": 0}, "sessions", "wrong setting"),
        ("statements", {"max_bytes": -1}, "max_bytes", "wrong setting"),
        ("dense_int8", {"embedder": None}, "embedder", "wrong setting"),
    ],
)
def test_a_wrong_setting_names_its_key(
    name: str, settings: dict[str, object], key: str, what: str
) -> None:
    with pytest.raises(InputError, match=what) as caught:
        memory.create(name, settings, RESOURCES)
    assert f"systems.<benchmark>.{name}.settings.{key}" in str(caught.value)


def _register(monkeypatch: pytest.MonkeyPatch, **targets: str) -> None:
    entries = [EntryPoint(name, value, memory.GROUP) for name, value in targets.items()]
    monkeypatch.setattr(memory, "entry_points", lambda group: entries)


def test_another_package_registers_but_takes_over_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    target = "memrepro.memory.recent:Recent"
    _register(monkeypatch, theirs=target, bm25=target)
    assert memory.load("theirs") is Recent
    assert memory.load("bm25") is BM25
    assert "theirs" in memory.names()


def test_a_missing_library_names_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    _register(monkeypatch, theirs="no_such_package.memory:System")
    with pytest.raises(InputError, match="needs no_such_package") as caught:
        memory.load("theirs")
    assert 'pip install "no_such_package"' in str(caught.value)
    monkeypatch.setitem(memory.SYSTEMS, "hybrid", "no_such_library:System")
    with pytest.raises(InputError) as caught:
        memory.load("hybrid")
    assert 'pip install "memrepro[dense]"' in str(caught.value)


@pytest.mark.parametrize("value", ["memrepro.memory:GROUP", "memrepro.memory:nothing"])
def test_an_entry_point_that_is_no_system(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    _register(monkeypatch, theirs=value)
    with pytest.raises(InputError, match="no MemorySystem"):
        memory.load("theirs")
