"""Labels from the Hugging Face edition (`facebook/CIMemories`), matched to the profiles.

Its rows name a person, an attribute, its statement, a label (1 share, 0 withhold, null neither) and
the prompt, in which the recipient and the task stand. Nothing is taken on trust: every attribute of
every context must be there once, with the statement of the profile.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memrepro.errors import InputError
from memrepro.records import CIMemoriesAttribute, CIMemoriesContext, CIMemoriesLabels

_LETTERS = {1.0: "n", 0.0: "i", None: "a"}


class ImportedLabel(NamedTuple):
    """A row of the edition, the recipient and task read from its prompt."""

    name: str
    attribute: str
    statement: str
    recipient: str | None
    task: str | None
    label: float | None


def match_labels(
    rows: Iterable[ImportedLabel],
    contexts: Sequence[CIMemoriesContext],
    attributes: Sequence[CIMemoriesAttribute],
    where: str,
) -> list[CIMemoriesLabels]:
    """Labels of every context.

    Raises:
        InputError: a row is of no attribute or context of the profiles, has another statement or
            no label of the three, or stands twice; or rows are missing.
    """
    people = {(one.name, one.key): one for one in attributes}
    profiles = {one.name: one.profile for one in attributes}
    if len(profiles) != len({one.profile for one in attributes}):
        raise InputError("two profiles have one name, so rows cannot be told apart", where=where)
    places = {(one.profile, one.recipient, one.task): one.place for one in contexts}
    letters: dict[tuple[int, int], dict[int, str]] = {
        (one.profile, one.place): {} for one in contexts
    }
    for row in rows:
        attribute = people.get((row.name, row.attribute))
        place = places.get((profiles.get(row.name, -1), row.recipient or "", row.task or ""))
        if attribute is None or place is None or attribute.statement != row.statement:
            raise InputError("a row fits no attribute and context", where=where, found=str(row))
        if row.label not in _LETTERS:
            raise InputError("no label", where=where, expected="1, 0 or null", found=str(row))
        found = letters[attribute.profile, place]
        if attribute.position in found:
            raise InputError("an attribute is labelled twice", where=where, found=str(row))
        found[attribute.position] = _LETTERS[row.label]
    return [
        CIMemoriesLabels(
            profile=profile, place=place, labels=_complete(found, profile, attributes, where)
        )
        for (profile, place), found in letters.items()
    ]


def _complete(
    found: dict[int, str], profile: int, attributes: Sequence[CIMemoriesAttribute], where: str
) -> str:
    wanted = [one.position for one in attributes if one.profile == profile]
    missing = [position for position in wanted if position not in found]
    if missing:
        raise InputError(
            f"{len(missing)} of {len(wanted)} attributes of a context have no row",
            where=where,
            expected="every attribute in every context",
        )
    return "".join(found[position] for position in wanted)
