"""The project's own tables: life events, contexts with their label rules, attribute templates.

Each is a CSV file under `data/cimemories/`; here its text is checked and becomes rows.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from memrepro.benchmarks.cimemories.values import KINDS, Kind
from memrepro.errors import InputError

# The paper's nine domains, in the order in which a profile lists them; `general` comes before.
DOMAINS = (
    "finance", "employment", "legal", "relationships", "housing",
    "health", "mental_health", "schedule", "education",
)  # fmt: skip
GENERAL = "general"
EVENT_KINDS = ("hard", "positive")
ATTRIBUTES = 7  # of a domain, for each event
_KEY = re.compile("[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


class Event(NamedTuple):
    """A life event, as a noun that `the` can stand before; `kind` is hard or positive."""

    event: str
    kind: str


class Context(NamedTuple):
    """Who is told, for what; the domains that this needs, and those that must be withheld.

    What is in neither is ambiguous.
    """

    recipient: str
    task: str
    needs: frozenset[str]
    withholds: frozenset[str]


class Template(NamedTuple):
    """An attribute in waiting: `value` says what may be drawn (see `values`).

    `fits` is the kind of event that it can be told of, or any. In `statement`, {value} and {event}
    are filled. It may hold several wordings with bars between, of which one is drawn; that of a
    flag holds two, for true and for false.
    """

    domain: str
    key: str
    fits: str
    kind: Kind
    value: str
    statement: str


class Tables(NamedTuple):
    """All three."""

    events: tuple[Event, ...]
    contexts: tuple[Context, ...]
    templates: tuple[Template, ...]


def parse_events(text: str, where: str) -> tuple[Event, ...]:
    """The events of a CSV text.

    Raises:
        InputError: the table is malformed, or two events make one prefix of keys; names the line.
    """
    events = []
    for place, (event, kind) in _rows(text, ("event", "kind"), where):
        if kind not in EVENT_KINDS or not event:
            raise InputError("no such kind", where=place, expected="hard or positive", found=kind)
        events.append(Event(event, kind))
    _refuse_doubles([slug(one.event) for one in events], where)
    return tuple(events)


def parse_contexts(text: str, where: str) -> tuple[Context, ...]:
    """The contexts of a CSV text.

    Raises:
        InputError: the table is malformed, a domain is unknown or both needed and withheld, or a
            context stands twice; names the line.
    """
    contexts = []
    for place, row in _rows(text, ("recipient", "task", "needs", "withholds"), where):
        recipient, task, needs, withholds = row
        contexts.append(Context(recipient, task, *parse_rule(needs, withholds, place)))
    _refuse_doubles([f"{one.recipient}: {one.task}" for one in contexts], where)
    return tuple(contexts)


def parse_pairs(text: str, where: str) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Needs and withholds of the released contexts, by the SHA-256 of `<recipient>: <task>`.

    Raises:
        InputError: as `parse_contexts`.
    """
    rows = list(_rows(text, ("sha256", "needs", "withholds"), where))
    _refuse_doubles([row[0] for _, row in rows], where)
    return {row[0]: parse_rule(row[1], row[2], place) for place, row in rows}


def parse_rule(needs: str, withholds: str, where: str) -> tuple[frozenset[str], frozenset[str]]:
    """The domains of two fields, each with at least one, none in both.

    Raises:
        InputError: one is empty, a domain is unknown, or one stands in both; names `where`.
    """
    needed, withheld = frozenset(needs.split()), frozenset(withholds.split())
    unknown = (needed | withheld) - {*DOMAINS, GENERAL}
    if unknown or not needed or not withheld or needed & withheld:
        raise InputError(
            "needs and withholds must name domains, none of them in both",
            where=where,
            expected=", ".join((*DOMAINS, GENERAL)),
            found=f"{needs!r} and {withholds!r}",
        )
    return needed, withheld


def parse_templates(text: str, where: str) -> tuple[Template, ...]:
    """The templates of a CSV text.

    Raises:
        InputError: the table is malformed, a key stands twice, or a domain has too few; names the
            line.
    """
    columns = ("domain", "key", "fits", "kind", "value", "statement")
    templates = [_template(row, place) for place, row in _rows(text, columns, where)]
    _refuse_doubles([one.key for one in templates], where)
    for domain, kind in product(DOMAINS, EVENT_KINDS):
        found = sum(one.domain == domain and one.fits in (kind, "any") for one in templates)
        if found < ATTRIBUTES:
            raise InputError(
                f"{domain} has too few templates for {kind} events",
                where=where,
                expected=ATTRIBUTES,
                found=found,
            )
    return tuple(templates)


def slug(event: str) -> str:
    """What the keys of an event's attributes begin with."""
    return "_".join(re.findall("[a-z0-9]+", event.lower()))


def wordings(template: Template) -> list[str]:
    """A template's statements, to draw from; those of a flag are for true and for false."""
    return template.statement.split("|")


def _template(row: list[str], place: str) -> Template:
    domain, key, fits, kind, value, statement = row
    if domain not in (*DOMAINS, GENERAL) or not _KEY.fullmatch(key):
        raise InputError("no such domain, or no key", where=place, found=f"{domain}, {key}")
    if fits not in (*EVENT_KINDS, "any"):
        raise InputError(
            "fits no kind of event", where=place, expected="any, hard or positive", found=fits
        )
    known: Kind | None = next((one for one in KINDS if one == kind), None)
    if known is None:
        raise InputError("no such kind", where=place, expected=", ".join(KINDS), found=kind)
    if not KINDS[known].spec.fullmatch(value):
        raise InputError(
            f"is no value of kind {kind}",
            where=place,
            expected=KINDS[known].spec.pattern,
            found=value,
        )
    template = Template(domain, key, fits, known, value, statement)
    unwanted = {"value"} if kind == "flag" else set()
    unwanted |= {"event"} if domain == GENERAL else set()
    wanted = {"event", "value"} - unwanted
    given = [set(re.findall(r"\{(\w*)\}", one)) for one in wordings(template)]
    if any(one != wanted for one in given) or (kind == "flag" and len(given) != 2):
        raise InputError(
            "the statement does not hold its placeholders",
            where=place,
            expected=" and ".join(f"{{{one}}}" for one in sorted(wanted)) or "none",
            found=statement,
        )
    return template


def _rows(text: str, columns: tuple[str, ...], where: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each row below the head with its place."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = next(reader, [])
        if tuple(head) != columns:
            raise InputError(
                "other columns",
                where=f"{where}, line 1",
                expected=",".join(columns),
                found=",".join(head),
            )
        for row in reader:
            place = f"{where}, line {reader.line_num}"
            if len(row) != len(columns) or any(cell != cell.strip() for cell in row):
                raise InputError(
                    "malformed row", where=place, expected=",".join(columns), found=",".join(row)
                )
            yield place, row
    except csv.Error as error:
        raise InputError(f"not valid CSV: {error}", where=where) from None


def _refuse_doubles(names: Sequence[str], where: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError("stands twice", where=where, found=name)
