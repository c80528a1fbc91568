"""`data/SHA256SUMS`: its lines, the files that it can name, and `HEAD` where there is Git."""

from pathlib import Path

import pytest

from memrepro.errors import InputError
from memrepro.sources.sums import check_committed, parse_sums, update_sums

from .conftest import sha

A, B = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    ("text", "digests", "faults"),
    [
        ("", {}, []),
        (f"{A}  a\n{B}  b c\n", {"a": A, "b c": B}, []),
        (f"{A}  a", {"a": A}, ["the last line has no line end"]),
        (f"{A}  a\r\n{B}  b\n", {"a": A, "b": B}, ["line 1 ends in CRLF"]),
        (f"{A} a\n{B}  b\n", {"b": B}, ["line 1 is not `<sha256>  <path>`"]),
        (f"{A}  a\n\n{B}  b\n", {"a": A, "b": B}, ["line 2 is not `<sha256>  <path>`"]),
        (f"{A}  a\n{B}  a\n", {"a": A}, ["line 2 names a again"]),
        (f"{B}  b\n{A}  a\n", {"a": A, "b": B}, ["the lines are not sorted by path"]),
    ],
)
def test_lines(text: str, digests: dict[str, str], faults: list[str]) -> None:
    assert parse_sums(text) == (digests, faults)


def test_a_name_that_no_line_can_hold_is_refused(project: Path) -> None:
    before = (project / "data/SHA256SUMS").read_bytes()
    (project / "prompts/two\nlines.txt").write_text("x")
    with pytest.raises(InputError, match="holds a backslash or a line end") as caught:
        update_sums(project)
    assert caught.value.where == r"'prompts/two\nlines.txt'"
    assert (project / "data/SHA256SUMS").read_bytes() == before


def test_gits_and_dvcs_own_files_are_not_covered(project: Path) -> None:
    (project / "data/sample/.gitignore").write_text("x\n")
    update_sums(project)
    assert [check.file for check in check_committed(project) if not check.ok] == []
    assert ".gitignore" not in (project / "data/SHA256SUMS").read_text()


def test_absent_sums_are_told_with_what_writes_them(project: Path) -> None:
    (project / "data/SHA256SUMS").unlink()
    (check,) = check_committed(project)
    assert (check.file, check.ok) == ("data/SHA256SUMS", False)
    assert check.cause == "No such file or directory; run `memrepro verify --update`"


def test_without_git_the_files_are_held_all_the_same(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert all(check.ok for check in check_committed(project))
    (project / "data/sample/x.jsonl").write_bytes(b"{}\n")
    (failed,) = (check for check in check_committed(project) if not check.ok)
    assert (failed.file, failed.found) == ("data/sample/x.jsonl", sha(b"{}\n"))
    assert failed.expected == sha(b'{"a":1}\n{"a":2}\n')


def test_a_file_that_cannot_be_read_is_no_missing_one(project: Path) -> None:
    (project / "data/sample/x.jsonl").unlink()
    (project / "data/sample/x.jsonl").mkdir()
    (failed,) = (check for check in check_committed(project) if not check.ok)
    assert failed.cause == "cannot be read: Is a directory"
