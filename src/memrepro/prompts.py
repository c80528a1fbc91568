"""Prompts: placeholders are filled, and what is filled in is never looked at again."""

import re
from collections.abc import Mapping

from memrepro.errors import InputError


def fill(template: str, name: str, text: str, *, where: str) -> str:
    """A template with `{name}` replaced by a text; other braces are ordinary characters.

    Args:
        template: the prompt.
        name: the placeholder's name.
        text: what takes its place, whatever it holds.
        where: the prompt's file, for an error.

    Raises:
        InputError: the placeholder does not stand in the template exactly once.
    """
    placeholder = "{" + name + "}"
    before, found, after = template.partition(placeholder)
    if not found or placeholder in after:
        raise InputError(
            "the prompt does not hold its placeholder once",
            where=where,
            expected=f"{placeholder} once",
            found=f"{template.count(placeholder)} times",
        )
    return before + text + after


def fill_all(template: str, values: Mapping[str, str], *, where: str) -> str:
    """A template with every `{name}` of several names replaced; one may stand more than once.

    Args:
        template: the prompt.
        values: the text of each name.
        where: the prompt's file, for an error.

    Raises:
        InputError: a placeholder does not stand in the template.
    """
    for name in values:
        if "{" + name + "}" not in template:
            raise InputError(
                "the prompt lacks a placeholder", where=where, expected="{" + name + "}"
            )
    names = "|".join(map(re.escape, values))
    return re.sub("{(" + names + ")}", lambda found: values[found[1]], template)
