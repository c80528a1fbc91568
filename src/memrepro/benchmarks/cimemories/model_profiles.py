"""Attributes written by a model: one call for each profile, event and domain, and its reply read.

A reply that is malformed, or contradicts what the profile holds already, is refused as a whole.
"""

import json
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from memrepro.benchmarks.cimemories.contradictions import refuse_contradictions
from memrepro.benchmarks.cimemories.fields import member, shown, typed
from memrepro.benchmarks.cimemories.generate import Outline, profile
from memrepro.benchmarks.cimemories.profiles import Attribute
from memrepro.benchmarks.cimemories.tables import ATTRIBUTES, DOMAINS, slug
from memrepro.errors import InputError
from memrepro.files import parse_json
from memrepro.llm.call import Call, Reply
from memrepro.llm.verdict import response_format, without_fence
from memrepro.params import Model

# How often a call is made at most, each time as another sample, until a reply is taken.
ATTEMPTS = 4

_KEY = re.compile("[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "attributes": {
            "type": "array",
            "minItems": ATTRIBUTES,
            "maxItems": ATTRIBUTES,
            "items": {
                "type": "object",
                "properties": {
                    "key": {"type": "string"},
                    "value": {"type": ["string", "number", "boolean"]},
                    "statement": {"type": "string"},
                },
                "required": ["key", "value", "statement"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["attributes"],
    "additionalProperties": False,
}


class Order(NamedTuple):
    """What one call is to write: the attributes of one domain, for one event of a profile."""

    outline: Outline
    event: str
    domain: str

    def __str__(self) -> str:
        return f"{profile(self.outline)}, {self.event}, {self.domain}"


def orders(outlines: Sequence[Outline]) -> list[Order]:
    """Every order, in the order in which a profile lists its attributes."""
    return [
        Order(outline, event.event, domain)
        for outline in outlines
        for event in outline.events
        for domain in DOMAINS
    ]


def order_call(order: Order, prompt: str, model: Model, *, cap: int, sample: int) -> Call:
    """The request of an order, with structured output where the model has it."""
    given = {
        "person": order.outline.bio._asdict(),
        "known": [one.statement for one in order.outline.general],
        "event": order.event,
        "domain": order.domain,
        "count": ATTRIBUTES,
    }
    return Call(
        model=model.identity,
        messages=(("system", prompt), ("user", json.dumps(given, ensure_ascii=False, indent=2))),
        cap=cap,
        temperature=model.temperature,
        response_format=response_format("attributes", _SCHEMA, model.structured_output),
        sample=sample,
    )


def read_reply(order: Order, reply: Reply | None, taken: Sequence[Attribute]) -> list[Attribute]:
    """The seven attributes of a reply, their keys behind the event's prefix.

    Args:
        order: what was asked for.
        reply: the reply, failed or not.
        taken: what the profile holds already.

    Raises:
        InputError: the call failed, the reply is not exactly what was asked for, or the profile
            would contradict itself or hold a key or statement twice; says which.
    """
    where = str(order)
    if reply is None or reply.text is None:
        failure = "no reply" if reply is None else f"{reply.failure}: {reply.detail or ''}"
        raise InputError("the call failed", where=where, found=failure[:200])
    value = typed(parse_json(without_fence(reply.text), where=where), dict, where)
    entries = member(value, "attributes", list, f"{where}, field ")
    if len(entries) != ATTRIBUTES or len(value) != 1:
        raise InputError(
            "another number of attributes, or further fields",
            where=where,
            expected=ATTRIBUTES,
            found=f"{len(entries)}, fields {', '.join(value)}",
        )
    attributes = [
        _attribute(entry, order, f"{where}, field attributes[{place}]")
        for place, entry in enumerate(entries)
    ]
    refuse_contradictions(order.outline.bio._asdict(), [*taken, *attributes], where)
    return attributes


def _attribute(value: Any, order: Order, where: str) -> Attribute:
    entry = typed(value, dict, where)
    key = member(entry, "key", str, f"{where}.")
    statement = member(entry, "statement", str, f"{where}.")
    if set(entry) != {"key", "value", "statement"} or not _KEY.fullmatch(key):
        raise InputError(
            "malformed attribute",
            where=where,
            expected="key (words joined by underscores), value and statement",
            found=shown(entry),
        )
    given = entry["value"]
    if not isinstance(given, str | int | float) or given == "" or given in (math.inf, -math.inf):
        raise InputError(
            "wrong type",
            where=f"{where}.value",
            expected="a text, a number or a boolean",
            found=shown(given),
        )
    if not statement or statement != " ".join(statement.split()):
        raise InputError("is no one line", where=f"{where}.statement", found=shown(statement))
    prefix = f"{slug(order.event)}_"
    return Attribute(prefix + key.removeprefix(prefix), given, order.domain, statement)
