"""The target alone as context: what an answer model does when memory is perfect."""

from collections.abc import Sequence

from memrepro.digest import sha256_value
from memrepro.memory.base import Oracle, Resources
from memrepro.memory.history import TranscriptSystem, as_recalled
from memrepro.records import Recalled, Turn


class InContext(TranscriptSystem, Oracle):
    """Recalls the revealed turns and no others; nothing where nothing was revealed."""

    ignores_k = True

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._revealed: tuple[Turn, ...] = ()

    def reveal(self, turns: Sequence[Turn]) -> None:
        """Hold these turns as the whole context, instead of any held before."""
        self._revealed = tuple(turns)

    def recall(self, query: str, k: int) -> list[Recalled]:
        """The revealed turns in the order given."""
        return as_recalled(self._revealed)

    def digest(self) -> str:
        """SHA-256 of the history's digest and the revealed turns."""
        revealed = [[turn.id, turn.role, turn.text] for turn in self._revealed]
        return sha256_value([super().digest(), revealed])
