"""SQLite's full-text index, FTS5, in a file: what many agents' memories are made of.

Ranked by FTS5's own bm25() (https://www.sqlite.org/fts5.html, section 5.1.1), tokenised by its
default, unicode61. Any word of the query may match; what shares none is not recalled.
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
import weakref
from pathlib import Path
from typing import Self

from memrepro.errors import InputError, ServiceError
from memrepro.memory.base import Resources
from memrepro.memory.history import TranscriptSystem
from memrepro.records import Recalled, Session

# As unicode61 splits: letters and digits make words, everything else parts them.
_WORD = re.compile(r"[^\W_]+")
# SQLite's limit on the depth of an expression is 1,000, and a chain of ORs is as deep as it is
# long. Fewer words than that tell any two turns apart.
_MOST_WORDS = 500

_SEARCH = """
SELECT id, text FROM turn WHERE turn MATCH ? ORDER BY bm25(turn), rowid LIMIT ?
"""


class SqliteFts(TranscriptSystem):
    """Ranks turns by FTS5 in a file of its own below the working folder.

    The file is deleted with the system.

    Raises:
        InputError: this Python's SQLite has no FTS5.
        ServiceError: the file cannot be written.
    """

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._database = self._open()
        try:
            self._database.execute("CREATE VIRTUAL TABLE turn USING fts5(id UNINDEXED, text)")
        except sqlite3.OperationalError as error:
            raise InputError(
                f"the SQLite of this Python cannot do it: {error}",
                where="memory system sqlite_fts",
                expected="SQLite with FTS5",
                found=f"SQLite {sqlite3.sqlite_version}",
            ) from error

    def ingest(self, session: Session) -> None:
        """Append the session's turns to the index."""
        super().ingest(session)
        turns = [(turn.id, turn.text) for turn in session.turns]
        try:
            with self._database:
                self._database.executemany("INSERT INTO turn (id, text) VALUES (?, ?)", turns)
        except sqlite3.Error as error:
            raise ServiceError(
                f"the index cannot be written: {error}", where=str(self.resources.workdir)
            ) from error

    def recall(self, query: str, k: int) -> list[Recalled]:
        """At most k turns that share a word with the query, best first."""
        words = list(dict.fromkeys(_WORD.findall(query)))[:_MOST_WORDS]
        if k <= 0 or not words:
            return []
        # Quoted, a word is a string and never an operator of the query language.
        match = " OR ".join(f'"{word}"' for word in words)
        found = self._database.execute(_SEARCH, (match, k)).fetchall()
        return [Recalled(id=id_, text=text) for id_, text in found]

    def fork(self) -> Self:
        """A copy on a copy of the file."""
        other = super().fork()
        other._database = other._open()
        self._database.backup(other._database)
        return other

    def _open(self) -> sqlite3.Connection:
        """A new, empty file; it goes when this system goes."""
        try:
            self.resources.workdir.mkdir(parents=True, exist_ok=True)
            folder = tempfile.mkdtemp(prefix="fts-", dir=self.resources.workdir)
            file = Path(folder) / "turns.sqlite"
            database = sqlite3.connect(file)
        except (OSError, sqlite3.Error) as error:
            raise ServiceError(
                f"the index cannot be made: {error}", where=str(self.resources.workdir)
            ) from error
        # Whole or gone: the file never outlives its process, so it need not survive a crash.
        database.execute("PRAGMA journal_mode = MEMORY")
        database.execute("PRAGMA synchronous = OFF")
        weakref.finalize(self, _remove, database, file)
        return database


def _remove(database: sqlite3.Connection, file: Path) -> None:
    database.close()
    file.unlink(missing_ok=True)
    if file.parent.is_dir() and not any(file.parent.iterdir()):
        file.parent.rmdir()
