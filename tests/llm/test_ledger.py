"""The working store: what is put is there, whole, and says so where the disk refuses."""

import sqlite3
import threading
from pathlib import Path

import pytest

from memrepro.errors import InputError, ServiceError
from memrepro.llm.call import Reply, failed
from memrepro.llm.ledger import open_store, read_shard, write_shard


def reply(key: str, text: str) -> Reply:
    return Reply(
        key=key, text=text, failure=None, detail=None, finish_reason="stop", prompt_tokens=3,
        completion_tokens=2, model="m",
    )  # fmt: skip


def test_what_is_put_is_found_under_its_key_and_an_older_one_gives_way(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "store.sqlite"
    lost = failed("b", "timeout", "too slow")
    with open_store(path) as store:
        assert store.get("a") is None
        store.put([reply("a", "first"), lost])
        assert (store.get("a"), store.get("b"), store.get("c")) == (reply("a", "first"), lost, None)
        store.put([reply("b", "this time")])
        assert store.get("b") == reply("b", "this time")
    with open_store(path) as store:
        assert store.get("a") == reply("a", "first")
        assert store.get("b") == reply("b", "this time")


def test_replies_may_be_put_from_another_thread(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.sqlite") as store:
        thread = threading.Thread(target=store.put, args=([reply("a", "x")],))
        thread.start()
        thread.join()
        assert store.get("a") == reply("a", "x")


def test_a_refused_reply_takes_those_beside_it_along(tmp_path: Path) -> None:
    """All of them or none; the refusal is made with a trigger, for want of a full disk."""
    path = tmp_path / "store.sqlite"
    with open_store(path) as store:
        store.put([reply("a", "before")])
        with sqlite3.connect(path) as connection:
            connection.execute(
                "CREATE TRIGGER full BEFORE INSERT ON replies WHEN NEW.key = 'c' "
                "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
            )
        connection.close()
        with pytest.raises(ServiceError) as caught:
            store.put([reply("b", "x"), reply("c", "y")])
        assert str(caught.value) == (
            "a reply cannot be stored: database or disk is full\n"
            "  hint:     free disk space, then run the same command again; "
            "nothing stored is lost"
        )
        assert [store.get(key) for key in "abc"] == [reply("a", "before"), None, None]


def test_the_store_is_a_write_ahead_log_that_others_can_read(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with open_store(path) as store:
        store.put([reply("a", "x")])
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
        assert connection.execute("SELECT key FROM replies").fetchall() == [("a",)]
        with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"), connection:
            connection.execute("INSERT INTO replies VALUES ('b', NULL)")
        connection.close()


def test_the_table_is_that_of_stores_which_hold_paid_replies(tmp_path: Path) -> None:
    """Written out: a changed table would leave an older store unreadable, or in another form."""
    path = tmp_path / "store.sqlite"
    with open_store(path):
        connection = sqlite3.connect(path)
        found = connection.execute("SELECT sql FROM sqlite_schema").fetchall()
        connection.close()
    assert found == [
        ("CREATE TABLE replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID",)
    ]


def test_what_is_no_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"not a database, and long enough to have a header" * 9)
    with pytest.raises(ServiceError) as caught, open_store(path):
        pass
    assert str(caught.value) == (
        f"{path}: the working store cannot be used: file is not a database"
    )
    with pytest.raises(ServiceError, match="the working store cannot be used"):
        open_store(path / "below a file").__enter__()


def test_a_key_that_stands_twice_in_a_shard_is_named(tmp_path: Path) -> None:
    shard = tmp_path / "bm25.jsonl"
    write_shard(shard, [failed("a", "timeout", "")])
    shard.write_text(shard.read_text() * 2)
    with pytest.raises(InputError, match="a key stands twice in a shard") as caught:
        read_shard(shard)
    assert caught.value.where == f"{shard}, line 2"
