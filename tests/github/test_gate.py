"""The gate of another repository, offline, on few systems; and the ten lines that it runs."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.github.make import give_tools, make, surroundings
from tests.projects import ROOT, copy_checkout, keep_systems

EXAMPLE = ROOT / "examples/word_overlap"
# Recalls everything: what it would be to fall from there to ten lines.
EVERYTHING = """
from memrepro.memory.full_context import FullContext


class WordOverlap(FullContext):
    pass
"""
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "false"}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """memrepro as an action is fetched: no Git. Of its systems, two of InMind are left."""
    project = copy_checkout(tmp_path_factory.mktemp("gate") / "memrepro")
    shutil.rmtree(project / ".git")
    keep_systems(project, "recent", "statements")  # without metrics of models, which would go
    give_tools(project, "memrepro", "dvc", "python")
    return project


def gate(checkout: Path, **settings: str) -> "subprocess.CompletedProcess[str]":
    return make(checkout, "gate", **OFFLINE, **settings)


@pytest.mark.slow
def test_a_package_is_held_to_its_base(checkout: Path, tmp_path: Path) -> None:
    """26 of 26 recalled by the base, 0 by the ten lines; the base lies within, as in a workflow."""
    package = tmp_path / "theirs"
    for folder in (package, package / "base"):
        shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "base/word_overlap.py").write_text(EVERYTHING)
    before = snapshot(checkout, package)
    done = gate(
        checkout,
        SYSTEM="word_overlap",
        FROM=str(package),
        PACKAGE=".",
        BASE_PACKAGE="base",
        GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"),
    )
    assert done.returncode != 0
    assert "inmind/word_overlap/target_recall_verbatim got worse by 1.0000" in done.stderr
    assert "| inmind/word_overlap/target_recall_verbatim * | 1.0000 | 0.0000" in done.stdout
    assert "inmind/word_overlap/target_recall_verbatim" in (tmp_path / "summary.md").read_text()
    assert snapshot(checkout, package) == before


@pytest.mark.slow
def test_the_ten_lines_are_a_package_and_their_difference_is_read(checkout: Path) -> None:
    done = gate(checkout, SYSTEM="word_overlap", PACKAGE=str(EXAMPLE), FAIL_ON="regression")
    assert done.returncode == 0, done.stderr
    assert "inmind/word_overlap/naive_recall_verbatim | absent | 0.3846 | added |" in done.stdout
    lines = [
        line for line in (EXAMPLE / "word_overlap.py").read_text().splitlines() if line.strip()
    ]
    code = [line for line in lines if not line.strip().startswith('"""')]
    assert len(code) <= 10


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"SYSTEM": "bm25"}, "memrepro has a system 'bm25' of its own"),
        ({"SYSTEM": "a b; touch x"}, "SYSTEM is no name"),
        ({"SYSTEM": "mine", "PACKAGE": "no-such-folder"}, "no folder no-such-folder"),
        ({"SYSTEM": "mine", "PACKAGE": ".", "BASE_PACKAGE": "nowhere"}, "no folder nowhere"),
    ],
)
def test_what_is_set_wrong_is_said_before_anything_runs(
    settings: dict[str, str], told: str
) -> None:
    script = ROOT / ".github/actions/gate/gate"
    environment = {**surroundings(), **settings, "VENV": str(ROOT / "src")}
    done = subprocess.run([script], env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert told in done.stderr and "hint:" in done.stderr


def snapshot(*folders: Path) -> dict[Path, bytes]:
    """Everything in the folders but what Python and DVC keep for themselves."""
    return {
        path: path.read_bytes()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not {"__pycache__", ".dvc"} & {*path.parts}
    }
