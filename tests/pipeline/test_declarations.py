"""What `dvc.yaml` says is what the stages declare, for both datasets."""

from pathlib import Path
from typing import Any

import pytest

from memrepro.params import DATASETS, Dataset, load_params, params_path
from memrepro.stages.declarations import declare, declared

ROOT = Path(__file__).parents[2]
FOLDERS: dict[Dataset, str] = {"sample": ".", "full": "full"}


def resolved_stages(dataset: Dataset) -> dict[str, Any]:
    """The pipeline as DVC itself resolves it."""
    from dvc.repo import Repo

    with Repo(str(ROOT)) as repo:
        file = ROOT / FOLDERS[dataset] / "dvc.yaml"
        found = {}
        for stage in repo.stage.load_file(str(file)):
            params = [
                key
                for dep in stage.deps
                if dep.def_path == str(params_path(dataset))
                for key in dep.params
            ]
            found[stage.name] = {
                "cmd": stage.cmd,
                "deps": sorted(d.def_path for d in stage.deps if not hasattr(d, "params")),
                "params": sorted(params),
                "outs": {out.def_path: out.use_cache for out in stage.outs},
            }
        return found


def test_the_twins_are_equal_byte_for_byte() -> None:
    assert (ROOT / "dvc.yaml").read_bytes() == (ROOT / "full/dvc.yaml").read_bytes()
    assert not (ROOT / "full/dvc.yaml").is_symlink()


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_dvc_yaml_says_what_the_stages_declare(dataset: Dataset) -> None:
    stages = resolved_stages(dataset)
    params = load_params(ROOT, dataset)
    wanted = {}
    for one in declared(params):
        system = f" --system {one.system}" if one.system else ""
        wanted[f"{one.name}@{one.system}" if one.system else one.name] = {
            "cmd": f"memrepro stage {one.name} --dataset {dataset}{system}",
            "deps": sorted(one.inputs),
            "params": sorted(one.params),
            "outs": {path: path not in one.committed for path in one.outputs},
        }
    assert stages == wanted
    assert len(stages) <= 80


@pytest.mark.parametrize("dataset", DATASETS)
def test_neither_memory_nor_answer_reads_the_judge_only_folder(dataset: Dataset) -> None:
    params = load_params(ROOT, dataset)
    (judge_only,) = (
        path for path in declare(params, "inmind.build", None).outputs if "judge_only" in path
    )
    stages = [("inmind.remember", system) for system in params.systems.inmind]
    stages += [("inmind.answer", system) for system in params.model_systems.inmind]
    for name, system in stages:
        for path in declare(params, name, system).inputs:
            assert not Path(judge_only).is_relative_to(path)


@pytest.mark.parametrize("dataset", DATASETS)
def test_params_say_the_same_but_for_place_and_systems(dataset: Dataset) -> None:
    """A setting that differs between the editions would be a hidden deviation."""
    params, sample = load_params(ROOT, dataset), load_params(ROOT, "sample")
    assert params.inmind.k == sample.inmind.k == 5
    for name, system in sample.systems.inmind.items():
        assert params.systems.inmind[name] == system
