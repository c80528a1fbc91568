"""What single systems recall, on histories small enough to check by hand."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from memrepro.errors import InputError, ProtocolError
from memrepro.memory import create
from memrepro.memory.base import Oracle, Resources, render
from memrepro.memory.hybrid import fuse
from memrepro.records import Recalled, Session, Turn
from tests.memory import fakes
from tests.memory.fakes import RESOURCES, ids, session


def test_render_puts_a_blank_line_between() -> None:
    assert render([Recalled(id="a", text="one"), Recalled(id="b", text="two\n")]) == "one\n\ntwo\n"
    assert render([]) == ""


def test_retain_takes_a_fact_in_as_a_session_of_one_turn() -> None:
    one, other = fakes.make("recent"), fakes.make("recent")
    fact = Turn(id="f", role="user", text="I sail.")
    assert one.retain(fact)
    other.ingest(Session(id="f", turns=(fact,)))
    assert one.digest() == other.digest()


def test_a_turn_taken_in_twice_is_refused_and_changes_nothing() -> None:
    system = fakes.make("full_context")
    system.ingest(session("a", "one"))
    before = system.digest()
    for wrong in (
        session("a", "again"),
        Session(id="b", turns=(Turn(id="x", role="user", text="1"),) * 2),
    ):
        with pytest.raises(ProtocolError, match="taken in twice"):
            system.ingest(wrong)
    assert system.digest() == before
    assert ids(system.recall("", 1)) == ["a-0"]


def test_settings_are_in_the_digest() -> None:
    digests = {create("recent", {"sessions": n}, RESOURCES).digest() for n in (1, 2, 3)}
    assert len(digests) == 3
    assert create("recent", {}, RESOURCES).digest() in digests
    assert fakes.make("dense_int8").digest() != fakes.make("dense_fp32").digest()


def test_recent_holds_the_last_sessions_only() -> None:
    system = create("recent", {"sessions": 2}, RESOURCES)
    system.ingest(session("a", "1", "2"))
    assert ids(system.recall("", 1)) == ["a-0", "a-1"]
    system.ingest(session("b", "3"))
    system.ingest(session("c", "4", "5"))
    assert ids(system.recall("", 1)) == ["b-0", "c-0", "c-1"]
    system.ingest(session("d"))  # an empty session is a session
    assert ids(system.recall("", 1)) == ["c-0", "c-1"]


def test_in_context_holds_what_was_revealed_last() -> None:
    system = fakes.make("in_context")
    assert isinstance(system, Oracle)
    assert system.kind == "oracle"
    system.ingest(session("a", "1", "2"))
    before = system.digest()
    assert system.recall("1", 5) == []
    target = session("t", "x", "y")
    system.reveal(session("u", "z").turns)
    system.reveal(target.turns)
    assert ids(system.recall("1", 1)) == ["t-0", "t-1"]
    assert system.digest() != before
    fork = system.fork()
    fork.reveal(())
    assert fork.recall("1", 1) == []
    assert ids(system.recall("1", 1)) == ["t-0", "t-1"]


def test_none_and_full_context() -> None:
    none, full = fakes.make("none"), fakes.make("full_context")
    for system in (none, full):
        system.ingest(session("a", "1", "2"))
        system.ingest(session("b", "3"))
    assert none.recall("1", 9) == []
    assert ids(full.recall("3", 1)) == ["a-0", "a-1", "b-0"]


def _axes(name: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Unit vectors in a plane; the text is the angle in degrees."""
    angles = np.radians([float(text) for text in texts])
    vectors = np.zeros((len(texts), 384), dtype=np.float32)
    vectors[:, 0], vectors[:, 1] = np.cos(angles), np.sin(angles)
    return vectors


def test_dense_ranks_by_cosine_and_ties_by_ingestion() -> None:
    system = create("dense_int8", {}, Resources(Path("unused"), _axes))
    # Equal turns far apart: rows of a BLAS product may round otherwise with their place.
    system.ingest(session("a", "90", "31", "180", *["31"] * 61, "30", "29"))
    want = ["a-64", "a-1", *(f"a-{n}" for n in range(3, 64))]
    got = ids(system.recall("30", 66))
    assert got[0] == want[0]
    assert [item for item in got if item in want[1:]] == want[1:]
    assert got[-2:] == ["a-0", "a-2"]


def test_dense_needs_an_embedder() -> None:
    with pytest.raises(InputError, match="no embedder") as caught:
        create("dense_int8", {}, Resources(Path("unused")))
    assert 'pip install "memrepro[dense]"' in str(caught.value)


def test_reciprocal_rank_fusion_by_hand() -> None:
    # Ranks of positions 0, 1, 2, 3:   first 1, 2, 3, 4   second 4, 1, 2, 3
    #   0: 1/61 + 1/64 = 0.032018…     1: 1/62 + 1/61 = 0.032522…
    #   2: 1/63 + 1/62 = 0.032002…     3: 1/64 + 1/63 = 0.031498…
    assert fuse([[0, 1, 2, 3], [1, 2, 3, 0]]) == [1, 0, 2, 3]
    # Opposite rankings of two: 1/61 + 1/62 both, so the tie goes by position.
    assert fuse([[1, 0], [0, 1]]) == [0, 1]
    assert fuse([[], []]) == []


def test_hybrid_fuses_its_two_parts() -> None:
    texts = ("the cello in the attic", "a cello", "walnuts and cheese", "cheese", "rain")
    parts = [fakes.make("bm25"), fakes.make("dense_int8")]
    hybrid = fakes.make("hybrid")
    for system in (*parts, hybrid):
        system.ingest(session("a", *texts))
    place = {f"a-{n}": n for n in range(len(texts))}
    rankings = [[place[item.id] for item in part.recall("cello cheese", 5)] for part in parts]
    got = [place[item.id] for item in hybrid.recall("cello cheese", 5)]
    score = [sum(1 / (61 + ranking.index(n)) for ranking in rankings) for n in range(5)]
    assert got == sorted(range(5), key=lambda n: (-score[n], n))
