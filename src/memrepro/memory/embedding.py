"""MiniLM sentence embeddings by ONNX Runtime, the same bytes whatever stands beside a text.

Mean of the last hidden states over the attention mask, then L2 norm 1: the pooling of
sentence-transformers/all-MiniLM-L6-v2, whose limit of 256 tokens is kept.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from memrepro.errors import InputError

if TYPE_CHECKING:
    from memrepro.memory.base import Embed

DIMENSIONS = 384
MAX_TOKENS = 256

Vector = npt.NDArray[np.float32]


class Embedder:
    """Embeds texts, each distinct one once; without session or model when pickled, with cache.

    Args:
        model: an ONNX export with the output last_hidden_state first.
        tokenizer: the tokenizer.json that belongs to it.

    Attributes:
        embedded: how many times the model was run in this process or the one it came from.
    """

    def __init__(self, model: Path, tokenizer: Path) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._cache: dict[str, Vector] = {}
        self._run: Callable[[str], Vector] | None = None
        self.embedded = 0

    def embed(self, texts: Sequence[str]) -> Vector:
        """One unit vector a text, shape (n, 384), in the order of the texts.

        Raises:
            InputError: a library or a model file is missing, or a file is none of the kind.
        """
        vectors = [self._vector(text) for text in texts]
        return np.stack(vectors) if vectors else np.zeros((0, DIMENSIONS), dtype=np.float32)

    def prepare(
        self, texts: Sequence[str], progress: Callable[[int, int], object] | None = None
    ) -> None:
        """Embed texts ahead, so that copies sent to other processes find them in the cache.

        Args:
            texts: any texts; repeated and known ones cost nothing.
            progress: called after each new text with how many are done, of how many.

        Raises:
            InputError: as `embed`.
        """
        missing = [text for text in dict.fromkeys(texts) if text not in self._cache]
        for done, text in enumerate(missing, start=1):
            self._vector(text)
            if progress:
                progress(done, len(missing))

    def _vector(self, text: str) -> Vector:
        if text not in self._cache:
            if self._run is None:
                self._run = _open(self._model, self._tokenizer)
            self._cache[text] = self._run(text)
            self.embedded += 1
        return self._cache[text]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_run": None}


def by_name(embedders: Mapping[str, Embedder]) -> Embed:
    """Embedders as the `embed` of `Resources`; can be pickled, the caches come along."""
    return functools.partial(_embed, dict(embedders))


def _embed(embedders: dict[str, Embedder], name: str, texts: Sequence[str]) -> Vector:
    if name not in embedders:
        raise InputError(
            f"unknown embedder {name!r}",
            where="setting embedder",
            expected=", ".join(sorted(embedders)) or "none is set up",
            hint="name one of these as the system's setting embedder in the params file",
        )
    return embedders[name].embed(texts)


def _open(model: Path, tokenizer: Path) -> Callable[[str], Vector]:
    """A function from text to vector; opens both files.

    Raises:
        InputError: a library or a file is missing, or a file is none of the kind.
    """
    try:
        import onnxruntime
        import tokenizers
    except ImportError as error:
        raise InputError(
            f"{error.name} is not installed",
            where="memory system with an embedder",
            hint='pip install "memrepro[dense]"',
        ) from None
    for path in (model, tokenizer):
        if not path.is_file():
            raise InputError(
                "the embedder's file is missing",
                where=str(path),
                expected="the file that data/sources.toml pins",
                hint="memrepro fetch",
            )
    try:
        session = onnxruntime.InferenceSession(
            str(model), _options(onnxruntime), providers=["CPUExecutionProvider"]
        )
        encoder = tokenizers.Tokenizer.from_file(str(tokenizer))
    except Exception as error:  # both libraries raise types of their own, bare Exception included
        raise InputError(
            f"cannot be opened: {error}", where=f"{model} or {tokenizer}", hint="memrepro fetch"
        ) from error
    encoder.enable_truncation(MAX_TOKENS)
    encoder.no_padding()  # the file asks for 128 fixed
    names = [entry.name for entry in session.get_inputs()]
    return functools.partial(_run_one, session, encoder, names)


def _options(onnxruntime: Any) -> Any:
    """Session options that keep the bytes: the optimisation level moves them, so it is fixed.

    The number of threads does not move them (measured for 1, 2 and the default), so it is left to
    the library, which uses all cores.
    """
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3
    return options


def _run_one(session: Any, encoder: Any, names: Sequence[str], text: str) -> Vector:
    """Vector of one text, alone and unpadded: its bytes cannot depend on its company."""
    encoding = encoder.encode(text)
    given = {
        "input_ids": encoding.ids,
        "attention_mask": encoding.attention_mask,
        "token_type_ids": encoding.type_ids,
    }
    feed = {name: np.asarray([given[name]], dtype=np.int64) for name in names}
    hidden = session.run(None, feed)[0][0].astype(np.float64)
    mask = np.asarray(encoding.attention_mask, dtype=np.float64)[:, None]
    mean = (hidden * mask).sum(axis=0) / mask.sum()
    vector: Vector = (mean / np.sqrt((mean * mean).sum())).astype(np.float32)
    return vector
