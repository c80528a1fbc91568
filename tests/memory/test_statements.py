"""Which sentences count as the user's first-person statements, and which are kept."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepro.memory import create
from memrepro.memory.statements import newest_within, statements
from memrepro.records import Recalled, Session, Turn
from tests.memory import fakes
from tests.memory.fakes import RESOURCES, ids, session

CASES: list[tuple[str, list[str]]] = [
    (
        "I live in Lisbon. Lisbon is hot. My sister does not.",
        ["I live in Lisbon.", "My sister does not."],
    ),
    ("Do I need a visa? I'm Dutch.", ["I'm Dutch."]),
    (
        "I’ve sold it! Did we agree?\nNo stop at the end of our line",
        ["I’ve sold it!", "No stop at the end of our line"],
    ),
    ("That car is mine", ["That car is mine"]),
    ("They told us so.", ["They told us so."]),
    ("Made in the US.", []),
    ("i  like\ttea,  i do.", ["i like tea, i do."]),
    ("Use a metric, i.e. litres. See about.me for more. It is an iPad mini.", []),
    ("Read the weekend column. Some memory.", []),
    ("World weariness, famine, we-ness.", []),
    ('She said "I am done." Fine.', ['She said "I am done."']),
    ('Was it "mine?" (Can I go?) Really, me?!', []),
    ("I sail.\n---TIMESTAMP: 2023/05/20 (Sat) 02:21", ["I sail."]),
    ("---TIMESTAMP: I am no statement\nI am one", ["I am one"]),
    ("I pay 3.50 a day.", ["I pay 3.50 a day."]),
    ("Rain\u2028I know", ["Rain I know"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "want"), CASES)
def test_rule(text: str, want: list[str]) -> None:
    assert list(statements(text)) == want


def test_only_the_user_speaks_and_query_and_k_do_not_matter() -> None:
    system = fakes.make("statements")
    turns = (
        Turn(id="a", role="user", text="I sail. You do not. My boat is red."),
        Turn(id="b", role="assistant", text="I am a model."),
        Turn(id="c", role="user", text="We met."),
    )
    system.ingest(Session(id="s", turns=turns))
    for query, k in (("boat", 1), ("", 0), ("zzyzx", 99)):
        items = system.recall(query, k)
        assert [(item.id, item.text) for item in items] == [
            ("a#1", "I sail."),
            ("a#2", "My boat is red."),
            ("c#1", "We met."),
        ]


def test_the_oldest_are_dropped_first() -> None:
    system = create("statements", {"max_lines": 2}, RESOURCES)
    system.ingest(session("a", "I sail.", "I run.", "I rest."))
    assert ids(system.recall("", 5)) == ["a-1#1", "a-2#1"]


def test_bytes_are_utf_8_with_line_ends() -> None:
    texts = ("I ate.", "I saw Zoë.", "I ran.")  # 7, 12 and 7 bytes with their line ends
    for limit, want in ((26, 3), (25, 2), (19, 2), (18, 1), (7, 1), (6, 0)):
        system = create("statements", {"max_bytes": limit}, RESOURCES)
        system.ingest(session("a", *texts))
        assert len(system.recall("", 5)) == want, limit


def test_an_over_long_statement_is_dropped_whole_and_takes_no_other_along() -> None:
    system = create("statements", {"max_bytes": 20}, RESOURCES)
    system.ingest(session("a", "I sail.", "I am " + "very " * 9 + "long.", "I run."))
    assert ids(system.recall("", 5)) == ["a-0#1", "a-2#1"]


@settings(deadline=None)
@given(st.lists(st.text(max_size=9)), st.integers(1, 9), st.integers(1, 40))
def test_kept_lines_are_a_tail_within_the_limits(texts: list[str], lines: int, size: int) -> None:
    items = [Recalled(id=str(n), text=text) for n, text in enumerate(texts)]
    short = [item for item in items if len(item.text.encode()) < size]
    kept = newest_within(items, lines, size)
    assert kept == short[len(short) - len(kept) :]
    assert len(kept) <= lines
    assert sum(len(item.text.encode()) + 1 for item in kept) <= size
    if len(kept) < len(short) and len(kept) < lines:  # one more would not have fitted
        more = short[len(short) - len(kept) - 1 :]
        assert sum(len(item.text.encode()) + 1 for item in more) > size
