"""The whole history as context."""

from memrepro.memory.base import Resources
from memrepro.memory.history import TranscriptSystem, as_recalled
from memrepro.records import Recalled


class FullContext(TranscriptSystem):
    """Recalls every turn in order of ingestion, whatever is asked."""

    ignores_k = True

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)

    def recall(self, query: str, k: int) -> list[Recalled]:
        """All turns in order of ingestion."""
        return as_recalled(self.history.turns)
