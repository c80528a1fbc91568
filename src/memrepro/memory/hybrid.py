"""BM25 and embeddings together, by reciprocal rank fusion.

Cormack, Clarke and Buettcher (2009), Reciprocal Rank Fusion outperforms Condorcet and individual
rank learning methods, SIGIR, doi 10.1145/1571941.1572114: score(d) = Σ over the rankings of
1 / (60 + rank of d), ranks counted from 1.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Self

from memrepro.digest import sha256_value
from memrepro.memory.base import Resources
from memrepro.memory.bm25 import BM25
from memrepro.memory.dense import Dense
from memrepro.memory.history import Retriever
from memrepro.records import Session

RRF_CONSTANT = 60


def fuse(rankings: Sequence[Sequence[int]]) -> list[int]:
    """Positions by descending reciprocal-rank sum, ties by position.

    Args:
        rankings: each a permutation of the same positions, best first.
    """
    # Exact fractions: a tie is a tie, however many rankings are added and in which order.
    scores: dict[int, Fraction] = {}
    for ranking in rankings:
        for rank, position in enumerate(ranking, start=1):
            share = Fraction(1, RRF_CONSTANT + rank)
            scores[position] = scores.get(position, Fraction(0)) + share
    return sorted(scores, key=lambda position: (-scores[position], position))


class Hybrid(Retriever):
    """Fuses the full rankings of `BM25` and `Dense`.

    Args:
        resources: as for `Dense`.
        embedder: as for `Dense`.

    Raises:
        InputError: no embedder was set up.
    """

    # The papers have single-chunk numbers for its parts only.
    control = False

    def __init__(self, resources: Resources, *, embedder: str = "minilm_int8") -> None:
        super().__init__(resources, embedder=embedder)
        self._parts: tuple[Retriever, ...] = (
            BM25(resources),
            Dense(resources, embedder=embedder),
        )

    def ingest(self, session: Session) -> None:
        """Hand the session to both parts."""
        super().ingest(session)
        for part in self._parts:
            part.ingest(session)

    def fork(self) -> Self:
        """A copy with forks of both parts."""
        other = super().fork()
        other._parts = tuple(part.fork() for part in self._parts)
        return other

    def digest(self) -> str:
        """SHA-256 of its own digest and those of the parts."""
        return sha256_value([super().digest(), *(part.digest() for part in self._parts)])

    def ranking(self, query: str) -> Sequence[int]:
        """Positions by descending fused score, ties by order of ingestion."""
        return fuse([part.ranking(query) for part in self._parts])
