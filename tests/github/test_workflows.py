"""The workflows only call what a person can run, pinned, with no right that they do not need."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from memrepro.cli.reference import commands
from tests.projects import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
ACTIONS = sorted((GITHUB / "actions").glob("*/action.yml"))
FILES = [*WORKFLOWS, *ACTIONS]
# `make target…`, also in the folder of an action, or a memrepro command; no shell beside it.
MAKE = re.compile(r'make (-C "\$GITHUB_ACTION_PATH/\.\./\.\./\.\." )?([a-z-]+)( [a-z-]+)*')
MEMREPRO = re.compile(r"\.venv/bin/memrepro ([a-z]+)( [a-z-]+)*")
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
WRITES = {("diff.yml", "comment", "pull-requests")}


def read(path: Path) -> dict[str, Any]:
    """YAML 1.1 reads the key `on` as true; here it stays a word."""
    text = re.sub(r"^on:", '"on":', path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = yaml.safe_load(text)
    assert isinstance(found, dict)
    return found


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = read(path)["jobs"]
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    if path in ACTIONS:
        return list(read(path)["runs"]["steps"])
    return [step for job in jobs(path).values() for step in job["steps"]]


def targets() -> set[str]:
    rules = re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return set(rules)


def test_these_are_there() -> None:
    assert {path.stem for path in WORKFLOWS} == {"check", "repro", "diff", "paper"}
    assert [path.parent.name for path in ACTIONS] == ["gate"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name + "/" + path.name)
def test_every_run_line_is_a_target_or_a_command(path: Path) -> None:
    lines = [line for step in steps(path) for line in step.get("run", "").splitlines()]
    assert lines
    for line in lines:
        if called := MAKE.fullmatch(line):
            assert set(line[called.start(2) :].split()) <= targets(), line
        else:
            command = MEMREPRO.fullmatch(line)
            assert command and command[1] in {path.split()[1] for path in commands()}, line


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name + "/" + path.name)
def test_every_action_is_pinned_by_its_commit(path: Path) -> None:
    lines = [line.strip() for line in path.read_text().splitlines() if "uses:" in line]
    assert lines
    for line in lines:
        assert PINNED.fullmatch(line.removeprefix("- ")), line


def test_one_action_has_one_pin() -> None:
    used = [step["uses"].split("@") for path in FILES for step in steps(path) if "uses" in step]
    assert len({name for name, _ in used}) == len({(name, pin) for name, pin in used})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_rights_are_given_job_by_job(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {}
    assert workflow["concurrency"]["group"]
    for name, job in jobs(path).items():
        assert job["permissions"], name
        assert job["timeout-minutes"], name
        for right, level in job["permissions"].items():
            assert level == "read" or (path.name, name, right) in WRITES, (name, right)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_checkout_leaves_its_token_behind(path: Path) -> None:
    checkouts = [step for step in steps(path) if "actions/checkout@" in step.get("uses", "")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_downloads_are_cached_by_the_lock(path: Path) -> None:
    set_up = [step for step in steps(path) if "actions/setup-python@" in step.get("uses", "")]
    assert set_up
    for step in set_up:
        assert step["with"]["cache"] == "pip"
        locks = step["with"]["cache-dependency-path"].split()
        assert "requirements/lock.txt" in locks
        assert all((ROOT / lock).is_file() for lock in locks)


def test_secrets_are_the_paid_workflows_alone() -> None:
    holders = {path.name for path in FILES if "secrets." in path.read_text()}
    assert holders == {"paper.yml"}
    assert list(read(GITHUB / "workflows/paper.yml")["on"]) == ["workflow_dispatch"]
    assert jobs(GITHUB / "workflows/paper.yml")["paper"]["environment"] == "paper"


def test_no_workflow_runs_a_forks_code_with_the_bases_rights() -> None:
    for path in WORKFLOWS:
        assert not {"pull_request_target", "workflow_run"} & set(read(path)["on"])
    comment = jobs(GITHUB / "workflows/diff.yml")["comment"]
    assert "head.repo.full_name == github.repository" in comment["if"]
    checkout = comment["steps"][0]
    assert checkout["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"


def test_the_pythons_are_those_of_the_package() -> None:
    matrix = jobs(GITHUB / "workflows/check.yml")["check"]["strategy"]["matrix"]["python"]
    told = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert matrix == told == ["3.11", "3.12", "3.13", "3.14"]


def test_the_scripts_are_shell() -> None:
    script = GITHUB / "actions/gate/gate"
    assert script.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(script)], check=True)


def test_forms_ask_for_what_doctor_says() -> None:
    forms = [path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"]
    assert len(forms) >= 2
    for form in forms:
        assert any(
            "memrepro doctor" in str(field) and field.get("validations", {}).get("required")
            for field in read(form)["body"]
        ), form.name
