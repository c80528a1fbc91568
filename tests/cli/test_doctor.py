"""`memrepro doctor` tells all but a key."""

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from memrepro.cli import main
from tests.compare.project import commit, git
from tests.projects import ROOT, change_params, copy_inputs

KEY = "sk-" + "9f3c7a1e" * 5
MIRROR = "https://reader:" + "hunter2" * 2 + "@mirror.example/raw"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy_inputs(tmp_path)
    monkeypatch.setattr("memrepro.cli.doctor.stale_stages", lambda root: [])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def doctor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> str:
    monkeypatch.setattr(sys, "argv", ["memrepro", "doctor", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    out, err = capsys.readouterr()
    return out + err


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_keys_value_is_never_told(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
) -> None:
    def name_another(values: dict[str, Any]) -> None:
        values["models"]["smollm2-135m"]["api_key_env"] = "ANOTHER_KEY"

    change_params(project, name_another)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MEMREPRO_MIRROR", MIRROR)
    monkeypatch.delenv("ANOTHER_KEY", raising=False)
    told = doctor(monkeypatch, capsys, *arguments)
    for secret in (KEY, KEY[3:11], "hunter2", "mirror.example"):
        assert secret not in told
    if arguments:
        assert json.loads(told)["keys"] == {"ANOTHER_KEY": "not set", "OPENAI_API_KEY": "set"}
        assert json.loads(told)["surroundings"]["mirror"] == "an address"
    else:
        assert f"  {'OPENAI_API_KEY':16} set\n" in told
        assert f"  {'ANOTHER_KEY':16} not set\n" in told


def test_it_says_what_it_runs_on_and_what_is_there(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMREPRO_ENGINE", "no-such-engine")
    monkeypatch.setenv("MEMREPRO_MIRROR", str(project / "nothing"))
    monkeypatch.setattr(
        "memrepro.cli.doctor.stale_stages", lambda root: ["inmind.build: dvc.yaml changed"]
    )
    told = json.loads(doctor(monkeypatch, capsys, "--json"))
    assert told["versions"]["python"].endswith(sys.version.split()[0])
    assert told["versions"]["dvc"][0].isdigit()
    assert told["checkout"]["commit"] == "not a Git clone"
    assert told["checkout"]["fetched"] == "0 of 19 files of the papers' data"
    assert told["checkout"]["sample params"].startswith("inmind 7 systems")
    assert told["checkout"]["locks"].startswith("1 stages stale, e.g. inmind.build")
    assert told["containers"]["engine"] == "MEMREPRO_ENGINE: no container engine is installed"
    assert told["surroundings"]["disk"].endswith("GB free")
    assert told["surroundings"]["mirror"] == "a folder that is not there"


def test_what_is_broken_is_told_in_its_place(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "params.yaml").write_text("inmind: [\n")
    (project / "data/sources.toml").write_text("")
    told = json.loads(doctor(monkeypatch, capsys, "--json"))
    assert told["checkout"]["sample params"].startswith("params.yaml")
    assert told["checkout"]["fetched"] == "data/sources.toml: holds no [[source]] table"
    assert told["checkout"]["full params"].startswith("inmind 10 systems")


def test_outside_a_project_it_still_tells_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    told = json.loads(doctor(monkeypatch, capsys, "--json"))
    assert told["checkout"] == {"project": "not inside a memrepro project"}
    assert set(told) == {"versions", "checkout", "surroundings"}


def test_a_clones_commit_and_what_was_changed_in_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(project, "init", "-q")
    commit(project)
    head = git(project, "rev-parse", "HEAD")[:10]
    told = json.loads(doctor(monkeypatch, capsys, "--json"))
    assert told["checkout"]["commit"] == f"{head}, 0 files changed"
    (project / "params.yaml").write_text("")
    (project / "new.txt").write_text("")
    told = json.loads(doctor(monkeypatch, capsys, "--json"))
    assert told["checkout"]["commit"] == f"{head}, 2 files changed"


def test_what_is_not_installed_is_told_as_that(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setenv("PATH", str(project))
    monkeypatch.setattr("memrepro.cli.doctor.version", absent)
    told = json.loads(doctor(monkeypatch, capsys, "--json"))
    assert told["versions"]["git"] == "cannot be run: No such file or directory"
    assert told["versions"]["dvc"] == "not installed"
    assert told["checkout"]["commit"] == "not a Git clone"


@pytest.mark.slow
def test_a_clone_names_its_commit() -> None:
    command = [sys.executable, "-m", "memrepro", "doctor"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "\nkeys\n" in told and "files changed" in told
