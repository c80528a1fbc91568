"""Profiles as the rows that cross stages: what a memory may see, and apart from it the rest."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from memrepro.benchmarks.cimemories.profiles import Attribute, Profile
from memrepro.records import (
    CIMemoriesAttribute,
    CIMemoriesContext,
    CIMemoriesDomain,
    CIMemoriesStatement,
)


class Rows(NamedTuple):
    """The rows of all profiles."""

    statements: list[CIMemoriesStatement]
    contexts: list[CIMemoriesContext]
    domains: list[CIMemoriesDomain]
    attributes: list[CIMemoriesAttribute]


def build(profiles: Sequence[Profile]) -> Rows:
    """Number profiles and contexts from 0 and attributes from 1, in the order of the data."""
    rows = Rows([], [], [], [])
    for number, profile in enumerate(profiles):
        for position, one in enumerate(profile.attributes, start=1):
            place = {"profile": number, "position": position}
            rows.statements.append(
                CIMemoriesStatement(
                    **place, statement=one.statement, released=_released(profile.bio, one)
                )
            )
            rows.domains.append(CIMemoriesDomain(**place, domain=one.domain))
            rows.attributes.append(
                CIMemoriesAttribute(
                    **place,
                    name=profile.name,
                    key=one.key,
                    value=one.value,
                    domain=one.domain,
                    statement=one.statement,
                )
            )
        rows.contexts.extend(
            CIMemoriesContext(
                profile=number, place=place, recipient=one["recipient"], task=one["task"]
            )
            for place, one in enumerate(profile.contexts)
        )
    return rows


def _released(bio: dict[str, Any], attribute: Attribute) -> str:
    """What the released prompt form shows for an attribute: for the biography's keys, its text."""
    if attribute.key not in bio:
        return attribute.statement
    told = " ".join(str(bio[attribute.key]).split())
    return {
        "name": f"My name is {told}.",
        "age": f"I am {told} years old.",
        "sex": f"My sex is {told}.",
        "address": f"My address is {told}.",
    }.get(attribute.key, attribute.statement)
