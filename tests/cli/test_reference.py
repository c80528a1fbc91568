"""`python -m memrepro.cli.reference`: writes the page of commands, and notices a stale one."""

import sys
from pathlib import Path

import pytest

from memrepro.cli import reference
from tests.sources.conftest import source, write_pins

PAGE = "docs/reference/commands.md"


def run(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *arguments: str,
) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["reference", *arguments])
    try:
        reference.main()
    except SystemExit as ended:
        return int(ended.code or 0), capsys.readouterr().err
    return 0, capsys.readouterr().err


def test_it_is_written_and_held_to_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pins(tmp_path, source())
    stale = (
        f"error: {PAGE}: the command reference differs from the commands\n"
        "  hint:     python -m memrepro.cli.reference\n"
    )
    assert run(tmp_path, monkeypatch, capsys, "--check") == (1, stale)
    assert run(tmp_path, monkeypatch, capsys) == (0, "")
    page = (tmp_path / PAGE).read_text("utf-8")
    assert "\n## `memrepro cimemories tables`\n" in page
    assert "\n`memrepro cimemories tables [OPTIONS] [NAME]`\n" in page
    assert "| `--task-id` | integer | required | The task. |" in page
    assert "memrepro check" not in page  # hidden
    assert run(tmp_path, monkeypatch, capsys, "--check") == (0, "")
    (tmp_path / PAGE).write_text(page.replace("integer", "text", 1), "utf-8")
    assert run(tmp_path, monkeypatch, capsys, "--check") == (1, stale)


def test_outside_a_project_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, err = run(tmp_path, monkeypatch, capsys)
    assert code == 2
    assert "not inside a memrepro project" in err
