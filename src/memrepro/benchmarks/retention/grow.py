"""New sentences for a corpus: a model proposes, rules of thumb sort out, a person accepts."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memrepro.digest import canonical_json
from memrepro.errors import InputError
from memrepro.files import parse_json
from memrepro.llm.call import Call
from memrepro.policy import Rules, first_match, normalise
from memrepro.records import RetentionFact, RetentionPolicy

# Of two sentences that share so many percent of their words one says nothing new.
ALIKE = 60
MOST_WORDS = 25
_WORD = re.compile(r"\w+")
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b")


class Candidate(NamedTuple):
    """A proposed sentence, what speaks against it if anything, and its own rule's keyword in it."""

    text: str
    fault: str | None
    keyword: str | None


def grow_call(
    prompt: str,
    category: str,
    facts: Iterable[RetentionFact],
    count: int,
    *,
    model: str,
    cap: int,
    temperature: float | None,
) -> Call:
    """The request for new sentences of a category; it shows the ones there are."""
    shown = [fact.text for fact in facts if fact.category == category]
    wanted = {"category": category, "count": count, "existing": shown}
    return Call(
        model=model,
        messages=(("system", prompt), ("user", canonical_json(wanted))),
        cap=cap,
        temperature=temperature,
    )


def parse_candidates(text: str) -> list[str] | None:
    """The sentences of a reply, `{"sentences": [...]}` and nothing round it; None for any other."""
    try:
        value = parse_json(text.strip(), where="candidates")
    except InputError:
        return None
    found = value.get("sentences") if isinstance(value, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        return None
    return [" ".join(one.split()) for one in found]


def check_candidates(
    texts: Iterable[str],
    category: str,
    facts: Sequence[RetentionFact],
    policies: Iterable[RetentionPolicy],
    rules: Rules,
) -> list[Candidate]:
    """Each proposed sentence with what speaks against it.

    A sentence is checked against the corpus and the candidates before it.

    Raises:
        InputError: no policy prohibits the category.
    """
    keywords = {policy.category: rules.get(policy.statement, ()) for policy in policies}
    if category not in keywords:
        raise InputError(
            f"unknown category {category!r}", where="--category", expected=", ".join(keywords)
        )
    known = [fact.text for fact in facts]
    found = []
    for text in texts:
        fault = _shape(text) or _duplicate(text, known) or _leak(text, category, keywords)
        found.append(Candidate(text, fault, first_match(text, keywords[category])))
        known.append(text)
    return found


def _shape(text: str) -> str | None:
    words = _WORD.findall(normalise(text))
    if not words:
        return "it is empty"
    if len(words) > MOST_WORDS:
        return f"it is long: {len(words)} words, at most {MOST_WORDS}"
    return None if _FIRST_PERSON.search(normalise(text)) else "it is not in the first person"


def _duplicate(text: str, known: Iterable[str]) -> str | None:
    words = set(_WORD.findall(normalise(text)))
    for other in known:
        others = set(_WORD.findall(normalise(other)))
        # Jaccard's index, as a comparison of integers.
        if 100 * len(words & others) >= ALIKE * len(words | others):
            return f"it says what is there: {other!r}"
    return None


def _leak(text: str, category: str, keywords: Rules) -> str | None:
    for other, of_other in keywords.items():
        keyword = first_match(text, of_other) if other != category else None
        if keyword is not None:
            return f"it holds {keyword!r}, a keyword of {other}"
    return None
