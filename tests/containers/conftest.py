"""The image of this checkout, for tests that run containers."""

from pathlib import Path

import pytest

from memrepro.runner import run_stage
from memrepro.runner.image import Image, current_image
from tests.projects import ROOT, copy_inputs


@pytest.fixture(scope="session")
def image() -> Image:
    return current_image(ROOT)


@pytest.fixture(scope="session")
def built_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample with its inputs and judge-only files written."""
    project = copy_inputs(tmp_path_factory.mktemp("sample"))
    project.chmod(0o755)  # else its own mode would hide it from the container's user
    for name in ("inmind.verify", "inmind.build"):
        run_stage(project, "sample", name, None, workers=1)
    return project


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH that holds nothing but what a test puts there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("MEMREPRO_ENGINE", raising=False)
    return folder
