"""What the built-in systems share: the turns taken in, their digest, and ranking over them."""

from __future__ import annotations

import abc
import copy
from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from memrepro.digest import sha256_value
from memrepro.errors import ProtocolError
from memrepro.memory.base import MemorySystem, Resources
from memrepro.records import Recalled, Session, Turn


class History:
    """Turns in order of ingestion, with session boundaries; grows at its end only.

    The digest is a chain, h' = SHA-256(h, session): its cost is that of the new session, however
    long the history is.
    """

    def __init__(self) -> None:
        self._turns: list[Turn] = []
        self._starts: list[int] = []
        self._ids: set[str] = set()
        self._chain = ""

    def append(self, session: Session) -> None:
        """Add a session; all of it or, on an error, nothing.

        Raises:
            ProtocolError: a turn's id stands twice in the history.
        """
        ids = [turn.id for turn in session.turns]
        fresh = set(ids)
        if len(fresh) < len(ids) or not self._ids.isdisjoint(fresh):
            twice = next(id_ for id_ in ids if id_ in self._ids or ids.count(id_) > 1)
            raise ProtocolError(
                f"turn {twice!r} is taken in twice",
                where=f"session {session.id!r}",
                expected="an id of its own for every turn",
                hint="run the benchmark's build stage again: it gives the ids",
            )
        turns = [[turn.id, turn.role, turn.text] for turn in session.turns]
        self._chain = sha256_value([self._chain, session.id, turns])
        self._starts.append(len(self._turns))
        self._turns.extend(session.turns)
        self._ids |= fresh

    @property
    def turns(self) -> Sequence[Turn]:
        """All turns in order of ingestion; not to be changed."""
        return self._turns

    def last(self, sessions: int) -> Sequence[Turn]:
        """The turns of the last so many sessions (at least 1), in order of ingestion."""
        starts = self._starts[-sessions:]
        return self._turns[starts[0] :] if starts else []

    @property
    def chain(self) -> str:
        """Digest of all sessions so far; empty before the first."""
        return self._chain

    def fork(self) -> History:
        """An independent copy. Turns are immutable, so both hold the same ones."""
        other = History()
        other._turns = self._turns.copy()
        other._starts = self._starts.copy()
        other._ids = self._ids.copy()
        other._chain = self._chain
        return other


class TranscriptSystem(MemorySystem):
    """A system whose whole state is its settings and the turns taken in.

    Its digest covers all turns, also those that it would never recall, so that a state's digest
    tells which history the system was shown. Attributes that a subclass adds must be settings,
    or caches that are replaced and never changed in place: a fork shares them.
    """

    def __init__(self, resources: Resources, **settings: object) -> None:
        super().__init__(resources, **settings)
        self.history = History()

    def ingest(self, session: Session) -> None:
        """Append the session to the history."""
        self.history.append(session)

    def fork(self) -> Self:
        """A copy with a history of its own."""
        other = copy.copy(self)
        other.history = self.history.fork()
        return other

    def digest(self) -> str:
        """SHA-256 of the class, the settings and the history."""
        name = f"{type(self).__module__}:{type(self).__qualname__}"
        return sha256_value([name, self.settings, self.history.chain])


class Retriever(TranscriptSystem):
    """A system that ranks all turns for a query and recalls the first k."""

    control = True

    @abc.abstractmethod
    def ranking(self, query: str) -> Sequence[int]:
        """Positions of all turns in the history, best first, ties by order of ingestion."""

    def recall(self, query: str, k: int) -> list[Recalled]:
        """The first k turns of the ranking; fewer where the history is shorter."""
        if k <= 0 or not self.history.turns:
            return []
        return as_recalled(self.history.turns[position] for position in self.ranking(query)[:k])


def as_recalled(turns: Iterable[Turn]) -> list[Recalled]:
    """Turns as recalled items: the same id, the text as given."""
    return [Recalled(id=turn.id, text=turn.text) for turn in turns]


def descending(scores: npt.NDArray[np.float32] | npt.NDArray[np.float64]) -> list[int]:
    """Positions of scores, the highest first, equal ones in their order."""
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    return order
