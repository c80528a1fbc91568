"""The ten lines of examples/word_overlap, installed as a package: found by name, and conforming."""

import os
import subprocess
import sys
from functools import partial
from importlib.metadata import Distribution, entry_points
from pathlib import Path

import pytest

import memrepro.benchmarks
import memrepro.llm
import memrepro.memory
from memrepro import memory
from memrepro.memory import conformance
from tests.memory.fakes import RESOURCES
from tests.projects import ROOT

EXAMPLE = ROOT / "examples/word_overlap"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip installed it, offline."""
    build = tmp_path_factory.mktemp("example")
    for name in ("pyproject.toml", "word_overlap.py"):
        (build / name).write_bytes((EXAMPLE / name).read_bytes())
    target = tmp_path_factory.mktemp("site")
    subprocess.run(
        [
            sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "install",
            "--no-index", "--no-deps", "--no-build-isolation", "--target", str(target), str(build),
        ],
        check=True,
    )  # fmt: skip
    return target


def test_it_is_found_by_its_entry_point(site: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memrepro", "systems"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{site}:{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("word_overlap")]
    assert line.split() == ["word_overlap", "memory", "-"]


def test_it_conforms(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(site)
    assert "word_overlap" in {entry.name for entry in entry_points(group=memory.GROUP)}
    (installed,) = Distribution.discover(name="memrepro-word-overlap", path=[str(site)])
    assert {file.name for file in installed.files or ()} >= {"word_overlap.py", "entry_points.txt"}
    for check in conformance.CHECKS:
        check(partial(memory.create, "word_overlap", {}, RESOURCES))


@pytest.mark.parametrize("package", [memrepro.memory, memrepro.llm, memrepro.benchmarks])
def test_every_public_name_is_there_and_documented(package: object) -> None:
    names = vars(package)["__all__"]
    assert names == sorted(names)
    for name in names:
        found = getattr(package, name)
        assert not isinstance(found, type) or found.__doc__, name
