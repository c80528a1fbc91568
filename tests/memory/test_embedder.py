"""What a stage sets up for a system on an embedder, with a function in the model's place."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memrepro.errors import InputError
from memrepro.memory.embedding import Vector
from memrepro.params import load_params
from memrepro.stages.resources import resources_of
from memrepro.stages.work import Work
from tests.compare.project import new_project
from tests.projects import change_params


class Model:
    """Stands for a model: the files that it was opened from, and the texts that it embedded."""

    def __init__(self) -> None:
        self.opened: list[tuple[Path, Path]] = []
        self.texts: list[str] = []

    def open(self, model: Path, tokenizer: Path) -> Any:
        self.opened.append((model, tokenizer))
        return self.embed

    def embed(self, text: str) -> Vector:
        self.texts.append(text)
        return np.full(384, len(text), dtype=np.float32)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    model = Model()
    monkeypatch.setattr("memrepro.memory.embedding._open", model.open)
    return model


@pytest.fixture
def work(tmp_path: Path) -> Work:
    project = new_project(tmp_path / "project")

    def dense(values: dict[str, Any]) -> None:
        values["systems"]["inmind"]["dense_int8"] = {
            "reads": "data/raw/minilm",
            "settings": {"embedder": "minilm_int8"},
        }

    change_params(project, dense)
    return Work(root=project, out=tmp_path / "out", params=load_params(project, "sample"))


def test_a_system_without_an_embedder_gets_a_folder_alone(work: Work, model: Model) -> None:
    resources = resources_of(work, "inmind", "bm25", ["a"])
    assert resources.workdir == work.out / "workdir" and resources.workdir.is_dir()
    assert resources.embed is None
    assert model.opened == []


def test_every_text_is_embedded_once_ahead_and_never_again(work: Work, model: Model) -> None:
    resources = resources_of(work, "inmind", "dense_int8", ["one", "three", "one"])
    folder = work.root / "data/raw/minilm"
    assert model.opened == [(folder / "model_int8.onnx", folder / "tokenizer.json")]
    assert model.texts == ["one", "three"]
    # As it goes to a worker process: the cache comes along, the opened model does not.
    embed = pickle.loads(pickle.dumps(resources.embed))
    found = embed("minilm_int8", ["three", "one"])
    assert found.shape == (2, 384)
    assert found[:, 0].tolist() == [5.0, 3.0]
    assert embed("minilm_int8", []).shape == (0, 384)
    assert model.texts == ["one", "three"] and len(model.opened) == 1
    assert embed("minilm_int8", ["new"])[0, 0] == 3.0
    assert model.texts[2:] == ["new"] and len(model.opened) == 2


def test_an_embedder_that_was_not_set_up_is_named(work: Work, model: Model) -> None:
    resources = resources_of(work, "inmind", "dense_int8", ["one"])
    assert resources.embed is not None
    with pytest.raises(InputError, match="unknown embedder 'minilm_fp32'") as caught:
        resources.embed("minilm_fp32", ["one"])
    assert caught.value.expected == "minilm_int8"
