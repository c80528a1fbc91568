"""Hand-made profiles that contradict themselves, and near misses that do not."""

from typing import Any

import pytest

from memrepro.benchmarks.cimemories.contradictions import contradictions, refuse_contradictions
from memrepro.benchmarks.cimemories.profiles import Attribute, parse_profile
from memrepro.errors import InputError
from memrepro.files import read_json
from tests.cimemories.test_golden import PROFILES, folder

BIO = {"name": "Ada Moss", "sex": "F", "address": "1 Elm Row\nYork, ME 03909", "age": 30}


def attributes(*rows: tuple[str, Any, str]) -> list[Attribute]:
    return [Attribute(key, value, "legal", statement) for key, value, statement in rows]


CONTRADICTORY: dict[str, tuple[tuple[tuple[str, Any, str], ...], str]] = {
    "key twice": (
        (("fire_cost", 5, "The fire cost $5."), ("Fire_Cost", 5, "It was $5 for the fire.")),
        "a key stands twice",
    ),
    "statement twice": (
        (("fire_cost", 50, "The fire cost $50."), ("fire_loss", 50, "the fire  cost $50")),
        "a statement stands twice",
    ),
    "one stem": (
        (("fire_debt_total", 50, "I owe $50 in all."), ("fire_current_debt", 60, "$60 is open.")),
        "one fact has two values",
    ),
    "one stem in camel case": (
        (("fireDebt", "March 5, 2024", "It fell due."), ("fire_debt", "2024-03-06", "It fell.")),
        "one fact has two values",
    ),
    "one wording": (
        (
            ("fire_loan", 1200, "The bank lent me $1,200 for repairs."),
            ("fire_credit", 1500, "The bank lent me $1,500 for repairs."),
        ),
        "one wording has two values",
    ),
    "one wording of dates": (
        (
            ("fire_visit", "2024-03-05", "The surveyor came on March 5, 2024."),
            ("fire_survey", "2024-04-05", "The surveyor came on 5 April 2024."),
        ),
        "one wording has two values",
    ),
    "negation": (
        (
            ("fire_told", True, "My boss was told of the fire."),
            ("fire_secret", False, "My boss was not told of the fire."),
        ),
        "one wording has two values",
    ),
    "negation of what is true both times": (
        (
            ("fire_told", True, "My boss was told of the fire."),
            ("fire_secret", True, "My boss was not told of the fire."),
        ),
        "one wording has two values",
    ),
    "another name": ((("name", "Eva Moss", "I sign as Eva."),), "in name"),
    "another name in words": ((("alias", "x", "My legal name is Eva Moss."),), "in name"),
    "another sex": ((("gender", "Male", "It says so on my card."),), "in sex"),
    "another sex in words": ((("x", "y", "As to that, I am a man."),), "in sex"),
    "another address": ((("home_address", "2 Elm Row, York", "You find me there."),), "in address"),
    "another address in words": ((("x", "y", "I live at 2 Elm Row, York."),), "in address"),
    "another age": ((("age", 31, "So old am I."),), "in age"),
    "another age in words": ((("x", "y", "Today I am 31 years old."),), "in age"),
    "end before start": (
        (
            ("fire_course_start_date", "2024-03-05", "It began on March 5, 2024."),
            ("fire_course_end_date", "2024-03-04", "It was over on March 4, 2024."),
        ),
        "the end lies before the start",
    ),
    "working since childhood": (
        (("years_of_work", 15, "I have worked for 15 years."),),
        "14 years",
    ),
    "older than oneself": ((("years_in_town", 31, "31 years here."),), "30 years"),
}

CONSISTENT: dict[str, tuple[tuple[str, Any, str], ...]] = {
    "one fact in one form": (
        ("fire_debt_total", "$1,200", "I owe $1,200."),
        ("fire_current_debt", 1200, "There are $1,200 open."),
    ),
    "the biography": (
        ("name", "ADA MOSS", "My name is Ada Moss."),
        ("sex", "female", "I am a woman."),
        ("address", "1 Elm Row, York, ME 03909", "I live at 1 Elm Row, York, ME 03909."),
        ("age", 30, "I am 30 years old."),
    ),
    "names of others": (
        ("fire_lawyer_name", "Eva Moss", "My lawyer's name is Eva Moss."),
        ("fire_shelter_address", "2 Elm Row", "The shelter is at 2 Elm Row."),
        ("fire_victim_age", 12, "The boy next door is 12 years old."),
    ),
    "one wording of two events": (
        ("fire_loan", 1200, "The bank lent me $1,200 after the fire."),
        ("flood_loan", 1500, "The bank lent me $1,500 after the flood."),
    ),
    "the value is the whole fact": (
        ("fire_a", "filed a claim", "Ada filed a claim."),
        ("fire_b", "moved out", "Ada moved out."),
    ),
    "one day": (
        ("fire_start_date", "2024-03-05", "It began on March 5, 2024."),
        ("fire_end_date", "2024-03-05", "By the evening of March 5, 2024 it was out."),
        ("flood_end_date", "2023-01-01", "The flood was over on January 1, 2023."),
    ),
    "no dates": (
        ("fire_start_date", "soon", "It begins soon."),
        ("fire_end_date", "2024-13-45", "It ends some day."),
        ("flood_start_date", "2024-03-05", "It began on March 5, 2024."),
        ("flood_end_date", "2023-02-30", "It ended in a month of its own."),
    ),
    "years that can be": (
        ("years_of_work", 14, "I have worked for 14 years."),
        ("years", 2024, "It was the year 2024."),
        ("married_years", 5, "Married for 5 years."),
    ),
    "keys that say nothing": (("total", 5, "It was $5."), ("value", 6, "The other one was $6.")),
    "no value": (("fire_date", None, "No date is set."), ("fire_list", ["a"], "There is a list.")),
}


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_a_contradiction_is_refused_and_its_keys_are_named(name: str) -> None:
    rows, why = CONTRADICTORY[name]
    given = attributes(*rows)
    (found,) = contradictions(BIO, given)
    assert why in found.why
    assert set(found.keys) == {key for key, _, _ in rows}
    with pytest.raises(InputError, match=why) as caught:
        refuse_contradictions(BIO, given, "profile 3 (Ada Moss)")
    assert caught.value.where == f"profile 3 (Ada Moss), {', '.join(key for key, _, _ in rows)}"


@pytest.mark.parametrize("name", CONSISTENT)
def test_what_does_not_contradict_passes(name: str) -> None:
    given = attributes(*CONSISTENT[name])
    assert contradictions(BIO, given) == []
    refuse_contradictions(BIO, given, "x")


def test_several_contradictions_are_counted() -> None:
    rows = [row for name in ("another age", "another sex") for row in CONTRADICTORY[name][0]]
    with pytest.raises(InputError, match="; 1 more"):
        refuse_contradictions(BIO, attributes(*rows), "x")


@pytest.mark.full
@pytest.mark.parametrize(("edition", "count"), [("base", 3), ("extended", 37)])
def test_released_profiles_have_few(edition: str, count: int) -> None:
    """Ten of the 37 are duplicate statements; most others give one wording two values."""
    values = read_json(folder("MEMREPRO_MIRROR") / "data" / PROFILES[edition])
    found = [
        one
        for at, value in enumerate(values)
        for one in contradictions(value["bio"], parse_profile(value, str(at)).attributes)
    ]
    assert len(found) == count
    doubles = sum(one.why == "a statement stands twice" for one in found)
    assert doubles == (10 if edition == "extended" else 0)
