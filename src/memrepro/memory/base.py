"""The protocol of a memory system, and the one renderer of what it recalls (DESIGN 4).

A system sees sessions of turns (opaque id, role, text) and a query, and nothing else.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from memrepro.records import Recalled, Session, SystemKind, Turn

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Embed = Callable[[str, Sequence[str]], npt.NDArray[np.float32]]


@dataclass(frozen=True)
class Resources:
    """What a system may use beside its settings; handed in, never looked up.

    Args:
        workdir: a folder of the system's own, for libraries that must write files.
        embed: `embed(name, texts)` gives one unit vector a text, shape (n, 384), float32;
            a pure function of name and text. None where no embedder was set up.
    """

    workdir: Path
    embed: Embed | None = None


class MemorySystem(abc.ABC):
    """One memory system in one state. Synchronous; a state is changed by ingest and retain only.

    Class attributes:
        kind: what the system's numbers may be compared with.
        control: may also run as the single-chunk control, under `<name>_control`.
        ignores_k: returns what it holds, however many items were asked for.
    """

    kind: ClassVar[SystemKind] = "memory"
    control: ClassVar[bool] = False
    ignores_k: ClassVar[bool] = False

    def __init__(self, resources: Resources, **settings: object) -> None:
        self.resources = resources
        self.settings = settings

    @abc.abstractmethod
    def ingest(self, session: Session) -> None:
        """Take in one session, in the order of its turns.

        Raises:
            ProtocolError: a turn's id was taken in before.
        """

    def retain(self, fact: Turn) -> bool:
        """Take in one fact; says whether it was kept. By default a session of that one turn."""
        self.ingest(Session(id=fact.id, turns=(fact,)))
        return True

    @abc.abstractmethod
    def recall(self, query: str, k: int) -> list[Recalled]:
        """At most `k` items for a query, best first, ties by order of ingestion.

        No item twice. The state stays as it is: neither `digest` nor a later recall may differ.
        """

    @abc.abstractmethod
    def fork(self) -> Self:
        """An independent copy: what either takes in later, the other never shows."""

    @abc.abstractmethod
    def digest(self) -> str:
        """SHA-256, in hex, of everything that can change a later recall, settings included.

        Two systems that took in the same sessions in the same order give the same digest, in
        any process and on any machine. Caches stay out of it.
        """


class Oracle(MemorySystem):
    """A system that is told what to remember; a bound, comparable with nothing."""

    kind = "oracle"

    @abc.abstractmethod
    def reveal(self, turns: Sequence[Turn]) -> None:
        """Hand over the target turns; they take the place of any revealed before."""


class Tagged(MemorySystem):
    """A system that is told the information domain of its facts through an input of its own."""

    @abc.abstractmethod
    def tag(self, domains: Mapping[str, str]) -> None:
        """Hand over the domains by turn id; they take the place of any handed over before."""


def render(items: Sequence[Recalled]) -> str:
    """The context shown to the answer model: texts in recall order, a blank line between."""
    return "\n\n".join(item.text for item in items)
