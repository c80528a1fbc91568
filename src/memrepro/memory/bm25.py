"""BM25 over single turns, by the bm25s library with its defaults.

Lù, X. H. (2024), BM25S, arXiv 2407.03618; its default is Lucene's variant, k1 = 1.5, b = 0.75.
English stop words and the Snowball stemmer, as InMind's BM25 row was reproduced with (FACTS).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import bm25s
import numpy as np
import numpy.typing as npt
import Stemmer

from memrepro.memory.base import Resources
from memrepro.memory.history import Retriever, descending
from memrepro.records import Session

# InMind has about 850 distinct turns, targets and queries, CIMemories about 9,000 statements.
# Tokens of a text depend on that text alone, so all systems of a process can share the cache.
_CACHED_TEXTS = 1 << 14


@functools.lru_cache(maxsize=_CACHED_TEXTS)
def tokens(text: str) -> tuple[str, ...]:
    """Stemmed tokens of one text in its order, stop words left out."""
    # A stemmer of its own for each call: the object keeps a cache and is not thread-safe.
    (found,) = bm25s.tokenize(
        [text],
        stopwords="en",
        stemmer=Stemmer.Stemmer("english"),
        return_ids=False,
        show_progress=False,
    )
    return tuple(found)


class Index:
    """An immutable BM25 index over texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        corpus = [tokens(text) for text in texts]
        # bm25s numbers a vocabulary as a set hands it out, which depends on the process; numbers
        # by first appearance make the index, not only the scores, the same everywhere.
        vocabulary: dict[str, int] = {}
        ids = [
            [vocabulary.setdefault(token, len(vocabulary)) for token in document]
            for document in corpus
        ]
        self._size = len(texts)
        self._bm25: bm25s.BM25 | None = None
        # Without one token bm25s divides by the mean length 0.
        if vocabulary:
            self._bm25 = bm25s.BM25()
            self._bm25.index((ids, vocabulary), create_empty_token=False, show_progress=False)

    def scores(self, query: str) -> npt.NDArray[np.float32]:
        """BM25 score of each text, in the order of the texts; 0 where no token is shared."""
        known = self._bm25.get_tokens_ids(list(tokens(query))) if self._bm25 else []
        if self._bm25 is None or not known:  # get_scores fails on an empty query
            return np.zeros(self._size, dtype=np.float32)
        scores: npt.NDArray[np.float32] = self._bm25.get_scores(known)
        return scores


class BM25(Retriever):
    """Ranks turns by BM25. Like bm25s itself, it fills up k with turns of score 0."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        # A pure cache: built at the first recall after a change, shared with forks, replaced and
        # never changed, hence no part of the digest.
        self._index: Index | None = None

    def ingest(self, session: Session) -> None:
        """Append the session; the index is built anew when next needed."""
        super().ingest(session)
        self._index = None

    def ranking(self, query: str) -> Sequence[int]:
        """Positions by descending score, ties by order of ingestion."""
        if self._index is None:
            self._index = Index([turn.text for turn in self.history.turns])
        return descending(self._index.scores(query))
