"""BM25 gives exactly what the bm25s library gives, and stands what the library does not."""

import bm25s
import numpy as np
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepro.memory.bm25 import BM25, Index
from tests.memory import fakes
from tests.memory.fakes import ids, session

WORDS = ["cello", "cellos", "walnut", "walnuts", "the", "of", "Lisbon", "allergic", "42", "ünder"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


def plain_scores(corpus: list[str], query: str) -> list[float]:
    """Scores as a reader of the library's page would compute them."""
    stemmer = Stemmer.Stemmer("english")
    options = {"stopwords": "en", "stemmer": stemmer, "show_progress": False}
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(corpus, **options), show_progress=False)
    (words,) = bm25s.tokenize([query], return_ids=False, **options)
    if not words:  # get_scores([]) is an IndexError in bm25s 0.3
        return [0.0] * len(corpus)
    scores: list[float] = retriever.get_scores(words).tolist()
    return scores


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=8), TEXT)
def test_scores_are_those_of_plain_bm25s_to_the_bit(corpus: list[str], query: str) -> None:
    corpus = [*corpus, "a cello in Lisbon"]  # bm25s itself fails on a corpus without a token
    scores = plain_scores(corpus, query)
    assert Index(corpus).scores(query).tolist() == scores
    system = fakes.make("bm25")
    system.ingest(session("a", *corpus))
    want = sorted(range(len(corpus)), key=lambda n: (-scores[n], n))
    assert ids(system.recall(query, len(corpus))) == [f"a-{n}" for n in want]


def test_lucene_score_by_hand() -> None:
    # Two texts of one and two tokens, mean 1.5; "cello" is in both, tf 1.
    # idf = ln(1 + (2 - 2 + 0.5) / (2 + 0.5)) = ln 1.2; tf part = 1 / (1 + 1.5 (0.25 + 0.75 l/1.5)).
    got = Index(["cello", "cello walnut"]).scores("cello")
    idf = np.log(1.2)
    want = [idf / (1 + 1.5 * (0.25 + 0.75 * length / 1.5)) for length in (1, 2)]
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("query", ["", "the of and", "zzyzx", "?!", "x" * 100_000, "\n \t"])
def test_without_a_shared_word_order_is_that_of_ingestion(query: str) -> None:
    system = fakes.make("bm25")
    system.ingest(session("a", "cello", "walnut", "Lisbon"))
    assert ids(system.recall(query, 2)) == ["a-0", "a-1"]


@pytest.mark.parametrize("texts", [(), ("",), ("the of and", "", "?!")])
def test_a_corpus_without_a_token(texts: tuple[str, ...]) -> None:
    system = fakes.make("bm25")
    system.ingest(session("a", *texts))
    assert ids(system.recall("cello", 2)) == [f"a-{n}" for n in range(len(texts))][:2]


def test_no_progress_bar_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    system = fakes.make("bm25")
    system.ingest(session("a", "never seen before: a bar of progress"))
    system.recall("never seen before either", 1)
    assert capfd.readouterr() == ("", "")


def test_forks_share_a_built_index_until_one_changes() -> None:
    system = fakes.make("bm25")
    assert isinstance(system, BM25)
    system.ingest(session("a", "cello", "walnut"))
    system.recall("cello", 1)
    fork = system.fork()
    assert fork._index is system._index is not None
    fork.ingest(session("b", "cello cello"))
    assert fork._index is None
    assert system._index is not None
    assert ids(fork.recall("cello", 2)) == ["b-0", "a-0"]
    assert ids(system.recall("cello", 2)) == ["a-0", "a-1"]
