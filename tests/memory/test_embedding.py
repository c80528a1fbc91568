"""The embedder: errors without a model, vectors with one."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from memrepro.errors import InputError
from memrepro.memory.embedding import DIMENSIONS, Embedder, by_name

MISSING = Embedder(Path("no/model.onnx"), Path("no/tokenizer.json"))


def test_a_missing_library_names_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(InputError, match="onnxruntime") as caught:
        MISSING.embed(["a"])
    assert 'pip install "memrepro[dense]"' in str(caught.value)


def test_a_missing_file_is_named() -> None:
    pytest.importorskip("onnxruntime")
    with pytest.raises(InputError, match=r"model\.onnx"):
        MISSING.embed(["a"])


def test_files_of_another_kind(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_text("<html>")
    with pytest.raises(InputError, match="cannot be opened"):
        Embedder(tmp_path / "model.onnx", tmp_path / "tokenizer.json").embed(["a"])


def test_no_text_needs_no_model() -> None:
    assert MISSING.embed([]).shape == (0, DIMENSIONS)
    MISSING.prepare([])


def test_an_unknown_embedder_lists_the_known() -> None:
    with pytest.raises(InputError, match="unknown embedder 'x'") as caught:
        by_name({"minilm_int8": MISSING})("x", ["a"])
    assert "minilm_int8" in str(caught.value)


@pytest.mark.full
@pytest.mark.dense
def test_vectors_of_the_real_model(embedder: Embedder) -> None:
    texts = ["I play the cello.", "She plays a string instrument.", "Tax law", "", "word " * 20_000]
    first = embedder.embed(texts)
    assert first.shape == (len(texts), DIMENSIONS)
    assert first.dtype == np.float32
    np.testing.assert_allclose((first.astype(float) ** 2).sum(axis=1), 1, rtol=1e-6)
    assert first[0] @ first[1] > first[0] @ first[2]
    assert np.array_equal(embedder.embed(texts[::-1])[::-1], first)
    # Past 256 tokens nothing counts.
    assert np.array_equal(embedder.embed(["word " * 254 + "cello"])[0], first[4])


@pytest.mark.full
@pytest.mark.dense
def test_each_text_is_embedded_once_also_for_a_pickled_copy(embedder: Embedder) -> None:
    fresh = Embedder(embedder._model, embedder._tokenizer)
    calls: list[tuple[int, int]] = []
    fresh.prepare(["a", "b", "a"], lambda done, of: calls.append((done, of)))
    assert calls == [(1, 2), (2, 2)]
    embed = pickle.loads(pickle.dumps(by_name({"m": fresh})))
    assert np.array_equal(embed("m", ["b", "a"]), fresh.embed(["b", "a"]))
    assert fresh.embedded == 2
    # Bytes do not depend on what was embedded before.
    alone = Embedder(embedder._model, embedder._tokenizer)
    assert np.array_equal(alone.embed(["b"]), fresh.embed(["b"]))
