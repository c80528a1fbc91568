"""No memory at all: the floor."""

from memrepro.memory.base import Resources
from memrepro.memory.history import TranscriptSystem
from memrepro.records import Recalled


class NoMemory(TranscriptSystem):
    """Takes everything in and recalls nothing."""

    ignores_k = True

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)

    def recall(self, query: str, k: int) -> list[Recalled]:
        """Nothing, whatever is asked."""
        return []
