"""A profile as upstream releases it (`data/data_openai_gpt-oss-120b.json`), checked."""

from typing import Any, NamedTuple

from memrepro.benchmarks.cimemories.fields import member, typed
from memrepro.errors import InputError


class Attribute(NamedTuple):
    """One thing that is remembered of a person; some released values are null or no string."""

    key: str
    value: Any
    domain: str
    statement: str


class Profile(NamedTuple):
    """A person's name, attributes in file order, and contexts as given, their two names checked.

    `bio` is as given.
    """

    name: str
    bio: dict[str, Any]
    attributes: tuple[Attribute, ...]
    contexts: tuple[dict[str, Any], ...]


def parse_profiles(value: Any, where: str) -> list[Profile]:
    """Check a whole file of profiles.

    Args:
        value: the parsed JSON value.
        where: the file, for errors.

    Raises:
        InputError: it is no list, holds no profile, or one is refused by `parse_profile`.
    """
    if not isinstance(value, list) or not value:
        raise InputError("must be a list of profiles", where=where)
    return [parse_profile(one, f"{where}, profile {at}") for at, one in enumerate(value)]


def parse_profile(value: Any, where: str) -> Profile:
    """Check one profile; further keys are allowed, as upstream.

    Args:
        value: the parsed JSON value.
        where: file and line or place, for errors.

    Raises:
        InputError: a field is missing or of a wrong type, there is no attribute, or two contexts
            have one recipient and task; names `where` and the field.
    """
    place = f"{where}, field "
    profile = typed(value, dict, where)
    bio = member(profile, "bio", dict, place)
    name = member(bio, "name", str, f"{place}bio.")
    given = member(profile, "information_attributes", dict, place)
    if not given:
        raise InputError("holds no attribute", where=f"{place}information_attributes")
    attributes = tuple(_attribute(key, one, place) for key, one in given.items())
    contexts = _contexts(member(profile, "contexts", list, place), place)
    return Profile(name, bio, attributes, contexts)


def _attribute(key: str, value: Any, place: str) -> Attribute:
    inside = f"{place}information_attributes.{key}"
    attribute = typed(value, dict, inside)
    domain = member(attribute, "information_domain", str, f"{inside}.")
    statement = member(attribute, "memory_statement", str, f"{inside}.")
    return Attribute(key, attribute.get("value"), domain, statement)


def _contexts(values: list[Any], place: str) -> tuple[dict[str, Any], ...]:
    seen: dict[tuple[str, str], int] = {}
    for number, value in enumerate(values):
        inside = f"{place}contexts[{number}]"
        context = typed(value, dict, inside)
        pair = (
            member(context, "recipient", str, f"{inside}."),
            member(context, "task", str, f"{inside}."),
        )
        if pair in seen:
            raise InputError(
                f"recipient and task stand at contexts[{seen[pair]}] already",
                where=inside,
                found=" | ".join(pair),
            )
        seen[pair] = number
    return tuple(values)
