"""What the benchmarks share: the memory interface they replay a history through."""

from typing import Protocol, Self

from memrepro.records import Recalled, Session, Turn


class Memory(Protocol):
    """The part of a memory system that a benchmark uses; `memory.base` holds its contract."""

    def ingest(self, session: Session) -> None:
        """Take in one session."""

    def recall(self, query: str, k: int) -> list[Recalled]:
        """Return what the query brings back, best first."""

    def fork(self) -> Self:
        """Return an independent copy."""

    def digest(self) -> str:
        """Return the digest of everything that can change a later recall."""


class FactMemory(Protocol):
    """The part of a memory system that a benchmark of single facts uses."""

    def retain(self, fact: Turn) -> bool:
        """Take in one fact; says whether it was kept."""

    def recall(self, query: str, k: int) -> list[Recalled]:
        """Return what the query brings back, best first."""

    def fork(self) -> Self:
        """Return an independent copy."""

    def digest(self) -> str:
        """Return the digest of everything that can change a later recall."""
