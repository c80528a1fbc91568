"""Strict parsing of verdicts: a score, or nothing."""

import re
from typing import Any

from memrepro.errors import InputError
from memrepro.files import parse_json
from memrepro.params import StructuredOutput

_FENCE = re.compile(r"\A```[A-Za-z0-9_-]*[ \t]*\n(.*)\n[ \t]*```\Z", re.DOTALL)

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "score": {"type": "integer", "enum": [0, 1]},
        "reason": {"type": "string"},
    },
    "required": ["score", "reason"],
    "additionalProperties": False,
}


def verdict_format(mode: StructuredOutput) -> dict[str, Any] | None:
    """The `response_format` that holds a judge to a verdict, in the form that its server takes."""
    return response_format("verdict", _SCHEMA, mode)


def response_format(
    name: str, schema: dict[str, Any], mode: StructuredOutput
) -> dict[str, Any] | None:
    """The `response_format` that holds a model to a JSON schema, in the form its server takes."""
    if mode == "json_schema":
        named = {"name": name, "strict": True, "schema": schema}
        return {"type": "json_schema", "json_schema": named}
    return {"type": "json_object", "schema": schema} if mode == "json_object" else None


def without_fence(text: str) -> str:
    """A reply without the one code fence that may stand round all of it."""
    stripped = text.strip()
    fence = _FENCE.match(stripped)
    return fence.group(1) if fence else stripped


def parse_verdict(text: str) -> int | None:
    """The verdict's score, 0 or 1; None, a judge error, for anything else.

    One code fence round the whole reply is taken off. What is left must be exactly one JSON object
    whose `score` is the integer 0 or 1: no text around it, no string, no boolean, no 1.0.
    """
    try:
        value = parse_json(without_fence(text), where="verdict")
    except InputError:
        return None
    score = value.get("score") if isinstance(value, dict) else None
    return score if type(score) is int and score in (0, 1) else None
