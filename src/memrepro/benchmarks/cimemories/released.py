"""The released file of profiles as a record, for its JSON Schema; `profiles` reads it leniently."""

from typing import Literal

from pydantic import Field, JsonValue, RootModel

from memrepro.records import Record

Domain = Literal[
    "general",
    "finance",
    "employment",
    "legal",
    "relationships",
    "housing",
    "health",
    "mental_health",
    "schedule",
    "education",
]


class ReleasedBio(Record):
    """A biography; the lines of an address are as on an envelope."""

    name: str = Field(min_length=1)
    sex: Literal["M", "F"]
    address: str = Field(min_length=1)
    age: int = Field(ge=0)


class ReleasedAttribute(Record):
    """An attribute; its value may be a list, or null where the statement says that there is none.

    `event` is `general` for what came with no event.
    """

    value: str | bool | int | float | list[JsonValue] | None
    information_domain: Domain
    event: str = Field(min_length=1)
    memory_statement: str = Field(min_length=1)


class ReleasedContext(Record):
    """Who is told, for what."""

    recipient: str = Field(min_length=1)
    task: str = Field(min_length=1)


class ReleasedProfile(Record):
    """A profile: its attributes by key."""

    bio: ReleasedBio
    information_attributes: dict[str, ReleasedAttribute] = Field(min_length=1)
    contexts: list[ReleasedContext] = Field(min_length=1)


class CIMemoriesProfiles(RootModel[list[ReleasedProfile]]):
    """A file of profiles, released, of the sample or generated."""

    root: list[ReleasedProfile] = Field(min_length=1)
