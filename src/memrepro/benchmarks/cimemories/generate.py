"""Profiles as the paper makes them: a biography, three events, nine domains, seven attributes.

CIMemories (arXiv:2511.14937, section 3) takes the biographies from Faker and has a model write the
attributes. Here templates write them, or a model (`model_profiles`); the outline is the same for
both. Every draw rests on the seed and on what is drawn, so that no row added moves another.
"""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from faker import Faker

from memrepro.benchmarks.cimemories.contradictions import refuse_contradictions
from memrepro.benchmarks.cimemories.profiles import Attribute
from memrepro.benchmarks.cimemories.tables import (
    ATTRIBUTES,
    DOMAINS,
    GENERAL,
    Context,
    Event,
    Tables,
    Template,
    slug,
    wordings,
)
from memrepro.benchmarks.cimemories.values import KINDS, Scene, generator
from memrepro.digest import seed_of
from memrepro.errors import InputError

EVENTS = 3  # of a profile
AGES = (21, 70)
# Events begin within two years from here: profiles know no today.
_FIRST_DAY = date(2022, 1, 3)
_DAYS = 730


class Bio(NamedTuple):
    """A person as Faker makes one; sex is M or F."""

    name: str
    sex: str
    address: str
    age: int


class Outline(NamedTuple):
    """A profile before its events are told: who it is, and what happened to them."""

    number: int
    bio: Bio
    general: tuple[Attribute, ...]
    events: tuple[Event, ...]


def outlines(tables: Tables, *, profiles: int, seed: int) -> list[Outline]:
    """The outlines of profiles 0, 1, …: no two have one name, and more profiles move none.

    Raises:
        InputError: there are fewer events than a profile has.
    """
    if len(tables.events) < EVENTS:
        raise InputError("too few events", expected=EVENTS, found=len(tables.events))
    faker = Faker("en_US")
    names: set[str] = set()
    found = []
    for number in range(profiles):
        bio = _bio(faker, seed, number, names)
        names.add(bio.name)
        scene = (seed, number, bio, faker)
        general = (*_told(bio), *_written(tables.templates, GENERAL, GENERAL, *scene))
        found.append(Outline(number, bio, general, _events(tables, seed, number)))
    return found


def generate_profiles(
    tables: Tables, *, profiles: int, seed: int, contexts: int
) -> list[dict[str, Any]]:
    """Profiles in the shape of the released file, their attributes written by the templates.

    Raises:
        InputError: the tables hold too little, or what they say contradicts itself.
    """
    faker = Faker("en_US")
    found = []
    for outline in outlines(tables, profiles=profiles, seed=seed):
        scene = (seed, outline.number, outline.bio, faker)
        attributes = [
            (event.event, attribute)
            for event in outline.events
            for domain in DOMAINS
            for attribute in _written(
                _chosen(tables.templates, seed, outline.number, event, domain),
                event.event,
                domain,
                *scene,
            )
        ]
        found.append(assemble(tables, outline, attributes, contexts=contexts))
    return found


def assemble(
    tables: Tables,
    outline: Outline,
    attributes: Iterable[tuple[str, Attribute]],
    *,
    contexts: int,
) -> dict[str, Any]:
    """A profile in the shape of the released file.

    Args:
        tables: for the contexts, of which the first so many are taken.
        outline: the profile's outline.
        attributes: the events' attributes in order, each with its event.
        contexts: how many contexts.

    Raises:
        InputError: there are fewer contexts, or attributes contradict each other; names profile
            and keys.
    """
    told = [*((GENERAL, one) for one in outline.general), *attributes]
    refuse_contradictions(outline.bio._asdict(), [one for _, one in told], profile(outline))
    return {
        "bio": outline.bio._asdict(),
        "information_attributes": {
            one.key: {
                "value": one.value,
                "information_domain": one.domain,
                "event": event,
                "memory_statement": one.statement,
            }
            for event, one in told
        },
        "contexts": [
            {"recipient": one.recipient, "task": one.task}
            for one in first_contexts(tables, contexts)
        ],
    }


def first_contexts(tables: Tables, count: int) -> tuple[Context, ...]:
    """The first so many contexts.

    Raises:
        InputError: there are fewer.
    """
    if count > len(tables.contexts):
        raise InputError(
            "there are fewer contexts",
            where="--contexts",
            expected=f"at most {len(tables.contexts)}",
            found=count,
        )
    return tables.contexts[:count]


def profile(outline: Outline) -> str:
    """How an error names a profile."""
    return f"profile {outline.number} ({outline.bio.name})"


def _bio(faker: Faker, seed: int, number: int, names: set[str]) -> Bio:
    draw = generator(seed, "bio", number)
    sex = "MF"[int(draw.integers(2))]
    age = int(draw.integers(*AGES, endpoint=True))
    for attempt in range(1000):
        faker.seed_instance(seed_of(seed, "bio", number, attempt))
        first = faker.first_name_male() if sex == "M" else faker.first_name_female()
        name = f"{first} {faker.last_name()}"
        if name not in names:
            return Bio(name, sex, faker.address(), age)
    raise InputError("there are too few names", where="--profiles", found=f"{number} profiles")


def _told(bio: Bio) -> tuple[Attribute, ...]:
    """The biography as attributes."""
    address = bio.address.replace("\n", ", ")
    person = "a man" if bio.sex == "M" else "a woman"
    return (
        Attribute("name", bio.name, GENERAL, f"{bio.name} is my name."),
        Attribute("sex", bio.sex, GENERAL, f"I am {person}."),
        Attribute("address", bio.address, GENERAL, f"My home is at {address}."),
        Attribute("age", bio.age, GENERAL, f"I am {bio.age} years old."),
    )


def _events(tables: Tables, seed: int, number: int) -> tuple[Event, ...]:
    """The first three of the events as this profile's draws rank them."""
    ranked = sorted(
        tables.events, key=lambda one: (seed_of(seed, "event", number, one.event), one.event)
    )
    return tuple(ranked[:EVENTS])


def _chosen(
    templates: Sequence[Template], seed: int, number: int, event: Event, domain: str
) -> list[Template]:
    """Seven templates of a domain as this event's draws rank them, in the table's order."""
    given = [one for one in templates if one.domain == domain and one.fits in ("any", event.kind)]
    place = ("template", number, event.event, domain)
    ranked = sorted(given, key=lambda one: seed_of(seed, *place, one.key))
    return [one for one in given if one in ranked[:ATTRIBUTES]]


def _written(
    templates: Iterable[Template],
    event: str,
    domain: str,
    seed: int,
    number: int,
    bio: Bio,
    faker: Faker,
) -> list[Attribute]:
    """What the templates of one domain say of an event, or of the person in general."""
    offset = int(generator(seed, "start", number, event).integers(_DAYS))
    start = _FIRST_DAY + timedelta(days=offset)
    prefix = "" if domain == GENERAL else f"{slug(event)}_"
    attributes = []
    for one in templates:
        if one.domain != domain:
            continue
        place = (number, event, domain, one.key)
        drawn = KINDS[one.kind].drawn(
            one.value, Scene(generator(seed, "value", *place), faker, bio.age, start)
        )
        given = wordings(one)
        choice = generator(seed, "wording", *place).integers(len(given))
        wording = given[choice if one.kind != "flag" else 0 if drawn.value else 1]
        statement = wording.replace("{event}", event).replace("{value}", drawn.written)
        attributes.append(Attribute(prefix + one.key, drawn.value, domain, statement))
    return attributes
