"""Placeholders of prompts: each filled once, and what is filled in is never looked at again."""

import pytest

from memrepro.errors import InputError
from memrepro.prompts import fill, fill_all


def test_what_is_filled_in_is_no_template() -> None:
    assert fill("a {x} {y}", "x", "{x}{y}", where="p.txt") == "a {x}{y} {y}"
    filled = fill_all("{a} {b} {a} {c}", {"a": "{b}", "b": "2"}, where="p.txt")
    assert filled == "{b} 2 {b} {c}"


@pytest.mark.parametrize(("template", "times"), [("none", 0), ("{x} and {x}", 2), ("{ x }", 0)])
def test_a_placeholder_stands_exactly_once(template: str, times: int) -> None:
    with pytest.raises(InputError, match="does not hold its placeholder once") as caught:
        fill(template, "x", "text", where="p.txt")
    assert (caught.value.where, caught.value.expected) == ("p.txt", "{x} once")
    assert caught.value.found == f"{times} times"


def test_a_prompt_lacks_none_of_its_placeholders() -> None:
    with pytest.raises(InputError, match="the prompt lacks a placeholder") as caught:
        fill_all("{a}", {"a": "1", "b": "2"}, where="p.txt")
    assert (caught.value.where, caught.value.expected) == ("p.txt", "{b}")
