"""The plain stores: a list asked word for word, and SQLite's full-text index in a file."""

import gc
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from memrepro.errors import InputError, ServiceError
from memrepro.memory import create
from memrepro.memory.base import Resources
from memrepro.memory.sqlite_fts import SqliteFts
from memrepro.records import Turn
from tests.memory import fakes
from tests.memory.fakes import ids, session


def test_exact_recalls_equal_texts_in_order_and_nothing_else() -> None:
    system = fakes.make("exact")
    system.ingest(session("a", "I sail.", "I sing.", "I sail."))
    assert ids(system.recall("I sail.", 5)) == ["a-0", "a-2"]
    assert ids(system.recall("I sail.", 1)) == ["a-0"]
    for query in ("i sail.", "I sail", "I sail. ", "", "sail"):
        assert system.recall(query, 5) == []


def seconds(size: int) -> float:
    system = fakes.make("exact")
    facts = [Turn(id=f"f{n}", role="user", text=f"Fact {n}.") for n in range(size)]
    start = time.process_time()
    for fact in facts:
        system.retain(fact)
    for fact in facts:
        assert ids(system.recall(fact.text, 5)) == [fact.id]
    return time.process_time() - start


def test_exact_grows_linearly() -> None:
    small, large = min(seconds(2_000) for _ in range(3)), seconds(20_000)
    # Ten times the facts; a list that is searched would take a hundred times as long.
    assert large / small < 30


def test_fts_ranks_by_shared_words_and_ties_by_order() -> None:
    system = fakes.make("sqlite_fts")
    system.ingest(session("a", "The cello.", "A walnut and a cello.", "Lisbon.", "The cello."))
    assert ids(system.recall("cello", 5)) == ["a-0", "a-3", "a-1"]
    assert ids(system.recall("a walnut in Lisbon", 2)) == ["a-1", "a-2"]
    assert system.recall("zzyzx", 5) == []


@pytest.mark.parametrize(
    "query",
    [
        '"', '""', "cello AND", "NEAR(cello", "cello*", "text:cello", "^cello", "(cello", "-cello",
        "cello OR OR", "id : cello", "{text} : cello", "cello; DROP TABLE turn", "cello\0walnut",
        "'cello", "NOT cello", "cello\n\r\t", "çello _cello_ cello",
    ],
)  # fmt: skip
def test_fts_takes_any_text_for_words(query: str) -> None:
    system = fakes.make("sqlite_fts")
    system.ingest(session("a", "The cello.", "A walnut."))
    found = ids(system.recall(query, 5))
    assert ("a-0" in found) == ("cello" in query)
    system.ingest(session("b", query))
    assert len(system.recall("cello", 5)) == 1 + ("cello" in query)


def test_fts_stands_queries_of_any_length() -> None:
    system = fakes.make("sqlite_fts")
    system.ingest(session("a", "The cello.", "word17"))
    assert ids(system.recall(" ".join(f"word{n}" for n in range(20_000)), 5)) == ["a-1"]


def test_a_python_without_fts_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Without(sqlite3.Connection):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            if "fts5" in sql:
                raise sqlite3.OperationalError("no such module: fts5")
            return super().execute(sql, *parameters)

    monkeypatch.setattr(sqlite3, "connect", lambda file: Without(file))
    with pytest.raises(InputError, match="cannot do it: no such module: fts5") as caught:
        create("sqlite_fts", {}, Resources(tmp_path))
    assert caught.value.expected == "SQLite with FTS5"
    assert caught.value.found == f"SQLite {sqlite3.sqlite_version}"


def test_a_full_disk_is_told_and_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    system = SqliteFts(Resources(tmp_path))
    system.ingest(session("a", "The cello."))
    system._database.execute("PRAGMA max_page_count = 1")  # SQLite takes it for what there is
    with pytest.raises(ServiceError, match=r"index cannot be written: .*full") as caught:
        system.ingest(session("b", "The cello.", "walnut " * 20_000))
    assert caught.value.where == str(tmp_path)
    assert ids(system.recall("cello", 5)) == ["a-0"]


def test_fts_keeps_a_file_while_it_lives(tmp_path: Path) -> None:
    system = create("sqlite_fts", {}, Resources(tmp_path / "work"))
    system.ingest(session("a", "The cello."))
    fork = system.fork()
    files = sorted((tmp_path / "work").rglob("*.sqlite"))
    assert len(files) == 2
    assert all(b"cello" in file.read_bytes() for file in files)
    del system
    gc.collect()
    assert ids(fork.recall("cello", 5)) == ["a-0"]
    del fork
    gc.collect()
    assert list((tmp_path / "work").iterdir()) == []


def test_fts_without_a_folder_to_write_in(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServiceError, match="the index cannot be made"):
        create("sqlite_fts", {}, Resources(tmp_path / "file"))
