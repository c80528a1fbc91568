"""A reproduced sample of few systems, and its report."""

from pathlib import Path
from typing import Any

import pytest

from memrepro.params import load_params
from memrepro.report.page import report
from memrepro.runner import run_stage
from memrepro.stages.declarations import declared
from memrepro.stages.work import Work
from tests.projects import change_params, copy_inputs

SYSTEMS = {
    "inmind": ("bm25", "full_context"),
    "cimemories": ("full_context", "guarded"),
    "retention": ("exact",),
}


def _few(values: dict[str, Any]) -> None:
    for table in ("systems", "model_systems"):
        for benchmark, names in SYSTEMS.items():
            rows = values[table][benchmark]
            values[table][benchmark] = {name: rows[name] for name in names if name in rows}
    del values["cimemories"]["label_sources"]["generate"]
    editions = values["retention"]["editions"]
    values["retention"]["editions"] = {
        name: editions[name] for name in ("standard", "policy_change")
    }


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Work:
    """A project in which these systems ran, models' parts from the committed replies."""
    project = copy_inputs(tmp_path_factory.mktemp("report"))
    change_params(project, _few)
    params = load_params(project, "sample")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMREPRO_RUNNER", "host")
        for one in declared(params):
            run_stage(project, "sample", one.name, one.system, workers=1)
    return Work(root=project, out=project, params=params)


@pytest.fixture(scope="session")
def html(sample: Work) -> str:
    pytest.importorskip("altair", reason="needs the report extra")
    return report(sample)


@pytest.fixture(scope="session")
def file(html: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's report as a file."""
    path = tmp_path_factory.mktemp("html") / "report.html"
    path.write_text(html, encoding="utf-8")
    return path
