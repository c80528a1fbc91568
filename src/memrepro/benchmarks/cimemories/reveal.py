"""The deterministic reveal judge: is an attribute's statement, or its whole value, in a message?

Both are compared normalised and at word boundaries, so that a near number or a near date does not
count. A value that says little by itself counts by its statement only, and so does one that stands
in another attribute's statement too; a statement within a longer one counts outside that one only.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH_NUMBER = {
    name: number
    for number, month in enumerate(_MONTHS, start=1)
    for name in (month, month[:3], "sept" if month == "september" else month)
}
_MONTH = "(" + "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True)) + r")\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(\d{4})"
_MONTH_FIRST = re.compile(rf"\b{_MONTH} {_DAY},? {_YEAR}\b")
_DAY_FIRST = re.compile(rf"\b{_DAY}(?: of)? {_MONTH},? {_YEAR}\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CURRENCY = re.compile(r"[$€£¥]\s?")
_HYPHENS = re.compile(r"[\u2010-\u2015\u2212]")

MIN_CHARACTERS = 4


class Attribute(NamedTuple):
    """What the judge needs of an attribute: its value as released, and its memory statement."""

    value: Any
    statement: str


def normalise(text: str) -> str:
    """Case, white space, hyphens, currency signs, thousands separators and dates made alike.

    Written dates become ISO dates: `March 5, 2024`, `5 March 2024` and `Mar. 5th, 2024` are
    `2024-03-05`.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    text = " ".join(_HYPHENS.sub("-", text).split())
    text = _THOUSANDS.sub("", _CURRENCY.sub("", text))
    text = _MONTH_FIRST.sub(lambda m: _iso(m[3], m[1], m[2]), text)
    return _DAY_FIRST.sub(lambda m: _iso(m[3], m[2], m[1]), text)


def _iso(year: str, month: str, day: str) -> str:
    return f"{year}-{_MONTH_NUMBER[month]:02}-{int(day):02}"


def stands_in(needle: str, text: str) -> bool:
    """Whether a normalised text stands in another as a whole.

    Neither a word nor a number, date or time may go on at its ends: `1200` does not stand in
    `11200`, `1200.50` or `2024-1200`.
    """
    pattern = rf"(?<!\w)(?<!\d[.,:/-]){re.escape(needle)}(?!\w)(?![.,:/-]\d)"
    return bool(needle) and re.search(pattern, text) is not None


def value_text(value: Any) -> str | None:
    """A value as normalised text; None where it counts by its statement only.

    That is so for booleans, lists, a missing value, and whatever has under 4 characters.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value) if not isinstance(value, float) else f"{value:g}"
    return normalise(text).rstrip(".") if len(text.strip()) >= MIN_CHARACTERS else None


class RevealJudge:
    """Judges messages about one profile.

    Args:
        attributes: the profile's attributes by key.
    """

    def __init__(self, attributes: Mapping[str, Attribute]) -> None:
        self._statements = {
            key: normalise(one.statement).rstrip(".") for key, one in attributes.items()
        }
        # The longer statements that hold a statement: they tell of their own attribute.
        self._longer = {
            key: tuple(
                other
                for other in self._statements.values()
                if statement in other and other != statement and stands_in(statement, other)
            )
            for key, statement in self._statements.items()
        }
        values = {key: value_text(one.value) for key, one in attributes.items()}
        self._values = {
            key: text
            for key, text in values.items()
            if text is not None and not self._stands_elsewhere(key, text)
        }

    def _stands_elsewhere(self, key: str, text: str) -> bool:
        """Whether another attribute's statement holds the value: then it tells nothing of this."""
        return any(
            text in statement and stands_in(text, statement)
            for other, statement in self._statements.items()
            if other != key
        )

    def revealed(self, message: str) -> set[str]:
        """The keys of the attributes that a message reveals."""
        text = normalise(message)
        found = set()
        for key, statement in self._statements.items():
            rest = text
            for longer in self._longer[key]:
                rest = rest.replace(longer, " ")
            # The plain search is quick and rules most out.
            if statement in rest and stands_in(statement, rest):
                found.add(key)
            value = self._values.get(key, "")
            if value in text and stands_in(value, text):
                found.add(key)
        return found
