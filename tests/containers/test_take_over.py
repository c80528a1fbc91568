"""What a container wrote, taken over as the runner's own, or refused."""

import os
from pathlib import Path

import pytest

from memrepro.errors import CheckFailed, InputError, ServiceError, Stopped
from memrepro.runner.container import Mount, take_over
from memrepro.runner.report import read_report, write_report

OUTPUT = "data/runs/sample/contexts"


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    folder = tmp_path / "staging" / OUTPUT
    (folder / "deep").mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(b"one\n")
    (folder / "deep/b.jsonl").write_bytes(b"two\n")
    return tmp_path / "staging"


def test_files_and_folders_are_copied_and_nothing_beside_them(
    staging: Path, tmp_path: Path
) -> None:
    (staging / "undeclared.txt").write_text("x")
    take_over(staging, tmp_path / "out", [OUTPUT])
    found = {
        path.relative_to(tmp_path / "out").as_posix(): path.read_bytes()
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    }
    assert found == {f"{OUTPUT}/a.jsonl": b"one\n", f"{OUTPUT}/deep/b.jsonl": b"two\n"}


def test_a_link_is_no_way_to_the_hosts_files(staging: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the host's")
    (staging / OUTPUT / "c.jsonl").symlink_to(secret)
    with pytest.raises(CheckFailed, match="neither a file nor a folder") as caught:
        take_over(staging, tmp_path / "out", [OUTPUT])
    assert caught.value.where == f"{OUTPUT}/c.jsonl"


def test_a_link_on_the_way_is_none_either(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "runs/sample/contexts").mkdir(parents=True)
    (tmp_path / "staging").mkdir()
    (tmp_path / "staging/data").symlink_to(elsewhere)
    with pytest.raises(CheckFailed, match="neither a file nor a folder") as caught:
        take_over(tmp_path / "staging", tmp_path / "out", [OUTPUT])
    assert caught.value.where == "data"


def test_a_pipe_and_a_missing_output_are_refused(staging: Path, tmp_path: Path) -> None:
    os.mkfifo(staging / OUTPUT / "pipe")
    with pytest.raises(CheckFailed, match="neither a file nor a folder"):
        take_over(staging, tmp_path / "out", [OUTPUT])
    with pytest.raises(CheckFailed, match="not there"):
        take_over(staging, tmp_path / "out", ["data/other.jsonl"])


def test_a_refusing_disk_is_an_error_of_ours(staging: Path) -> None:
    with pytest.raises(ServiceError, match="taken over"):
        take_over(staging, Path("/dev/null/out"), [OUTPUT])


@pytest.mark.parametrize(
    "error",
    [
        InputError("wrong", where="file", expected=1, found="2", hint="mend it"),
        Stopped("enough"),
    ],
)
def test_an_error_comes_out_as_it_went_in(tmp_path: Path, error: InputError | Stopped) -> None:
    write_report(tmp_path / "report.json", error)
    found = read_report(tmp_path / "report.json")
    assert type(found) is type(error)
    assert str(found) == str(error)


def test_facts_come_out_and_a_link_does_not(tmp_path: Path) -> None:
    write_report(tmp_path / "report.json", {"worker_pids": [1, 2]})
    assert read_report(tmp_path / "report.json") == {"worker_pids": [1, 2]}
    (tmp_path / "link.json").symlink_to(tmp_path / "report.json")
    assert read_report(tmp_path / "link.json") is None
    assert read_report(tmp_path / "none.json") is None


def test_a_path_with_a_comma_or_a_quote_is_one_field_of_the_mount() -> None:
    """`--mount` is read as CSV (RFC 4180): a field with a comma stands in quotes."""
    mount = Mount(Path('/a,b/c"d'), "/project/x")
    assert mount.argument == 'type=bind,"src=/a,b/c""d",dst=/project/x,readonly'
