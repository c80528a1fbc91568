"""An attempt's folders: what killed runs left is swept, and no output is half in place."""

import fcntl
from pathlib import Path

import pytest

from memrepro.errors import CheckFailed, ServiceError
from memrepro.runner.attempt import attempt, place
from memrepro.stages.declarations import Declaration

STAGE = Declaration("x.make", None, (), ("runs/a.txt", "runs/folder"), ())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_leftovers_of_killed_runs_go_and_those_of_running_ones_stay(tmp_path: Path) -> None:
    attempts, locks = tmp_path / ".memrepro/attempts", tmp_path / ".memrepro/locks"
    locks.mkdir(parents=True)
    for name in ("sample.x.make", "sample.killed", "sample.running"):
        (attempts / name / "out").mkdir(parents=True)
        (attempts / name / "out/half.txt").write_text("half")
    with (locks / "sample.running.lock").open("a") as running:
        fcntl.flock(running, fcntl.LOCK_EX)
        with attempt(tmp_path, "sample", "x.make") as folders:
            assert names(attempts) == ["sample.running", "sample.x.make"]
            assert names(attempts / "sample.x.make") == ["out", "replaced", "staging"]
            assert names(folders.out) == []
    assert names(attempts) == ["sample.running"]
    assert (attempts / "sample.running/out/half.txt").exists()


def test_an_attempt_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mine"), attempt(tmp_path, "sample", "x.make") as folders:
        (folders.out / "half.txt").write_text("half")
        raise ValueError("mine")
    assert names(tmp_path / ".memrepro/attempts") == []


def test_a_working_folder_that_cannot_be_made_is_named_with_what_helps(tmp_path: Path) -> None:
    (tmp_path / ".memrepro").mkdir()
    (tmp_path / ".memrepro/attempts").write_text("in the way")
    with (
        pytest.raises(ServiceError, match="working folder cannot be used: File exists") as caught,
        attempt(tmp_path, "sample", "x.make"),
    ):
        pass
    assert caught.value.where == f"{tmp_path}/.memrepro/attempts"
    assert f"sudo rm -r {tmp_path}/.memrepro/attempts" in (caught.value.hint or "")


def write_outputs(out: Path) -> None:
    (out / "runs/folder").mkdir(parents=True)
    (out / "runs/a.txt").write_text("new")
    (out / "runs/folder/b.txt").write_text("new")


def test_outputs_are_placed_whole(tmp_path: Path) -> None:
    (tmp_path / "runs/folder").mkdir(parents=True)
    (tmp_path / "runs/folder/old.txt").write_text("old")
    with attempt(tmp_path, "sample", "x.make") as folders:
        write_outputs(folders.out)
        place(tmp_path, folders, STAGE)
    assert (tmp_path / "runs/a.txt").read_text() == "new"
    assert names(tmp_path / "runs/folder") == ["b.txt"]


def test_a_missing_output_moves_none(tmp_path: Path) -> None:
    with attempt(tmp_path, "sample", "x.make") as folders:
        (folders.out / "runs").mkdir()
        (folders.out / "runs/a.txt").write_text("new")
        with pytest.raises(CheckFailed, match="did not write a declared output") as caught:
            place(tmp_path, folders, STAGE)
    assert caught.value.where == "runs/folder"
    assert not (tmp_path / "runs").exists()


def test_a_place_that_refuses_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("in the way")
    with attempt(tmp_path, "sample", "x.make") as folders:
        write_outputs(folders.out)
        with pytest.raises(ServiceError, match="cannot be moved into place") as caught:
            place(tmp_path, folders, STAGE)
    assert caught.value.where == f"{tmp_path}/runs/a.txt"
    assert (tmp_path / "runs").read_text() == "in the way"
