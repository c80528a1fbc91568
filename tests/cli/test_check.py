"""What the commit hooks refuse: a key, a large file, a notebook, a hand-edited or stale file."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from memrepro.cli.check import file_faults, stale_stages
from memrepro.errors import ServiceError
from tests.projects import ROOT, copy_checkout

# Put together here, so that this file holds none of them.
KEYS = {
    "a model server's": "sk-proj-" + "Ab3_" * 12,
    "GitHub's": "ghp" + "_" + "a1B2" * 9,
    "a model hub's": "hf" + "_" + "Zz" * 17,
    "a cloud's": "AKIA" + "Q7" * 8,
    "a chat service's": "xoxb" + "-1234567890-abcdefghij",
    "a private": "-----BEGIN RSA " + "PRIVATE KEY-----",
}


def faults(folder: Path, name: str, text: str) -> list[str]:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return list(file_faults(Path(name)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_is_named_by_its_place_and_not_shown(folder: Path, kind: str) -> None:
    (fault,) = faults(folder, "x.py", f"first\nKEY = '{KEYS[kind]}'\n")
    assert fault == f"x.py, line 2: looks like {kind} key"


@pytest.mark.parametrize(
    "text",
    [
        "sk-test-51a0c0ffee",
        "disk-" + "a" * 40,
        "sha256:" + "ab" * 32,
        "export OPENAI_API_KEY=…",
        "-----BEGIN CERTIFICATE-----",
    ],
)
def test_what_is_no_key(folder: Path, text: str) -> None:
    assert faults(folder, "x.txt", text) == []


def test_large_files_and_notebooks(folder: Path) -> None:
    million = "x" * 1_000_000
    assert faults(folder, "data/a.txt", million) == []
    (fault,) = faults(folder, "data/b.txt", million + "x")
    assert fault == "data/b.txt: 1.0 MB, at most 1 may be committed"
    assert faults(folder, "data/runs/sample/inmind/scores/a.jsonl", 2 * million) == []
    (fault,) = faults(folder, "a.ipynb", "{}")
    assert "a notebook" in fault


def test_the_command_says_what_to_do(folder: Path) -> None:
    (folder / "a").write_text(KEYS["GitHub's"])
    (folder / "b").write_text("good")
    command = [sys.executable, "-m", "memrepro", "check", "files", "a", "b", "gone"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "a, line 1: looks like GitHub's key" in done.stderr and "revoked" in done.stderr
    assert KEYS["GitHub's"] not in done.stderr
    assert subprocess.run([*command[:-3], "b"], capture_output=True).returncode == 0


def answer(monkeypatch: pytest.MonkeyPatch, out: str, err: str = "") -> None:
    def run(command: list[str], **_: Any) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(command, 0, out, err)

    monkeypatch.setattr("memrepro.cli.check.subprocess.run", run)


def test_absent_outputs_are_no_reason_and_all_else_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = "data/runs/sample"
    for name in ("empty/.gitignore", "made/x.jsonl"):
        (folder / runs / name).parent.mkdir(parents=True)
        (folder / runs / name).write_text("")
    status = {
        "fresh": [
            {"changed deps": {f"{runs}/a": "deleted", f"{runs}/empty": "modified"}},
            {"changed outs": {f"{runs}/b": "not in cache"}},
        ],
        "params": [{"changed deps": {"params.yaml": {"inmind.k": "modified"}}}],
        "file": [{"changed deps": {"data/x": "modified", f"{runs}/made": "modified"}}],
        "command": ["changed command"],
    }
    answer(monkeypatch, json.dumps(status))
    assert stale_stages(folder) == [
        "params: params.yaml:inmind.k modified",
        "file: data/x modified, data/runs/sample/made modified",
        "command: changed command",
    ]


def test_an_answer_of_dvc_that_cannot_be_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, "", "ERROR: you are not inside of a DVC repository\n")
    with pytest.raises(ServiceError, match="not inside of a DVC repository"):
        stale_stages(folder)


# ------------------------------------------------------------- the hooks, in a clone, offline


def pre_commit(project: Path, *hook: str) -> "subprocess.CompletedProcess[str]":
    """One hook, or all, on every file, with no way to a network."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(project / "src"),
        "PRE_COMMIT_HOME": str(project.parent / "pre-commit"),
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
    }
    subprocess.run(["git", "-C", str(project), "add", "-A"], check=True)
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never", *hook]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


def failed(done: "subprocess.CompletedProcess[str]") -> bool:
    return done.returncode == 1 and "Failed" in done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    target = copy_checkout(tmp_path / "project")
    (target / ".venv").symlink_to(sys.prefix)
    (target / ".git/info/exclude").write_text("/.venv\n")
    return target


def plant_key(project: Path) -> None:
    (project / "notes.md").write_text(KEYS["a model server's"] + "\n")


def edit_schema(project: Path) -> None:
    path = project / "schema/InMindScore.schema.json"
    path.write_text(path.read_text().replace('"integer"', '"number"', 1))


def edit_data(project: Path) -> None:
    with (project / "data/sample/inmind/tasks.jsonl").open("a") as stream:
        stream.write("\n")


def stale_lock(project: Path) -> None:
    path = project / "params.yaml"
    values = yaml.safe_load(path.read_text())
    values["inmind"]["k"] = 6
    path.write_text(yaml.safe_dump(values, sort_keys=False))


@pytest.mark.slow
def test_all_hooks_pass_offline(project: Path) -> None:
    done = pre_commit(project)
    assert done.returncode == 0, done.stdout
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert done.stdout.count("Passed") == len(hooks) == 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "hook", "told"),
    [
        (plant_key, "files", "notes.md, line 1: looks like a model server's key"),
        (edit_schema, "schema", "schema/InMindScore.schema.json"),
        (edit_data, "verify", "FAILED data/sample/inmind/tasks.jsonl (committed)"),
        (edit_data, "locks", "inmind.build: data/sample/inmind/tasks.jsonl modified"),
        (stale_lock, "locks", "inmind.remember@bm25: params.yaml:inmind.k modified"),
    ],
)
def test_each_fault_is_caught(
    project: Path, spoil: Callable[[Path], None], hook: str, told: str
) -> None:
    spoil(project)
    done = pre_commit(project, hook)
    assert failed(done), done.stdout
    assert told in done.stdout
