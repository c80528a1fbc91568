"""The workflow `diff`, as it runs for a pull request from a fork: two clones, no remote of DVC."""

import shutil
from pathlib import Path

import pytest

from tests.compare.project import Scores, binary, flipped, new_project, write_inmind
from tests.github.make import commit, git, give_tools, make
from tests.projects import ROOT, change_params, copy_checkout, keep_systems

BASE = binary(60)
WORSE = flipped(BASE, *range(12), 100)


def upstream(folder: Path) -> Path:
    project = new_project(folder)
    shutil.copyfile(ROOT / "Makefile", project / "Makefile")
    shutil.copyfile(ROOT / ".gitignore", project / ".gitignore")
    write_inmind(project, {"bm25": BASE, "none": BASE})
    commit(project)
    return project


def open_pull_request(origin: Path, fork: Path) -> None:
    """What GitHub makes of a fork's branch: a merge commit under refs/pull/1/merge."""
    git(origin, "fetch", "-q", str(fork), "HEAD:refs/pull/1/head")
    git(origin, "checkout", "-q", "--detach", "main")
    git(origin, "merge", "-q", "--no-ff", "-m", "merge", "refs/pull/1/head")
    git(origin, "update-ref", "refs/pull/1/merge", "HEAD")
    git(origin, "checkout", "-q", "main")


def check_out(origin: Path, target: Path, *tools: str) -> Path:
    """What actions/checkout leaves of it at fetch-depth 2: no branch, no remote to read from."""
    target.mkdir()
    git(target, "init", "-q")
    git(target, "fetch", "-q", "--no-tags", "--depth=2", origin.as_uri(), "refs/pull/1/merge")
    git(target, "checkout", "-q", "--detach", "FETCH_HEAD")
    assert git(target, "remote") == "" and git(target, "branch", "--list", "m*") == ""
    give_tools(target, *tools)
    return target


def fork_with(origin: Path, fork: Path, scores: Scores) -> None:
    """A fork whose branch changes scores, while the base goes on."""
    git(origin.parent, "clone", "-q", origin.as_uri(), str(fork))
    write_inmind(fork, {"bm25": scores, "none": BASE})
    commit(fork)
    (origin / "news.txt").write_text("the base goes on\n")
    commit(origin)
    open_pull_request(origin, fork)


@pytest.mark.parametrize(("scores", "code"), [(WORSE, 1), (flipped(BASE, 3), 0)])
def test_a_forks_pull_request_is_compared_with_its_base(
    tmp_path: Path, scores: Scores, code: int
) -> None:
    origin = upstream(tmp_path / "upstream")
    fork_with(origin, tmp_path / "fork", scores)
    runner = check_out(origin, tmp_path / "runner", "memrepro")
    summary = tmp_path / "summary.md"
    done = make(runner, "diff", BASE="HEAD^1", GITHUB_STEP_SUMMARY=str(summary))
    assert (done.returncode != 0) == bool(code), done.stderr
    report = (runner / "diff.md").read_text()
    assert "inmind/bm25/target_recall_verbatim" in report
    assert "news.txt" not in report
    assert summary.read_text() == report and report in done.stdout
    assert ("got worse by 0.0880" in done.stderr) == bool(code)
    assert git(runner, "status", "--porcelain") == ""


def test_at_depth_one_it_says_what_the_checkout_lacks(tmp_path: Path) -> None:
    origin = upstream(tmp_path / "upstream")
    fork_with(origin, tmp_path / "fork", WORSE)
    runner = check_out(origin, tmp_path / "runner", "memrepro")
    (runner / "diff.md").write_text("of an earlier run")
    git(runner, "fetch", "-q", "--depth=1", origin.as_uri(), "refs/pull/1/merge")
    done = make(runner, "diff", BASE="HEAD^1")
    assert done.returncode != 0 and "fetch-depth" in done.stderr
    assert not (runner / "diff.md").exists()


def test_a_name_of_a_base_is_text(tmp_path: Path) -> None:
    """Neither make nor the shell runs anything that a revision's name spells."""
    origin = upstream(tmp_path / "upstream")
    give_tools(origin, "memrepro")
    done = make(origin, "diff", BASE=f'$(shell touch {tmp_path}/a)"; touch {tmp_path}/b; "')
    assert done.returncode != 0 and "no such commit" in done.stderr
    assert not (tmp_path / "a").exists() and not (tmp_path / "b").exists()


def test_the_comment_is_the_report(tmp_path: Path) -> None:
    """By a client that only notes what it was asked."""
    origin = upstream(tmp_path / "upstream")
    (origin / "diff.md").write_text("moved " * 20_000)
    client = tmp_path / "bin/gh"
    client.parent.mkdir()
    client.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\ncat > {tmp_path}/said\n')
    client.chmod(0o755)
    done = make(origin, "comment", PR="7", PATH=f"{client.parent}:/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked").read_text().split()
    assert asked[:3] == ["pr", "comment", "7"]
    assert {"--edit-last", "--create-if-none"} < {*asked}
    assert (tmp_path / "said").read_text() == ("moved " * 20_000)[:60_000]


@pytest.mark.slow
def test_a_fork_reproduces_and_compares_the_real_sample(tmp_path: Path) -> None:
    """Recent goes from 3 sessions to 30, and the fork did not even run it: the workflow does."""
    origin = copy_checkout(tmp_path / "upstream")
    keep_systems(origin, "none", "recent")
    give_tools(origin, "memrepro", "dvc")
    made = make(origin, "repro")
    assert made.returncode == 0, made.stdout + made.stderr
    git(origin, "checkout", "-q", "-b", "main")
    commit(origin)
    git(tmp_path, "clone", "-q", origin.as_uri(), str(tmp_path / "fork"))
    change_params(
        tmp_path / "fork",
        lambda values: values["systems"]["inmind"]["recent"]["settings"].update(sessions=30),
    )
    commit(tmp_path / "fork")
    open_pull_request(origin, tmp_path / "fork")
    runner = check_out(origin, tmp_path / "runner", "memrepro", "dvc")
    made = make(runner, "repro")
    assert made.returncode == 0, made.stdout + made.stderr
    stale = make(runner, "unchanged")
    assert stale.returncode != 0 and "other bytes than are committed" in stale.stderr
    done = make(runner, "diff", BASE="HEAD^1")
    assert done.returncode == 0, done.stderr
    assert "inmind/recent/target_recall_verbatim * | 0.0000 | 1.0000" in done.stdout
