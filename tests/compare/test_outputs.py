"""Texts of two commits whose outputs DVC has: in a remote, in its cache, or nowhere."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dvc.repo import Repo
from scipy.stats import binomtest

from memrepro.compare.outputs import open_outputs
from memrepro.files import write_records
from memrepro.records import (
    CIMemoriesAttribute,
    CIMemoriesContext,
    Condition,
    InMindContext,
    InMindTask,
    RecalledItem,
)
from tests.commands import Ran
from tests.compare.project import (
    RUNS,
    binary,
    commit,
    flipped,
    git,
    new_project,
    write_cimemories,
    write_inmind,
)

Diff = Callable[..., Ran]
BASE = binary(3, 8)
PATH = "inmind/bm25/target_recall_verbatim"
PIPELINE = """\
stages:
  build:
    wdir: {wdir}
    cmd: "true"
    outs:
      - data/runs/{dataset}/inmind/inputs
      - data/runs/{dataset}/inmind/contexts/bm25
      - data/runs/{dataset}/cimemories/inputs
      - data/runs/{dataset}/cimemories/judge_only
"""
IGNORED = """\
/data/runs/*/*/inputs
/data/runs/*/*/contexts
/data/runs/*/*/judge_only
"""


@pytest.fixture(scope="module", autouse=True)
def own_dvc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No configuration of the person who runs the tests."""
    folder = str(tmp_path_factory.mktemp("dvc"))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GLOBAL_CONFIG_DIR", "SYSTEM_CONFIG_DIR", "SITE_CACHE_DIR"):
            patch.setenv(f"DVC_{name}", folder)
        yield


