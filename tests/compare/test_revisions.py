"""Revisions in all their states: fresh and shallow clones, one commit twice, broken files."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from scipy.stats import binomtest

from tests.commands import Ran
from tests.compare.project import (
    RUNS,
    binary,
    commit,
    flipped,
    git,
    new_project,
    two_commits,
    write_inmind,
)

Diff = Callable[..., Ran]
BASE = binary(60)
PATH = "inmind/bm25/target_recall_verbatim"


@pytest.fixture
def differing_in_k(tmp_path: Path) -> Path:
    """Two commits: k from 5 to 3 loses tasks 4, 9 and 30, and wins 70."""
    project = new_project(tmp_path / "origin")
    write_inmind(project, {"bm25": BASE, "none": binary(0)})
    commit(project)
    params = project / "params.yaml"
    values = yaml.safe_load(params.read_text())
    values["inmind"]["k"] = 3
    params.write_text(yaml.safe_dump(values))
    write_inmind(project, {"bm25": flipped(BASE, 4, 9, 30, 70), "none": binary(0)}, k=3)
    commit(project)
    return project


def clone(origin: Path, target: Path, *options: str) -> Path:
    git(origin, "clone", "-q", *options, origin.as_uri(), str(target))
    return target


def test_a_fresh_clone_compares_two_commits_that_differ_in_k(
    differing_in_k: Path, tmp_path: Path
) -> None:
    project = clone(differing_in_k, tmp_path / "clone")
    command = [sys.executable, "-m", "memrepro", "diff", "HEAD~1", "HEAD", "--format", "json"]
    done = subprocess.run(command, cwd=project, capture_output=True, check=True)
    found = json.loads(done.stdout)
    sample = found["datasets"]["sample"]
    assert sample["metrics_compared"] == 2
    (row,) = sample["moved"]
    assert (row["path"], row["state"]) == (PATH, "changed")
    assert row["items"]["lost"] == ["4", "9", "30"]
    assert row["items"]["won"] == ["70"]
    assert row["items"]["p"] == pytest.approx(binomtest(1, 4, 0.5).pvalue, abs=1e-12)
    assert row["comparability"] == {"comparable": True, "reasons": [], "settings": {"k": [5, 3]}}
    assert found["differs"]["params"] == {"params.yaml:inmind.k": [5, 3]}
    assert git(project, "status", "--porcelain", "--ignored") == ""


def test_the_table_says_what_was_set_otherwise(differing_in_k: Path, diff: Diff) -> None:
    ran = diff(differing_in_k, "HEAD~1", "HEAD")
    assert f"{PATH} lost: 4, 9, 30" in ran.out
    assert "k: 5 and 3 (2 metrics)" in ran.out
    assert "params.yaml:inmind.k  5       3" in ran.out


def test_a_shallow_clone_says_what_to_do(differing_in_k: Path, tmp_path: Path, diff: Diff) -> None:
    project = clone(differing_in_k, tmp_path / "shallow", "--depth", "1")
    ran = diff(project, "HEAD~1")
    assert ran.code == 2
    assert ran.err.startswith("error: HEAD~1: no such commit: this clone is shallow")
    assert "git fetch --unshallow" in ran.err and "fetch-depth: 0" in ran.err
    assert diff(project, "HEAD").code == 0


@pytest.mark.parametrize("name", ["no-such-branch", "--help-me", "HEAD~99", ""])
def test_an_unknown_revision(differing_in_k: Path, diff: Diff, name: str) -> None:
    ran = diff(differing_in_k, "HEAD", "--", name)
    assert ran.code == 2
    assert "no such commit" in ran.err and "shallow" not in ran.err


def test_no_repository(differing_in_k: Path, tmp_path: Path, diff: Diff) -> None:
    subprocess.run(["rm", "-r", str(differing_in_k / ".git")], check=True)
    ran = diff(differing_in_k)
    assert ran.code == 2 and "not a Git clone" in ran.err


def test_two_names_of_one_commit(differing_in_k: Path, diff: Diff) -> None:
    git(differing_in_k, "tag", "v1")
    ran = diff(differing_in_k, "HEAD", "v1")
    assert ran.code == 0
    assert "both name one commit: nothing can differ" in ran.out
    found = json.loads(diff(differing_in_k, "HEAD", "v1", "--format", "json").out)
    assert found["same_commit"] is True
    assert found["a"]["commit"] == found["b"]["commit"] == git(
        differing_in_k, "rev-parse", "HEAD"
    ).strip()  # fmt: skip
    other = json.loads(diff(differing_in_k, "HEAD", "--format", "json").out)
    assert other["same_commit"] is False and other["b"] == {
        "name": "the working tree", "commit": None
    }  # fmt: skip


def test_each_state_of_a_metric_is_told_apart(tmp_path: Path, diff: Diff) -> None:
    project = new_project(tmp_path)
    (project / "metrics").mkdir()
    sides: list[dict[str, Any]] = [
        {"gone": 0.5, "nulled": 0.5, "filled": None, "null": None, "moved": 0.5, "same": 0.5},
        {"new": 0.5, "nulled": None, "filled": 0.5, "null": None, "moved": 0.25, "same": 0.5},
    ]
    for side in sides:
        (project / "metrics/sample.json").write_text(json.dumps({"inmind": {"s": side}}))
        commit(project)
    ran = diff(project, "HEAD~1", "HEAD", "--format", "json", "--fail-on", "any")
    assert ran.code == 1
    rows = json.loads(ran.out)["datasets"]["sample"]["moved"]
    assert {row["path"].rpartition("/")[2]: row["state"] for row in rows} == {
        "gone": "removed", "new": "added", "moved": "changed",
        "nulled": "null_in_b", "filled": "null_in_a", "null": "null_in_both",
    }  # fmt: skip
    differences = {row["path"].rpartition("/")[2]: row["difference"] for row in rows}
    assert differences["moved"] == -0.25
    assert all(value is None for name, value in differences.items() if name != "moved")
    text = diff(project, "HEAD~1", "HEAD").out
    lines = {line.split()[0]: line for line in text.split("\n") if line.startswith("  inmind/s/")}
    assert lines["inmind/s/gone"].split()[1:] == ["0.5000", "absent", "removed"]
    assert lines["inmind/s/new"].split()[1:] == ["absent", "0.5000", "added"]
    assert lines["inmind/s/nulled"].replace(" *", "").split()[1:5] == [
        "0.5000",
        "null",
        "became",
        "null",
    ]
    assert lines["inmind/s/filled"].split()[1:5] == ["null", "0.5000", "was", "null"]
    assert lines["inmind/s/moved"].split()[1:4] == ["0.5000", "0.2500", "-0.2500"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"inmind": {"s": {"x": 0.5}}', "not valid JSON"),
        ("", "not valid JSON"),
        ('{"inmind": {"s": {"x": NaN}}}', "NaN is not a JSON number"),
        ('{"inmind": {"s": {"x": Infinity}}}', "Infinity is not a JSON number"),
        ('{"inmind": {"s": {"x": 1, "x": 2}}}', "stands twice"),
        ('{"inmind": {"s": {"x": "0.5"}}}', "key inmind/s/x: not a metric"),
        ('{"inmind": {"s": {"x": true}}}', "key inmind/s/x: not a metric"),
        ('{"inmind": {"s": {"x": [0.5]}}}', "key inmind/s/x: not a metric"),
        ("[]", "not a metrics file"),
        ("\ufeff{}", "byte-order mark"),
    ],
)
@pytest.mark.parametrize("side", ["commit", "tree"])
def test_an_unreadable_metrics_file_is_an_error(
    tmp_path: Path, diff: Diff, text: str, says: str, side: str
) -> None:
    project = two_commits(tmp_path, {"bm25": BASE}, {"bm25": BASE})
    (project / "metrics/sample.json").write_text(text, encoding="utf-8")
    if side == "commit":
        commit(project)
    ran = diff(project, *(["HEAD~1", "HEAD"] if side == "commit" else []))
    assert ran.code == 2
    assert says in ran.err and ran.out == ""
    named = "HEAD:metrics/sample.json" if side == "commit" else str(project / "metrics/sample.json")
    assert f"error: {named}" in ran.err
    assert "memrepro-diff-" not in ran.err


def test_a_broken_score_row_names_the_revision(tmp_path: Path, diff: Diff) -> None:
    project = two_commits(tmp_path, {"bm25": BASE}, {"bm25": BASE})
    file = project / RUNS / "inmind/scores/bm25.jsonl"
    file.write_text(file.read_text().replace('"score":1', '"score":"yes"', 1))
    commit(project)
    ran = diff(project, "HEAD~1", "HEAD")
    assert ran.code == 2
    assert "HEAD:data/runs/sample/inmind/scores/bm25.jsonl" in ran.err
    assert "memrepro-diff-" not in ran.err


def test_a_side_without_metrics_adds_or_removes_all(tmp_path: Path, diff: Diff) -> None:
    project = new_project(tmp_path)
    commit(project)
    ran = diff(project, "HEAD")
    assert ran.code == 2 and "no metrics on either side" in ran.err
    write_inmind(project, {"bm25": BASE})
    commit(project)
    assert "added" in diff(project, "HEAD~1", "HEAD").out
    (project / "metrics/sample.json").unlink()
    ran = diff(project, "--fail-on", "any")
    assert ran.code == 1 and "removed" in ran.out


def test_a_project_in_a_folder_of_its_repository(tmp_path: Path, diff: Diff) -> None:
    project = new_project(tmp_path / "inner")
    subprocess.run(["mv", str(project / ".git"), str(tmp_path / ".git")], check=True)
    write_inmind(project, {"bm25": BASE})
    commit(tmp_path)
    write_inmind(project, {"bm25": flipped(BASE, 7)})
    ran = diff(project)
    assert f"{PATH} lost: 7" in ran.out
    assert "1 of 1 metrics moved" in ran.out


def test_what_else_differs(tmp_path: Path, diff: Diff) -> None:
    project = two_commits(tmp_path, {"bm25": BASE}, {"bm25": BASE})
    for name, text in {
        "prompts/inmind/judge_application.txt": "one",
        "requirements/runtime.txt": "bm25s==0.3.16 \\\n    --hash=sha256:0\nduckdb==2.0.1\n",
        "Dockerfile": "FROM a",
        "dvc.lock": "stages:\n  s:\n    outs:\n    - path: x\n      md5: '1'\n",
    }.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    commit(project)
    edits = {
        "prompts/inmind/judge_application.txt": ("one", "two"),
        "requirements/runtime.txt": ("0.3.16", "0.3.17"),
        "Dockerfile": ("FROM a", "FROM b"),
        "dvc.lock": ("'1'", "'2'"),
        "data/sources.toml": ("4e27c56047d1", "000000000000"),
        "params.yaml": ("identity: gpt-5-mini", "identity: gpt-6"),
    }
    for name, (old, new) in edits.items():
        text = (project / name).read_text()
        assert old in text
        (project / name).write_text(text.replace(old, new))
    found = json.loads(diff(project, "--format", "json").out)["differs"]
    assert {what: list(changes) for what, changes in found.items()} == {
        "pins": ["source inmind-tasks"],
        "params": [],
        "prompts": ["prompts/inmind/judge_application.txt"],
        "models": ["params.yaml:models.gpt-5-mini.identity"],
        "versions": ["bm25s"],
        "image_files": ["Dockerfile", "requirements/runtime.txt"],
        "stages": ["dvc.lock:s"],
    }
    assert found["versions"]["bm25s"] == ["0.3.16", "0.3.17"]


def test_dvc_agrees_on_what_moved(tmp_path: Path, diff: Diff) -> None:
    project = new_project(tmp_path / "project")
    (project / "dvc.yaml").write_text("metrics:\n  - metrics/sample.json\n")
    environment = {"DVC_NO_ANALYTICS": "1", "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    dvc = [sys.executable, "-m", "dvc"]
    subprocess.run([*dvc, "init", "-q"], cwd=project, env=environment, check=True)
    for scores in (BASE, flipped(BASE, 4, 9, 30, 70)):
        write_inmind(project, {"bm25": scores})
        commit(project)
    command = [*dvc, "metrics", "diff", "--json", "HEAD~1", "HEAD"]
    done = subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)
    theirs = json.loads(done.stdout)["metrics/sample.json"]
    found = json.loads(diff(project, "HEAD~1", "HEAD", "--format", "json").out)
    (row,) = found["datasets"]["sample"]["moved"]
    (name,) = row["a"]
    assert theirs == {
        f"inmind.bm25.{name}": {
            "old": row["a"][name], "new": row["b"][name], "diff": row["difference"]
        }
    }  # fmt: skip
