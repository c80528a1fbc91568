"""Decisions: what rules match, when the model is asked, and what happens where it fails."""

import pytest

from memrepro.policy import Decision, Governance, decide, first_match

POLICY = "No pets."
RULES = {POLICY: ("cat", "guinea pig", "dog")}


@pytest.mark.parametrize(
    ("text", "word", "substring"),
    [
        ("My cat sleeps.", "cat", "cat"),
        ("My CAT sleeps.", "cat", "cat"),
        ("My \uff43\uff41\uff54 sleeps.", "cat", "cat"),  # full-width letters, by NFKC
        ("A category error.", None, "cat"),
        ("The cat's bowl; a guinea pig too.", "cat", "cat"),
        ("Our guinea\n pig squeaks.", "guinea pig", "guinea pig"),
        ("My c a t sleeps.", None, None),
        ("My c4t sleeps.", None, None),
        ("My c\u200bat sleeps.", None, None),  # a zero-width space: an evasion, and shown as one
        ("Meine Katze schläft.", None, None),
        ("cat_food", None, "cat"),
        ("A dog and a cat.", "cat", "cat"),  # in the order of the rules
        ("Catering for cats.", None, "cat"),
        ("", None, None),
    ],
)
def test_matches(text: str, word: str | None, substring: str | None) -> None:
    assert first_match(text, RULES[POLICY]) == word
    assert first_match(text, RULES[POLICY], "substring") == substring


def test_a_keyword_is_text_and_never_a_pattern() -> None:
    assert first_match("c++ is fun", ["c++"]) == "c++"
    assert first_match("abc", ["a.c"]) is None
    assert first_match("My STRASSE.", ["straße"]) == "straße"


@pytest.mark.parametrize(
    ("mode", "text", "verdict", "decision", "asked"),
    [
        ("none", "My cat.", 1, Decision(False, "nothing"), 0),
        ("deterministic", "My cat.", 0, Decision(True, "rules", "cat"), 0),
        ("deterministic", "My pony.", 1, Decision(False, "rules"), 0),
        ("hybrid", "My cat.", 0, Decision(True, "rules", "cat"), 0),
        ("hybrid", "My pony.", 1, Decision(True, "model"), 1),
        ("hybrid", "My shed.", 0, Decision(False, "model"), 1),
        ("llm", "My cat.", 0, Decision(False, "model"), 1),
        ("llm", "My cat.", 1, Decision(True, "model"), 1),
        ("llm", "My cat.", None, Decision(True, "undecided"), 1),
        ("hybrid", "My pony.", None, Decision(True, "undecided"), 1),
    ],
)
def test_modes(mode: str, text: str, verdict: int | None, decision: Decision, asked: int) -> None:
    calls: list[tuple[str, str]] = []

    def ask(text: str, statement: str) -> int | None:
        calls.append((text, statement))
        return verdict

    assert decide(text, POLICY, governance(mode), ask) == decision
    assert calls == [(text, POLICY)] * asked
    assert decide(text, None, governance(mode), ask) == Decision(False, "nothing")


def governance(mode: str) -> Governance:
    return {
        "none": Governance("none", rules=RULES),
        "deterministic": Governance("deterministic", rules=RULES),
        "hybrid": Governance("hybrid", rules=RULES),
        "llm": Governance("llm", rules=RULES),
    }[mode]


@pytest.mark.parametrize("setting", ["block", "store"])
def test_an_undecided_fact_follows_the_setting(setting: str) -> None:
    settings = {
        "block": Governance("llm", on_undecided="block"),
        "store": Governance("llm", on_undecided="store"),
    }
    found = decide("My cat.", POLICY, settings[setting], lambda *_: None)
    assert found == Decision(setting == "block", "undecided")


def test_without_a_table_nothing_is_enforced() -> None:
    assert decide("My cat.", POLICY, Governance("deterministic")) == Decision(False, "nothing")
    hybrid = Governance("hybrid")
    assert decide("My cat.", POLICY, hybrid, lambda *_: 1) == Decision(True, "model")


def test_a_mode_that_needs_a_model_never_goes_without() -> None:
    for mode in ("hybrid", "llm"):
        with pytest.raises(ValueError, match="none is handed in"):
            decide("My pony.", POLICY, governance(mode))


def test_digests_tell_governances_apart() -> None:
    several = [
        Governance("llm"), Governance("hybrid"), Governance("llm", match="substring"),
        Governance("llm", on_undecided="store"), Governance("llm", rules={}),
        Governance("llm", rules=RULES),
    ]  # fmt: skip
    assert len({one.digest() for one in several}) == len(several)
    assert Governance("llm", rules=dict(RULES)).digest() == Governance("llm", rules=RULES).digest()
