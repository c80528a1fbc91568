"""Cosine similarity of sentence embeddings over single turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from memrepro.errors import InputError
from memrepro.memory.base import Resources
from memrepro.memory.history import Retriever, descending
from memrepro.records import Session

if TYPE_CHECKING:
    import numpy.typing as npt

    from memrepro.memory.base import Embed


class Dense(Retriever):
    """Ranks turns by the cosine of their embedding with the query's. Gives ranks, never scores.

    Args:
        resources: its `embed` makes the vectors.
        embedder: the name handed to `embed`; part of the system's identity.

    Raises:
        InputError: no embedder was set up.
    """

    def __init__(self, resources: Resources, *, embedder: str = "minilm_int8") -> None:
        super().__init__(resources, embedder=embedder)
        if resources.embed is None:
            raise InputError(
                f"no embedder is set up for {embedder!r}",
                where="resources.embed",
                expected="the embedder's model and tokenizer files",
                hint='pip install "memrepro[dense]", then fetch the model files',
            )
        self._embed: Embed = resources.embed
        self._embedder = embedder
        # A pure cache, as in bm25.
        self._vectors: npt.NDArray[np.float64] | None = None

    def ingest(self, session: Session) -> None:
        """Append the session; its turns are embedded when next needed."""
        super().ingest(session)
        self._vectors = None

    def ranking(self, query: str) -> Sequence[int]:
        """Positions by descending cosine, ties by order of ingestion."""
        if self._vectors is None:
            texts = [turn.text for turn in self.history.turns]
            self._vectors = self._embed(self._embedder, texts).astype(np.float64)
        vector = self._embed(self._embedder, [query])[0].astype(np.float64)
        # Row by row in double precision, not as a matrix product: BLAS may round a row otherwise
        # with its place in the matrix, and two equal turns would no longer tie.
        return descending((self._vectors * vector).sum(axis=1))
