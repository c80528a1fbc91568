"""A list of turns that is asked for them word for word: the plainest store there is."""

from __future__ import annotations

from typing import Self

from memrepro.memory.base import Resources
from memrepro.memory.history import TranscriptSystem
from memrepro.records import Recalled, Session


class Exact(TranscriptSystem):
    """Recalls the turns whose text is the query, in order of ingestion, and no others."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        # Ids by text, so that a recall costs the same however long the list is.
        self._ids: dict[str, list[str]] = {}

    def ingest(self, session: Session) -> None:
        """Append the session's turns to the list."""
        super().ingest(session)
        for turn in session.turns:
            self._ids.setdefault(turn.text, []).append(turn.id)

    def recall(self, query: str, k: int) -> list[Recalled]:
        """At most k turns whose text equals the query."""
        return [Recalled(id=id_, text=query) for id_ in self._ids.get(query, [])[: max(k, 0)]]

    def fork(self) -> Self:
        """A copy with a list of its own."""
        other = super().fork()
        other._ids = {text: ids.copy() for text, ids in self._ids.items()}
        return other
