"""The last few sessions as context."""

from typing import Annotated

from pydantic import Field

from memrepro.memory.base import Resources
from memrepro.memory.history import TranscriptSystem, as_recalled
from memrepro.records import Recalled


class Recent(TranscriptSystem):
    """Recalls all turns of the last sessions in order of ingestion, whatever is asked.

    Args:
        resources: unused.
        sessions: how many sessions, at least 1.
    """

    ignores_k = True

    def __init__(self, resources: Resources, *, sessions: Annotated[int, Field(ge=1)] = 3) -> None:
        super().__init__(resources, sessions=sessions)
        self._sessions = sessions

    def recall(self, query: str, k: int) -> list[Recalled]:
        """All turns of the last sessions."""
        return as_recalled(self.history.last(self._sessions))
