"""Parsing of label replies, which sort statements into those to share and those to keep private."""

import json
from typing import Any, NamedTuple

from memrepro.llm.verdict import response_format
from memrepro.params import StructuredOutput

_LIST: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"share": _LIST, "private": _LIST},
    "required": ["share", "private"],
    "additionalProperties": False,
}


class LabelSample(NamedTuple):
    """The statements that one reply sorted, as it wrote them."""

    share: frozenset[str]
    private: frozenset[str]


def label_format(mode: StructuredOutput) -> dict[str, Any] | None:
    """The `response_format` that holds a labeller to two lists, in the form its server takes."""
    return response_format("labels", _SCHEMA, mode)


def outermost_object(text: str) -> dict[str, Any] | None:
    """The JSON object from a reply's first `{` to its last `}`; None if there is no such object.

    The rule of the released code (CIMemories, `eval/`): text round the object is passed over.
    """
    # Without one of the two, or with the two the wrong way round, what is cut out is no JSON.
    outermost = text[text.find("{") : text.rfind("}") + 1]
    try:
        value: dict[str, Any] = json.loads(outermost)
    except (ValueError, RecursionError):
        return None
    return value


def parse_labels(text: str) -> LabelSample | None:
    """A label reply's two lists; None, an unparsable sample, where one is missing or no list."""
    value = outermost_object(text)
    if value is None:
        return None
    lists = [value.get("share"), value.get("private")]
    if not all(isinstance(one, list) for one in lists):
        return None
    share, private = (
        frozenset(item for item in one if isinstance(item, str)) for one in lists if one is not None
    )
    return LabelSample(share, private)
