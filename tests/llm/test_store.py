"""The working store of a recording: what it holds, and a disk that refuses."""

import sqlite3
from pathlib import Path

import pytest

from memrepro.errors import InputError, ServiceError
from memrepro.llm.call import failed
from memrepro.llm.ledger import open_store, read_shard, write_shard


def test_a_reply_takes_the_place_of_an_older_one_and_outlives_the_store(tmp_path: Path) -> None:
    path = tmp_path / "new/replies.sqlite"
    old, new = failed("k", "timeout", "first"), failed("k", "server", "second")
    with open_store(path) as store:
        store.put([old, new])
        assert store.get("k") == new
        assert store.get("other") is None
    with open_store(path) as store:
        assert store.get("k") == new


def test_a_file_that_is_no_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    path.write_text("no database, and longer than a header of one would be" * 4)
    with (
        pytest.raises(ServiceError, match="store cannot be used: file is not a database") as caught,
        open_store(path),
    ):
        pass
    assert caught.value.where == str(path)


def test_a_refusing_disk_keeps_what_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    with open_store(path) as store:
        store.put([failed("a", "timeout", "kept")])
        with sqlite3.connect(path) as other:
            other.execute(
                "CREATE TRIGGER full BEFORE INSERT ON replies WHEN new.key = 'c' "
                "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
            )
        other.close()
        with pytest.raises(ServiceError, match=r"a reply cannot be stored: .*full") as caught:
            store.put([failed("b", "timeout", ""), failed("c", "timeout", "")])
        assert caught.value.exit_code == 5
        assert "nothing stored is lost" in (caught.value.hint or "")
        assert store.get("a") == failed("a", "timeout", "kept")
        assert store.get("b") is None  # all of them or none


def test_a_key_that_stands_twice_in_a_shard_is_named(tmp_path: Path) -> None:
    shard = tmp_path / "bm25.jsonl"
    write_shard(shard, [failed("a", "timeout", "")])
    shard.write_text(shard.read_text() * 2)
    with pytest.raises(InputError, match="a key stands twice in a shard") as caught:
        read_shard(shard)
    assert caught.value.where == f"{shard}, line 2"
