"""Do attributes of one profile contradict each other? The same check for templates and models.

It sees what can be told from keys, values and the wording: it catches the ways in which generated
profiles go wrong, and is no proof that two statements agree.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import combinations
from typing import Any, NamedTuple

from memrepro.benchmarks.cimemories.profiles import Attribute
from memrepro.benchmarks.cimemories.reveal import normalise, stands_in, value_text
from memrepro.benchmarks.cimemories.values import WORKING_AGE
from memrepro.errors import InputError

# Words of a key that do not say what it is about.
_FILLERS = frozenset({"amount", "current", "details", "figure", "info", "total", "value"})
_STARTS = frozenset({"begin", "beginning", "began", "start", "started", "starting"})
_ENDS = frozenset({"end", "ended", "ending", "finish", "finished", "completion", "completed"})
_WORK = frozenset(
    {"career", "employed", "employer", "employment", "experience", "job", "tenure", "work"}
)
_WORDS_OF_A_WORDING = 4
_NEGATIONS = re.compile(r"\b(?:not|never|no|cannot|do|does|did)\b|n['’]t\b")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_SEXES = {"m": "m", "male": "m", "man": "m", "f": "f", "female": "f", "woman": "f"}
_SAYS_AGE = re.compile(r"\b(?:i am|i'm|i’m) (?:now )?(\d+) years old\b")
_SAYS_SEX = re.compile(r"\bi am (?:a )?(male|female|man|woman)\b")
_SAYS_NAME = re.compile(r"\bmy (?:full |legal )?name is ([^.,;]+)|^([^.,;]+) is my name\b")
_SAYS_HOME = re.compile(r"\b(?:i live at|my home is at|my (?:home )?address is) ([^;]+)")
# The names of keys that say what the biography says, by its field.
_BIO_KEYS = {
    "name": frozenset({"name", "full name", "legal name"}),
    "sex": frozenset({"sex", "gender"}),
    "address": frozenset({"address", "home address", "current address", "residential address"}),
    "age": frozenset({"age", "current age", "age years"}),
}


class Contradiction(NamedTuple):
    """Keys that cannot stand together, or one against the biography, and why."""

    keys: tuple[str, ...]
    why: str


def refuse_contradictions(
    bio: Mapping[str, Any], attributes: Sequence[Attribute], where: str
) -> None:
    """Refuse a profile that contradicts itself.

    Raises:
        InputError: names the profile, the first keys at fault, and how many more there are.
    """
    found = contradictions(bio, attributes)
    if found:
        more = f"; {len(found) - 1} more" if len(found) > 1 else ""
        raise InputError(
            f"{found[0].why}{more}",
            where=f"{where}, {', '.join(found[0].keys)}",
            found=" | ".join(
                dict.fromkeys(one.statement for one in attributes if one.key in found[0].keys)
            ),
        )


def contradictions(bio: Mapping[str, Any], attributes: Sequence[Attribute]) -> list[Contradiction]:
    """Everything in which attributes contradict each other or the biography, each once.

    Args:
        bio: name, sex, address and age.
        attributes: a profile's attributes; a key that stands twice among them is an error too.
    """
    return list(
        dict.fromkeys(
            [
                *_doubles(attributes),
                *_one_fact_two_values(attributes),
                *_one_wording_two_values(attributes),
                *_against_bio(bio, attributes),
                *_ends_before_starts(attributes),
                *_older_than_the_person(bio, attributes),
            ]
        )
    )


def _doubles(attributes: Sequence[Attribute]) -> Iterator[Contradiction]:
    keys = [(one.key.lower(), one.key) for one in attributes]
    statements = [(_plain(one.statement), one.key) for one in attributes]
    for pairs, why in ((keys, "a key stands twice"), (statements, "a statement stands twice")):
        for group in _groups(pairs):
            yield Contradiction(tuple(group), why)


def _one_fact_two_values(attributes: Sequence[Attribute]) -> Iterator[Contradiction]:
    """Keys that say one thing in other words, `debt_total` and `current_debt`."""
    values = {one.key: _comparable(one.value) for one in attributes}
    stems = [(" ".join(sorted(_words(one.key) - _FILLERS)), one.key) for one in attributes]
    for group in _groups(stems):
        for left, right in combinations(group, 2):
            if values[left] != values[right]:
                yield Contradiction((left, right), "one fact has two values")


def _one_wording_two_values(attributes: Sequence[Attribute]) -> Iterator[Contradiction]:
    """Statements that differ in nothing but the value, or in nothing but a negation."""
    values = {one.key: _stated(one) for one in attributes}
    for group in _groups([(text, one.key) for one in attributes if (text := _masked(one))]):
        for left, right in combinations(group, 2):
            if values[left] != values[right]:
                yield Contradiction((left, right), "one wording has two values")


def _against_bio(
    bio: Mapping[str, Any], attributes: Sequence[Attribute]
) -> Iterator[Contradiction]:
    """Attributes that say another name, sex, address or age than the biography."""
    known = {field: _said(field, bio[field]) for field in _BIO_KEYS}
    for one in attributes:
        words = " ".join(re.findall("[a-z0-9]+", _split(one.key)))
        for field, names in _BIO_KEYS.items():
            said = [_said(field, one.value)] if words in names else []
            said += _sayings(field, one.statement)
            if any(text and text != known[field] for text in said):
                yield Contradiction((one.key,), f"differs from the biography in {field}")


def _sayings(field: str, statement: str) -> list[str]:
    """What a statement says outright of a field of the biography."""
    text = " ".join(statement.casefold().split()).rstrip(".")
    rule = {"name": _SAYS_NAME, "sex": _SAYS_SEX, "address": _SAYS_HOME, "age": _SAYS_AGE}[field]
    return [_said(field, part) for match in rule.finditer(text) for part in match.groups() if part]


def _said(field: str, value: Any) -> str:
    """A value of the biography in one form."""
    text = " ".join(re.findall(r"\w+", str(value).casefold()))
    return _SEXES.get(text, text) if field == "sex" else text


def _ends_before_starts(attributes: Sequence[Attribute]) -> Iterator[Contradiction]:
    starts: dict[frozenset[str], Attribute] = {}
    ends: dict[frozenset[str], Attribute] = {}
    for one in attributes:
        words = _words(one.key)
        if _is_date(one.value):
            for marks, days in ((_STARTS, starts), (_ENDS, ends)):
                if words & marks:
                    days[words - marks] = one
    for stem, end in ends.items():
        start = starts.get(stem)
        if start is not None and end.value < start.value:
            yield Contradiction((start.key, end.key), "the end lies before the start")


def _older_than_the_person(
    bio: Mapping[str, Any], attributes: Sequence[Attribute]
) -> Iterator[Contradiction]:
    """Years that the person has not lived, or has not worked."""
    for one in attributes:
        words = _words(one.key)
        if "years" in words and isinstance(one.value, int | float) and one.value < 1000:
            most = bio["age"] - WORKING_AGE if words & _WORK else bio["age"]
            if one.value > most:
                yield Contradiction((one.key,), f"more than {most} years, at {bio['age']}")


def _is_date(value: Any) -> bool:
    """Whether a value is an ISO date; such texts sort as their days do."""
    if not isinstance(value, str) or not _ISO.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _masked(attribute: Attribute) -> str | None:
    """A statement without its value, or without its negations where that is yes or no."""
    text = _plain(attribute.statement)
    if isinstance(attribute.value, bool):
        return " ".join(_NEGATIONS.sub(" ", text).split())
    value = normalise(_text(attribute.value))
    if not value or not stands_in(value, text):
        return None
    rest = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "{value}", text)
    # Of `John {value}` the value is the whole fact, and the rest says nothing.
    return rest if len(rest.split()) >= _WORDS_OF_A_WORDING else None


def _stated(attribute: Attribute) -> str:
    """What a statement says beyond its wording: its value, or whether it negates."""
    if isinstance(attribute.value, bool):
        return _plain(attribute.statement)
    return _comparable(attribute.value)


def _plain(statement: str) -> str:
    return normalise(statement).rstrip(".")


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _comparable(value: Any) -> str:
    """Values that mean the same in one form: 1200 and `1,200`, `March 5, 2024` and its ISO date."""
    return value_text(value) or normalise(_text(value))


def _split(key: str) -> str:
    return _CAMEL.sub("_", key).lower()


def _words(key: str) -> frozenset[str]:
    return frozenset(re.findall("[a-z0-9]+", _split(key)))


def _groups(pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """The keys of each name that several have; what has no name is alike to nothing."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, key in pairs:
        groups[name].append(key)
    return [group for name, group in groups.items() if name and len(group) > 1]
