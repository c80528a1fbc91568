"""CIMemories' rows.

What stands once an attribute of a profile in the data stands once a letter here: `labels` and
`reveals` hold one letter an attribute, in the profile's order. A full run has half a million of
them a system, and its score rows are committed.
"""

from typing import Any, ClassVar, Literal

from pydantic import Field

from memrepro.records.base import Record, Status


class CIMemoriesStatement(Record):
    """What a memory system may see of an attribute; `position` counts from 1 in its profile.

    `released` is what the released code puts into the prompt in the statement's place: for the
    four keys of the biography, a sentence made from that.
    """

    identity: ClassVar[tuple[str, ...]] = ("profile", "position")
    profile: int = Field(ge=0)
    position: int = Field(ge=1)
    statement: str
    released: str


class CIMemoriesContext(Record):
    """A recipient and a task; `place` counts from 0 in its profile."""

    identity: ClassVar[tuple[str, ...]] = ("profile", "place")
    profile: int = Field(ge=0)
    place: int = Field(ge=0)
    recipient: str
    task: str


class CIMemoriesComposition(Record):
    """Which statements of a profile are in memory for a context; `full`: all of them."""

    identity: ClassVar[tuple[str, ...]] = ("profile", "place", "composition")
    profile: int = Field(ge=0)
    place: int = Field(ge=0)
    composition: str
    positions: tuple[int, ...]


class CIMemoriesDomain(Record):
    """The information domain of an attribute: for a system with rules about domains."""

    identity: ClassVar[tuple[str, ...]] = ("profile", "position")
    profile: int = Field(ge=0)
    position: int = Field(ge=1)
    domain: str


class CIMemoriesAttribute(Record):
    """An attribute as released; judge-only."""

    identity: ClassVar[tuple[str, ...]] = ("profile", "position")
    profile: int = Field(ge=0)
    position: int = Field(ge=1)
    name: str
    key: str
    value: Any
    domain: str
    statement: str


class CIMemoriesLabels(Record):
    """The labels of a context: n(ecessary), i(nappropriate) or a(mbiguous) an attribute."""

    identity: ClassVar[tuple[str, ...]] = ("profile", "place")
    profile: int = Field(ge=0)
    place: int = Field(ge=0)
    labels: str = Field(pattern="^[nia]+$")


class CIMemoriesCounts(Record):
    """How many of one persona's parsed samples put an attribute where, in one context."""

    identity: ClassVar[tuple[str, ...]] = ("profile", "place", "persona", "position")
    profile: int = Field(ge=0)
    place: int = Field(ge=0)
    persona: str
    position: int = Field(ge=1)
    necessary: int = Field(ge=0)
    private: int = Field(ge=0)
    unlabeled: int = Field(ge=0)


class CIMemoriesSelection(Record):
    """The statements that a system returned for a context, best first."""

    identity: ClassVar[tuple[str, ...]] = ("profile", "place", "composition", "system")
    profile: int = Field(ge=0)
    place: int = Field(ge=0)
    composition: str
    system: str
    positions: tuple[int, ...]
    context_sha256: str
    state_before: str
    state_after: str


_MESSAGE = ("profile", "place", "prompt_level", "composition", "trial", "system")


class CIMemoriesAnswer(Record):
    """A message that a model composed, or how its call failed."""

    identity: ClassVar[tuple[str, ...]] = _MESSAGE
    profile: int = Field(ge=0)
    place: int = Field(ge=0)
    prompt_level: int = Field(ge=1, le=4)
    composition: str
    trial: int = Field(ge=0)
    system: str
    status: str
    text: str | None
    key: str
    raised_cap: bool


class CIMemoriesVerdict(Record):
    """What one judge says a message reveals; the judge `verbatim` is the deterministic one.

    `reveals` holds 1 (revealed), 0 (not) or x (the judge failed to say) an attribute. The
    deterministic composer has no prompt: its level is 0. `key`, `raw` and `raised_cap` are
    as in `InMindVerdict`.
    """

    identity: ClassVar[tuple[str, ...]] = (*_MESSAGE, "judge")
    profile: int = Field(ge=0)
    place: int = Field(ge=0)
    prompt_level: int = Field(ge=0, le=4)
    composition: str
    trial: int = Field(ge=0)
    system: str
    judge: str
    status: Status
    reveals: str = Field(pattern="^[01x]+$")
    key: str | None = None
    raw: str | None = None
    raised_cap: bool = False


class CIMemoriesScore(Record):
    """What a message reveals by one kind of judge: numbers only, so that it can be committed."""

    identity: ClassVar[tuple[str, ...]] = (
        "system",
        "judge",
        "profile",
        "place",
        "prompt_level",
        "composition",
        "trial",
    )
    system: str
    judge: Literal["verbatim", "model"]
    profile: int = Field(ge=0)
    place: int = Field(ge=0)
    prompt_level: int = Field(ge=0, le=4)
    composition: str
    trial: int = Field(ge=0)
    status: Status
    reveals: str = Field(pattern="^[01x]+$")
    raised_cap: bool