@pytest.fixture(scope="module")
def origin(own_dvc: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two commits, each pushed to the folder `store` beside; task 2 was lost, and texts changed.

    A third commit names that remote, by a path relative to the project.
    """
    base = tmp_path_factory.mktemp("outputs")
    project = new_project(base / "origin")
    (project / ".gitignore").write_text(IGNORED)
    (project / "dvc.yaml").write_text(PIPELINE.format(wdir=".", dataset="sample"))
    (project / "full/dvc.yaml").write_text(PIPELINE.format(wdir="..", dataset="full"))
    configure(project, "")
    (project / ".dvc/.gitignore").write_text("/config.local\n/tmp\n/cache\n")
    states: list[tuple[list[int | None], str, str]] = [
        (BASE, "110", "first"), (flipped(BASE, 2), "101", "second")
    ]  # fmt: skip
    for scores, told, word in states:
        write_scores(project, scores, told)
        for dataset in ("sample", "full"):
            write_outputs(project, dataset, word)
        with Repo(str(project)) as repo:
            repo.commit(force=True)
        commit(project)
    configure(project, "../../store", "config.local")
    with Repo(str(project)) as repo:
        repo.push(all_commits=True)
    (project / ".dvc/config.local").unlink()
    configure(project, "../../store")
    commit(project)
    return project


def configure(project: Path, url: str, file: str = "config") -> None:
    """Set the project's remote, or none."""
    (project / ".dvc").mkdir(exist_ok=True)
    remote = f"remote = store\n['remote \"store\"']\nurl = {url}\n" if url else ""
    (project / ".dvc" / file).write_text(f"[core]\nanalytics = false\n{remote}")


def write_scores(project: Path, scores: list[int | None], told: str) -> None:
    """What is committed: metrics, score rows, and signatures that name the profiles' digest."""
    file, place = project / "metrics/sample.json", project / RUNS / "signatures.jsonl"
    values = {"violation": 0.5, "completeness": 1.0}
    readings = {"bm25": {"paper": values, "released-code": values}}
    write_cimemories(project, ("nii",), {"bm25": (told,)}, readings)
    given: dict[str, Any] = json.loads(file.read_text())
    write_inmind(project, {"bm25": scores})
    file.write_text(json.dumps(json.loads(file.read_text()) | given))
    signed = {"path": "cimemories/bm25/paper/violation", "profiles": "p", "benchmark": "cimemories"}
    place.write_text(place.read_text() + json.dumps(signed) + "\n")


def write_outputs(project: Path, dataset: str, word: str) -> None:
    """What DVC has: the context and the statements hold the word, the query does not."""
    inmind, cimemories = (project / f"data/runs/{dataset}" / x for x in ("inmind", "cimemories"))
    task = InMindTask(
        task_id=2, injection_session_index=0, user_message="I keep bees.", assistant_message="Ah.",
        naive_query="What do I keep?", query="What to plant?",
    )  # fmt: skip
    write_records(inmind / "inputs/tasks.jsonl", [task])
    recalled: list[tuple[Condition, tuple[int, ...]]] = [
        ("with_target", (1, 0)), ("without_target", (2,))
    ]  # fmt: skip
    contexts = [
        InMindContext(
            task_id=2, query_kind="indirect", condition=condition, system="bm25", items=items,
            context_sha256="0" * 64, state_before="0" * 64, state_after="0" * 64,
        )
        for condition, items in recalled
    ]  # fmt: skip
    texts = ("a turn", f"the {word} turn", "no target")
    turns = [RecalledItem(item=n, id=f"t{n}", text=text) for n, text in enumerate(texts)]
    write_records(inmind / "contexts/bm25/contexts.jsonl", contexts)
    write_records(inmind / "contexts/bm25/items.jsonl", turns)
    write_records(
        cimemories / "inputs/contexts.jsonl",
        [CIMemoriesContext(profile=0, place=0, recipient="R", task="T")],
    )
    attributes = [
        CIMemoriesAttribute(
            profile=0, position=n, name="Ada", key=f"key_{n}", value=n, domain="health",
            statement=f"The {word} statement {n}.",
        )
        for n in (1, 2, 3)
    ]  # fmt: skip
    write_records(cimemories / "judge_only/attributes.jsonl", attributes)


@pytest.fixture
def clone(origin: Path, tmp_path: Path) -> Path:
    """A fresh clone: no outputs, no cache, and the remote that its configuration names."""
    project = tmp_path / "project"
    git(origin, "clone", "-q", origin.as_uri(), str(project))
    (tmp_path / "store").symlink_to(origin.parent / "store")
    return project


def state(project: Path) -> dict[str, tuple[int, int]]:
    """Every file and folder, DVC's own too, with its size and when it changed."""
    found = [project, *(path for path in project.rglob("*") if ".git" not in path.parts)]
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def rows(ran: Ran) -> dict[str, Any]:
    found = json.loads(ran.out)["datasets"]["sample"]["moved"]
    return {row["path"]: row for row in found}


COMMITS = ("HEAD~2", "HEAD~1", "--texts")
CONTEXT = [
    "  2 query: What to plant?",
    "  2 fact: I keep bees.",
    "  2 context of HEAD~2: the first turn a turn",
    "  2 context of HEAD~1: the second turn a turn",
]
STATEMENTS = [
    "  0/3 statement of HEAD~2: The first statement 3.",
    "  0/3 statement of HEAD~1: The second statement 3.",
]


def lines_after(ran: Ran, line: str, many: int) -> list[str]:
    lines = [one.removeprefix("  ") for one in ran.out.split("\n")]
    start = lines.index(line) + 1
    return lines[start : start + many]


def test_each_side_tells_its_own_text_from_the_remote(clone: Path, diff: Diff) -> None:
    """Although no remote is named in either commit, and the path of the one there is relative."""
    before, told = state(clone), git(clone, "status", "--porcelain", "--ignored")
    ran = diff(clone, *COMMITS)
    assert ran.code == 0 and ran.err == ""
    assert lines_after(ran, f"{PATH} lost: 2", 4) == CONTEXT
    assert lines_after(ran, "cimemories/bm25/paper/violation lost: 0/3", 2) == STATEMENTS
    assert "not at hand" not in ran.out
    assert state(clone) == before
    assert git(clone, "status", "--porcelain", "--ignored") == told == ""


def test_json_has_each_sides_texts_and_the_released_codes_items(clone: Path, diff: Diff) -> None:
    """Those need names of attributes, which no clone holds: without texts there are none."""
    ran = diff(clone, *COMMITS, "--format", "json")
    found = rows(ran)
    about = {"query": "What to plant?", "fact": "I keep bees."}
    assert found[PATH]["texts"] == {
        "2": [
            {**about, "context": "the first turn\n\na turn"},
            {**about, "context": "the second turn\n\na turn"},
        ]
    }
    assert found[PATH]["items"]["p"] == pytest.approx(binomtest(0, 1).pvalue)
    released = found["cimemories/bm25/released-code/violation"]
    assert (released["items"]["won"], released["items"]["lost"]) == (["0/2"], ["0/3"])
    assert json.loads(ran.out)["not_at_hand"] == []
    without = diff(clone, "HEAD~2", "HEAD~1", "--format", "json")
    assert "cimemories/bm25/released-code/violation" not in rows(without)
    assert "texts" not in rows(without)[PATH]


def test_without_a_remote_the_flips_still_list(clone: Path, diff: Diff) -> None:
    configure(clone, "")
    before = state(clone)
    ran = diff(clone, *COMMITS)
    assert ran.code == 0 and ran.err == ""
    assert lines_after(ran, f"{PATH} lost: 2", 1) == ["  2: its text is not at hand"]
    lines = [line for line in ran.out.split("\n") if "text not at hand" in line]
    assert len(lines) == 2
    for line, revision in zip(lines, ("HEAD~2", "HEAD~1"), strict=True):
        assert f" of {revision} is neither in the DVC cache nor pushed to a remote" in line
        assert f"{RUNS}/cimemories/inputs/contexts.jsonl (and 4 more)" in line
        assert "run dvc remote add --local -d NAME URL and dvc push --all-commits" in line
    assert state(clone) == before


def test_the_cache_alone_will_do_and_the_working_tree_is_not_asked(
    origin: Path, clone: Path, diff: Diff
) -> None:
    configure(clone, "")
    shutil.copytree(origin / ".dvc/cache", clone / ".dvc/cache")
    write_outputs(clone, "sample", "third")
    before = state(clone)
    ran = diff(clone, *COMMITS)
    assert lines_after(ran, f"{PATH} lost: 2", 4) == CONTEXT
    assert "third" not in ran.out and "not at hand" not in ran.out
    assert state(clone) == before
    ran = diff(clone, "HEAD~2", "--texts")
    assert "2 context of HEAD~2: the first turn a turn" in ran.out
    assert "2 context of the working tree: the third turn a turn" in ran.out


def test_a_remote_that_is_not_there(clone: Path, diff: Diff) -> None:
    configure(clone, "../../no-such-folder")
    ran = diff(clone, *COMMITS)
    assert ran.code == 0 and ran.err == ""
    assert lines_after(ran, f"{PATH} lost: 2", 1) == ["  2: its text is not at hand"]
    says = "of HEAD~2 is neither in the DVC cache nor pushed to the remote store; run dvc push"
    assert says in ran.out and "Traceback" not in ran.out


def test_a_remote_that_fails_keeps_nothing_in_the_cache_from_being_read(
    origin: Path, clone: Path, diff: Diff
) -> None:
    """DVC itself would give up, for want of the library of this kind of remote."""
    configure(clone, "s3://bucket/x")
    shutil.copytree(origin / ".dvc/cache", clone / ".dvc/cache")
    (gone,) = (
        file
        for file in (clone / ".dvc/cache/files").rglob("*")
        if file.is_file() and b"The first statement" in file.read_bytes()
    )
    gone.unlink()
    ran = diff(clone, *COMMITS)
    assert ran.code == 0 and ran.err == ""
    assert lines_after(ran, f"{PATH} lost: 2", 4) == CONTEXT
    says = (
        f"{RUNS}/cimemories/judge_only/attributes.jsonl of HEAD~2 is not in the DVC cache, and the "
        "remote store fails: s3 is supported, but requires 'dvc-s3' to be installed"
    )
    assert says in ran.out and "Traceback" not in ran.out


def test_dvc_is_opened_for_texts_only(
    clone: Path, diff: Diff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dvc.config", None)  # as if DVC were not installed
    assert "not at hand" not in diff(clone, *COMMITS[:2]).out
    ran = diff(clone, *COMMITS)
    assert ran.code == 0 and f"{PATH} lost: 2" in ran.out
    assert 'DVC is missing; pip install "memrepro[pipeline]"' in ran.out


def test_outputs_of_the_full_pipeline_are_read_too(clone: Path, tmp_path: Path) -> None:
    file = "data/runs/full/inmind/contexts/bm25/items.jsonl"
    revision = git(clone, "rev-parse", "HEAD~2").strip()
    with open_outputs(clone, revision, tmp_path / "side") as bring:
        assert bring(file) is None
    text = (tmp_path / "side" / file).read_text()
    assert '"text":"the first turn"' in text


def test_a_project_in_a_folder_of_its_repository(origin: Path, tmp_path: Path) -> None:
    project = tmp_path / "outer/inner"
    shutil.copytree(origin, project, ignore=shutil.ignore_patterns(".git"))
    git(project.parent, "init", "-q")
    commit(project.parent)
    file = f"{RUNS}/inmind/contexts/bm25/items.jsonl"
    (project / file).unlink()
    revision = git(project, "rev-parse", "HEAD").strip()
    with open_outputs(project, revision, tmp_path / "side") as bring:
        assert bring(file) is None
    assert '"text":"the second turn"' in (tmp_path / "side" / file).read_text()
