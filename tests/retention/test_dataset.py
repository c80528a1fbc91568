"""The committed dataset: its size, its balance, and what was planted in it."""

import re
from collections import Counter

import pytest

from memrepro.benchmarks.retention.build import (
    STRESS,
    build_rows,
    dump_dataset,
    parse_corpus,
    parse_dataset,
    parse_rules,
)
from memrepro.errors import InputError
from memrepro.records import RetentionFact
from tests.retention.corpus import DATA, POLICIES, ROWS, RULES, facts, rows_of

NAMED_BY_THE_SOURCE = {"health", "work", "pet", "finance", "location", "credentials"}
KEYWORDS = {policy.category: RULES[policy.statement] for policy in POLICIES}


def words_of(fact: RetentionFact, category: str) -> list[str]:
    """Keywords of a category that stand in a sentence as words, by a plain search."""
    text = fact.text.casefold()
    return [key for key in KEYWORDS[category] if re.search(rf"\b{re.escape(key)}\b", text)]


def test_size_and_balance() -> None:
    assert len(ROWS) == 1152
    assert Counter(row.expected for row in ROWS) == {"drop": 96, "store": 1056}
    assert set(Counter(row.policy_id for row in ROWS).values()) == {96}
    assert set(Counter(row.category for row in ROWS).values()) == {96}
    assert len({row.text for row in ROWS}) == 96
    assert len({row.id for row in ROWS}) == 1152


def test_the_committed_file_is_what_its_parts_make() -> None:
    text = (DATA / "dataset.json").read_text("utf-8")
    assert dump_dataset(build_rows(facts(), POLICIES)) == text
    assert parse_dataset({"rows": [row.model_dump() for row in ROWS]}, where="") == ROWS


def test_policies_prohibit_a_category_each_and_every_one_has_its_rule() -> None:
    assert [policy.id for policy in POLICIES] == [f"RP-{n:02}" for n in range(1, 13)]
    categories = {policy.category for policy in POLICIES}
    assert len(categories) == 12 and categories > NAMED_BY_THE_SOURCE
    assert list(RULES) == [policy.statement for policy in POLICIES]
    assert {fact.category for fact in facts()} == categories


def test_two_sentences_a_category_have_no_keyword_and_one_holds_a_planted_word() -> None:
    free = Counter(fact.category for fact in facts() if fact.keyword is None)
    planted = Counter(fact.category for fact in facts() if fact.planted)
    assert len(free) == 12 and set(free.values()) == {2, 3} and free.total() == 32
    assert len(planted) == 12 and planted.total() == 12
    assert len({fact.planted.category for fact in facts() if fact.planted}) == 12


@pytest.mark.parametrize("edition", ["standard", *STRESS])
def test_annotations_are_what_a_plain_search_finds(edition: str) -> None:
    for fact in facts(edition):
        assert next(iter(words_of(fact, fact.category)), None) == fact.keyword, fact
        for other in set(KEYWORDS) - {fact.category}:
            assert not words_of(fact, other), fact
            inside = any(key in fact.text.casefold() for key in KEYWORDS[other])
            assert inside == (fact.planted is not None and fact.planted.category == other), fact
        if fact.planted:
            assert fact.planted.inside in fact.text and fact.planted.keyword in fact.planted.inside


@pytest.mark.parametrize("edition", STRESS)
def test_stress_editions(edition: str) -> None:
    assert Counter(Counter(fact.category for fact in facts(edition)).values()) == {4: 12}
    assert not {fact.text for fact in facts(edition)} & {fact.text for fact in facts()}
    rows = rows_of(edition)
    assert Counter(row.expected for row in rows) == {"drop": 48, "store": 528}


def test_what_each_stress_edition_is() -> None:
    assert {fact.keyword for fact in facts("paraphrase")} == {None}
    compound = Counter(fact.keyword is None for fact in facts("compound"))
    assert compound == {True: 24, False: 24}
    kinds = Counter((fact.kind, fact.keyword is None) for fact in facts("evasion"))
    assert kinds == {
        ("spelling", True): 12, ("spacing", True): 12, ("language", True): 12,
        ("instruction", False): 12,
    }  # fmt: skip


def test_sentences_are_short_and_begin_in_many_ways() -> None:
    assert max(len(fact.text.split()) for fact in facts()) <= 15
    assert len({tuple(fact.text.split()[:2]) for fact in facts()}) >= 48


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "no corpus"),
        ({"pet": "My cat."}, "wrong type"),
        ({"pet": [{"id": "p", "text": "My cat."}]}, "Field required"),
        ({"pet": [{"id": n, "text": "My cat.", "keyword": "cat"} for n in "pq"]}, "the text"),
        ({"pet": [{"id": "p", "text": t, "keyword": None} for t in "xy"]}, "the id 'p'"),
    ],
)
def test_a_malformed_corpus_is_refused(value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_corpus(value, where="corpus.json")


@pytest.mark.parametrize("value", [[], {"No cats.": "cat"}, {"No cats.": [1]}])
def test_malformed_rules_are_refused(value: object) -> None:
    with pytest.raises(InputError, match="rule"):
        parse_rules(value, where=r"rules.json")
