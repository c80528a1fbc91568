"""Parsing of reveal replies: a JSON object whose keys are the attributes that a message states."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from memrepro.llm.labels import outermost_object
from memrepro.params import StructuredOutput

_ARROW = re.compile(r"\s*(?:→|->)\s*")

_SCHEMA: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "string"}}


class Reveals(NamedTuple):
    """The keys said to be revealed, and those of which the reply leaves it open.

    `others_open`: it names something that is no attribute, so any that it does not name may be
    the one meant.
    """

    revealed: frozenset[str]
    open: frozenset[str]
    others_open: bool


def reveal_format(mode: StructuredOutput) -> dict[str, Any] | None:
    """The `response_format` that holds a judge to an object; its keys are not known beforehand."""
    if mode == "json_object":
        return {"type": "json_object", "schema": _SCHEMA}
    return {"type": "json_object"} if mode == "json_schema" else None


def parse_reveals(text: str, statements: Mapping[str, str]) -> Reveals | None:
    """What a reply says of each attribute; None, a judge error, without a JSON object.

    The outermost object is taken, as the released code does, but nothing is dropped in silence: a
    key as the prompt shows it (`name → My name is …`), in other case, or a statement alone is
    mapped to its attribute where only one fits; another leaves open what it meant. A value that is
    no sentence leaves its attribute open.

    Args:
        text: the reply.
        statements: each attribute's statement by key, as shown to the judge.
    """
    value = outermost_object(text)
    if value is None:
        return None
    names = _names(statements)
    revealed, open_, others_open = set(), set(), False
    for given, sentence in value.items():
        key = _attribute(given, statements, names)
        if key is None:
            others_open = True
        elif isinstance(sentence, str) and sentence.strip():
            revealed.add(key)
        else:
            open_.add(key)
    return Reveals(frozenset(revealed), frozenset(open_ - revealed), others_open)


def _names(statements: Mapping[str, str]) -> dict[str, set[str]]:
    """The attributes that a folded key or statement may mean."""
    names: dict[str, set[str]] = {}
    for key, statement in statements.items():
        for text in (key, statement):
            names.setdefault(_fold(text), set()).add(key)
    return names


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".")


def _attribute(
    given: str, statements: Mapping[str, str], names: Mapping[str, set[str]]
) -> str | None:
    if given in statements:
        return given
    found = names.get(_fold(given), set())
    if not found and _ARROW.search(given):
        head, tail = _ARROW.split(given, maxsplit=1)
        # Both sides must mean one attribute: a key beside another's statement means neither.
        found = names.get(_fold(head), set()) & names.get(_fold(tail), set(statements))
    return next(iter(found)) if len(found) == 1 else None
