"""An embedder without a model, systems over it, and systems that break the protocol on purpose."""

import abc
import copy
import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from memrepro.memory import create
from memrepro.memory.base import MemorySystem, Resources
from memrepro.memory.full_context import FullContext
from memrepro.memory.history import Retriever
from memrepro.records import Recalled, Session, Turn


def hash_embed(name: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Unit vectors that depend on embedder and text alone: bytes of SHA-256, centred."""
    vectors = np.zeros((len(texts), 384), dtype=np.float32)
    for row, text in enumerate(texts):
        seed = f"{name}\n{text}".encode()
        data = b"".join(hashlib.sha256(seed + bytes([n])).digest() for n in range(12))
        vector = np.frombuffer(data, dtype=np.uint8).astype(np.float64) - 127.5
        vectors[row] = vector / np.sqrt((vector * vector).sum())
    return vectors


# A folder a process, for systems that keep files; gone with the process.
_FOLDER = tempfile.TemporaryDirectory(prefix="memrepro-", ignore_cleanup_errors=True)
RESOURCES = Resources(Path(_FOLDER.name), hash_embed)


def make(name: str) -> MemorySystem:
    """A registered system, embedding with the fake."""
    return create(name, {}, RESOURCES)


def session(name: str, *texts: str) -> Session:
    """A session of user turns."""
    turns = (Turn(id=f"{name}-{n}", role="user", text=text) for n, text in enumerate(texts))
    return Session(id=name, turns=tuple(turns))


def ids(items: Sequence[Recalled]) -> list[str]:
    return [item.id for item in items]


# ------------------------------------------------------------------ planted: recall that writes


class RecallKeepsQuery(FullContext):
    """Takes each query in as a turn."""

    def recall(self, query: str, k: int) -> list[Recalled]:
        items = super().recall(query, k)
        number = len(self.history.turns)
        if items:
            self.ingest(session(f"query{number}", query))
        return items


class RecallPromotes(FullContext):
    """Recalls what it recalled last at the end, without a word of it in the digest."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._last = ""

    def recall(self, query: str, k: int) -> list[Recalled]:
        items = sorted(super().recall(query, k), key=lambda item: item.id == self._last)
        self._last = items[0].id if items else ""
        return items


# ------------------------------------------------------------------ planted: forks that share


class ForkSharesHistory(FullContext):
    """A shallow copy: both sides append to one history."""

    def fork(self) -> Self:
        return copy.copy(self)


class ForkSharesCache(FullContext):
    """The histories are apart, but a list of what to recall is filled by both."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._items: list[Recalled] = []

    def ingest(self, session: Session) -> None:
        super().ingest(session)
        self._items.extend(Recalled(id=turn.id, text=turn.text) for turn in session.turns)

    def recall(self, query: str, k: int) -> list[Recalled]:
        return list(self._items)


# ------------------------------------------------------------------ planted: digests


class ConstantDigest(FullContext):
    """One digest for every state."""

    def digest(self) -> str:
        return "0" * 64


class DigestOfLength(FullContext):
    """A digest that counts turns and reads none."""

    def digest(self) -> str:
        return str(len(self.history.turns))


# ------------------------------------------------------------------ planted: process and order


class _Ranked(Retriever):
    @abc.abstractmethod
    def _key(self, text: str) -> int:
        """Where a text ranks; the lowest comes first."""

    def ranking(self, query: str) -> Sequence[int]:
        turns = self.history.turns
        return sorted(range(len(turns)), key=lambda place: self._key(turns[place].text))


class RanksByHash(_Ranked):
    """Python's hash of a string differs from process to process."""

    def _key(self, text: str) -> int:
        return hash(text)


class RanksByPid(_Ranked):
    """An order that the process number decides."""

    def _key(self, text: str) -> int:
        seed = f"{os.getpid()} {text}".encode()
        return int.from_bytes(hashlib.sha256(seed).digest()[:8], "big")


_built = 0


class CountsInstances(FullContext):
    """The n-th system of a process answers other than the first."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        global _built
        _built += 1
        self._number = _built

    def recall(self, query: str, k: int) -> list[Recalled]:
        items = super().recall(query, k)
        return [Recalled(id=i.id, text=f"{self._number}: {i.text}") for i in items]


def plant(system: type[MemorySystem]) -> MemorySystem:
    """An instance of a planted system."""
    return system(RESOURCES)
