"""The mem0ai library with its local Qdrant store, as it comes, but for what would leave the host.

`infer` is off: mem0 keeps each text as it is and asks no model. The embedder is ours, telemetry is
off, and what the library would download by itself (a spaCy model, a sparse encoder) is refused.
Written against mem0ai 2.2.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field

from memrepro.errors import InputError, ServiceError
from memrepro.memory.base import Resources
from memrepro.memory.history import TranscriptSystem
from memrepro.records import Recalled, Session, Turn

if TYPE_CHECKING:
    from memrepro.memory.base import Embed

_USER = "user"
_DIMENSIONS = 384
# mem0 constructs a model's client whatever it is used for. This one could reach nobody.
_NO_MODEL = {"api_key": "none", "openai_base_url": "http://127.0.0.1:9/v1", "model": "none"}
# Qdrant's scores are float32 products of matrices: equal texts may differ in the last digit.
_DIGITS = 6


class Mem0(TranscriptSystem):
    """Recalls what mem0's search returns: cosine of embeddings above a threshold, best first.

    Args:
        resources: its `embed` makes the vectors, its working folder holds the store.
        embedder: the name handed to `embed`; part of the system's identity.
        threshold: mem0's own, with its default: what is less similar is not recalled.

    Raises:
        InputError: mem0 is not installed, no embedder was set up, or a library is there with which
            mem0 would download.
        ServiceError: the store cannot be made.
    """

    def __init__(
        self,
        resources: Resources,
        *,
        embedder: str = "minilm_int8",
        threshold: Annotated[float, Field(ge=0, le=1)] = 0.1,
    ) -> None:
        super().__init__(resources, embedder=embedder, threshold=threshold)
        if resources.embed is None:
            raise InputError(
                f"no embedder is set up for {embedder!r}",
                where="resources.embed",
                expected="the embedder's model and tokenizer files",
                hint='pip install "memrepro[dense,mem0]", then fetch the model files',
            )
        _refuse_downloads()
        self._threshold = threshold
        self._embed: Embed = resources.embed
        self._embedder = embedder
        self._library = self._open()
        self._places: dict[str, int] = {}

    def ingest(self, session: Session) -> None:
        """Add the session's turns to mem0, one by one."""
        super().ingest(session)
        for turn in session.turns:
            self._add(turn)

    def recall(self, query: str, k: int) -> list[Recalled]:
        """At most k turns; nothing for a blank query, which mem0 refuses."""
        if k <= 0 or not query.strip() or not self._places:
            return []
        # All of them, since mem0 cuts off without regard to ties.
        found = self._library.search(
            query,
            filters={"user_id": _USER},
            top_k=len(self._places),
            threshold=self._threshold,
        )["results"]
        items = [(round(one["score"], _DIGITS), one["metadata"]["turn"], one["memory"])
                 for one in found]  # fmt: skip
        items.sort(key=lambda item: (-item[0], self._places[item[1]]))
        return [Recalled(id=id_, text=text) for _, id_, text in items[:k]]

    def fork(self) -> Self:
        """A copy on a store of its own, filled anew: a local Qdrant belongs to one client."""
        other = super().fork()
        other._library = other._open()
        other._places = {}
        for turn in other.history.turns:
            other._add(turn)
        return other

    def _add(self, turn: Turn) -> None:
        self._places[turn.id] = len(self._places)
        self._library.add(
            [{"role": turn.role, "content": turn.text}],
            user_id=_USER,
            metadata={"turn": turn.id},
            infer=False,
        )

    def _open(self) -> Any:
        """A mem0 in a folder of its own, which goes when this system goes."""
        try:
            self.resources.workdir.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix="mem0-", dir=self.resources.workdir))
        except OSError as error:
            raise ServiceError(
                f"the store cannot be made: {error}", where=str(self.resources.workdir)
            ) from error
        library = _library(folder, self._embed, self._embedder)
        weakref.finalize(self, _close, library, folder)
        return library


def _refuse_downloads() -> None:
    """With either of these installed, mem0 fetches a model at its first text."""
    for name in ("spacy", "fastembed"):
        if importlib.util.find_spec(name) is not None:
            raise InputError(
                f"{name} is installed: mem0 would download a model for it, and rank otherwise",
                where="memory system mem0",
                expected="an environment without it",
                hint=f"pip uninstall {name}",
            )


def _library(folder: Path, embed: Embed, embedder: str) -> Any:
    """The library, configured; whatever it writes lies below the folder."""
    # Both are read once, when mem0 is imported, which opens its telemetry client and its home.
    os.environ["MEM0_TELEMETRY"] = "False"  # noqa: TID251 (the library has no other switch)
    os.environ.setdefault("MEM0_DIR", str(folder.parent / "mem0-home"))  # noqa: TID251
    try:
        from mem0 import Memory
        from mem0.embeddings.base import EmbeddingBase
        from mem0.memory import telemetry
    except ImportError as error:
        raise InputError(
            f"{error.name} is not installed",
            where="memory system mem0",
            hint='pip install "memrepro[mem0]"',
        ) from None
    if telemetry.MEM0_TELEMETRY:
        raise InputError(
            "mem0 was imported before, with its telemetry on",
            where="memory system mem0",
            hint="set MEM0_TELEMETRY=False",
        )

    class Handed(EmbeddingBase):  # type: ignore[misc]  # the library is untyped
        """Our embedder in mem0's form."""

        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return self.embed_batch([text])[0]

        def embed_batch(
            self, texts: Sequence[str], memory_action: str = "add"
        ) -> list[list[float]]:
            vectors: list[list[float]] = embed(embedder, texts).tolist()
            return vectors

    library = Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "collection_name": "turns",
                    "embedding_model_dims": _DIMENSIONS,
                    "path": str(folder / "qdrant"),
                    "on_disk": True,
                },
            },
            "llm": {"provider": "openai", "config": _NO_MODEL},
            "embedder": {"provider": "openai", "config": {"api_key": "none"}},
            "history_db_path": ":memory:",  # a log of changes, which no recall reads
        }
    )
    library.embedding_model = Handed()
    library.llm = None
    return library


def _close(library: Any, folder: Path) -> None:
    library.close()
    library.vector_store.client.close()
    shutil.rmtree(folder, ignore_errors=True)
