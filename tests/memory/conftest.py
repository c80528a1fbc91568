"""Fixtures of the memory tests: the pool of other processes, and the real model where it is."""

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from memrepro.memory.embedding import Embedder

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def pool() -> Iterator[Executor]:
    """Two spawned workers whose hashes of strings differ from those of this process."""
    before = os.environ.get("PYTHONHASHSEED")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONHASHSEED", "1" if before != "1" else "2")
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
            yield executor


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """MiniLM int8 on the fetched files; the test fails where they are absent."""
    pytest.importorskip("onnxruntime")
    folder = ROOT / "data" / "raw" / "minilm"
    return Embedder(folder / "model_int8.onnx", folder / "tokenizer.json")
