"""Proposed sentences: strict parsing, and what speaks against them."""

import json

import pytest

from memrepro.benchmarks.retention.grow import check_candidates, grow_call, parse_candidates
from memrepro.errors import InputError
from tests.retention.corpus import POLICIES, RULES, facts


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('{"sentences": ["I  sail.\\n", "I sing."]}', ["I sail.", "I sing."]),
        (' {"sentences": []}\n', []),
        ('{"sentences": "I sail."}', None),
        ('{"sentences": [1]}', None),
        ('["I sail."]', None),
        ('Here: {"sentences": []}', None),
        ("", None),
    ],
)
def test_replies(text: str, want: list[str] | None) -> None:
    assert parse_candidates(text) == want


def check(*texts: str) -> list[tuple[str | None, str | None]]:
    found = check_candidates(texts, "pet", facts(), POLICIES, RULES)
    return [(one.fault, one.keyword) for one in found]


def test_good_candidates() -> None:
    assert check("My canary sings at dawn.", "Last year I got a kitten from a farm.") == [
        (None, None), (None, "kitten"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("my cat sleeps on the PIANO", "says what is there: 'My cat sleeps on the piano.'"),
        ("My cat sleeps under the piano.", "says what is there"),
        ("My boss has a cat too, a ginger one.", "'boss', a keyword of work"),
        ("Cats are aloof.", "not in the first person"),
        ("I " + "really " * 25 + "like cats.", "is long: 28 words"),
        ("?!", "is empty"),
    ],
)
def test_faults(text: str, fault: str) -> None:
    ((found, _),) = check(text)
    assert found is not None and fault in found


def test_candidates_repeat_neither_the_corpus_nor_each_other() -> None:
    twice = check("My canary sings at dawn.", "At dawn my canary sings.")
    assert twice[0][0] is None and twice[1][0] is not None


def test_a_category_without_a_policy() -> None:
    with pytest.raises(InputError, match="unknown category 'pets'"):
        check_candidates([], "pets", facts(), POLICIES, RULES)


def test_the_call_shows_what_there_is() -> None:
    call = grow_call("prompt", "pet", facts(), 5, model="m", cap=256, temperature=None)
    told = json.loads(call.messages[1][1])
    assert (told["category"], told["count"], len(told["existing"])) == ("pet", 5, 8)
