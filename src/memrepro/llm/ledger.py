"""Recorded replies: shards, which the pipeline replays, and the working store of a recording."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from memrepro.errors import InputError, ServiceError
from memrepro.files import iter_json_lines, validate, write_records
from memrepro.llm.call import Call, Reply


def read_shard(path: Path) -> dict[str, Reply]:
    """A shard's replies by key.

    Raises:
        InputError: the file cannot be read or a row is not strict, or a key stands twice.
    """
    from pydantic import ValidationError

    replies: dict[str, Reply] = {}
    for number, value in iter_json_lines(path):
        try:
            reply = Reply.model_validate(value)
        except ValidationError:
            # Once more, on the way that says file, line and field.
            reply = validate(Reply, value, where=f"{path}, line {number}")
        if reply.key in replies:
            raise InputError(
                "a key stands twice in a shard", where=f"{path}, line {number}", found=reply.key
            )
        replies[reply.key] = reply
    return replies


def write_shard(path: Path, replies: Iterable[Reply]) -> None:
    """Write a shard, sorted by key, whole or not at all."""
    write_records(path, replies)


def resolve(find: Callable[[str], Reply | None], call: Call) -> tuple[Reply | None, bool]:
    """What a call came to: its reply, or that of the same call with a raised cap.

    Args:
        find: the recorded reply of a key, or None.
        call: the call.

    Returns:
        The reply (None: neither is recorded) and whether it came under the raised cap.
    """
    reply = find(call.key())
    if reply is None or reply.failure != "length":
        return reply, False
    raised = find(call.with_raised_cap().key())
    return (raised, True) if raised is not None else (reply, False)


class Store:
    """The working store of recordings: each reply is on disk before anything is done with it.

    A SQLite file with a write-ahead log: a process that is killed loses nothing that was put.
    `put` may be called from another thread than `get`.
    """

    def __init__(self, reader: sqlite3.Connection, writer: sqlite3.Connection) -> None:
        self._reader, self._writer = reader, writer

    def get(self, key: str) -> Reply | None:
        """A key's reply, if it is stored."""
        row = self._reader.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return Reply.model_validate_json(row[0]) if row else None

    def put(self, replies: Iterable[Reply]) -> None:
        """Store replies, each in place of an older one of its key; all of them or none.

        Raises:
            ServiceError: the disk refuses.
        """
        rows = [(reply.key, reply.model_dump_json()) for reply in replies]
        try:
            with self._writer:
                self._writer.executemany("INSERT OR REPLACE INTO replies VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            raise ServiceError(
                f"a reply cannot be stored: {error}",
                hint="free disk space, then run the same command again; nothing stored is lost",
            ) from error


@contextmanager
def open_store(path: Path) -> Iterator[Store]:
    """The working store at a path, made if it is not there.

    Raises:
        ServiceError: it cannot be opened or is no store.
    """
    with ExitStack() as opened:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # One connection each, so that looking up never waits for a commit.
            writer = opened.enter_context(closing(sqlite3.connect(path, check_same_thread=False)))
            # Every commit is synced: replies are paid for, and a power cut must not take them.
            writer.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
            writer.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) "
                "WITHOUT ROWID"
            )
            reader = opened.enter_context(closing(sqlite3.connect(path)))
        except (OSError, sqlite3.Error) as error:
            raise ServiceError(
                f"the working store cannot be used: {error}", where=str(path)
            ) from error
        yield Store(reader, writer)
