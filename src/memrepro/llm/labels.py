"""Parsing of label replies, which sort statements into those to share and those to keep private."""

import json
from typing import Any, NamedTuple


class LabelSample(NamedTuple):
    """The statements that one reply sorted, as it wrote them."""

    share: frozenset[str]
    private: frozenset[str]


def outermost_object(text: str) -> dict[str, Any] | None:
    """The JSON object from a reply's first `{` to its last `}`; None if there is no such object.

    The rule of the released code (CIMemories, `eval/`): text round the object is passed over.
    """
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        value = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


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
