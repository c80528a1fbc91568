"""What runs in the container, on the host and with folders of the host's: report, modes, end."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.projects import copy_inputs

PROGRAM = """
import sys
from pathlib import Path
from memrepro.runner import inside
inside.PROJECT, inside.OUT = map(Path, sys.argv[1:3])
sys.argv[1:3] = []
inside.main()
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_inputs(tmp_path_factory.mktemp("project"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def start(project: Path, out: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    folders = [str(project), str(out)]
    command = [sys.executable, "-c", PROGRAM, *folders, *arguments, "--dataset", "sample"]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def run(project: Path, out: Path, *arguments: str) -> int:
    """Until the stage has ended; its watcher, which a container would take along, ends then."""
    with start(project, out, *arguments) as stage:
        os.waitid(os.P_PID, stage.pid, os.WEXITED | os.WNOWAIT)
        told, _ = stage.communicate()  # closes its input, and reads until the watcher has ended
        assert told == b""
        return stage.returncode


def modes(folder: Path) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): path.stat().st_mode & 0o777
        for path in folder.rglob("*")
    }


def test_a_stage_writes_its_outputs_for_everybody_and_reports_facts(
    project: Path, out: Path
) -> None:
    assert run(project, out, "inmind.verify") == 0
    report = json.loads((out / "report.json").read_text())
    assert report["facts"]["python"] == ".".join(map(str, sys.version_info[:3]))
    verified = (out / "data/runs/sample/inmind/verified.jsonl").read_text().splitlines()
    assert [json.loads(line)["file"] for line in verified] == [
        f"data/sample/inmind/{name}"
        for name in ("background.jsonl", "manifest.json", "schema.json", "tasks.jsonl")
    ]
    assert modes(out) == {
        "data": 0o777,
        "data/runs": 0o777,
        "data/runs/sample": 0o777,
        "data/runs/sample/inmind": 0o777,
        "data/runs/sample/inmind/verified.jsonl": 0o644,
        "report.json": 0o644,
    }


def test_what_a_library_keeps_to_itself_is_opened_and_no_links_target(
    project: Path, out: Path, tmp_path: Path
) -> None:
    """Also after an error, so that whoever runs this can remove it."""
    (out / "cache").mkdir()
    for path in (out / "cache/own.bin", tmp_path / "elsewhere"):
        path.write_text("x")
        path.chmod(0o600)
    (out / "link").symlink_to(tmp_path / "elsewhere")
    (out / "cache").chmod(0o700)
    out.chmod(0o750)
    assert run(project, out, "inmind.dream") == 2
    assert modes(out)["cache"] == 0o777
    assert modes(out)["cache/own.bin"] == 0o644
    assert (tmp_path / "elsewhere").stat().st_mode & 0o777 == 0o600
    assert out.stat().st_mode & 0o777 == 0o750  # the runner's own


def test_an_error_is_reported_and_is_the_exit_code(project: Path, out: Path) -> None:
    assert run(project, out, "inmind.remember", "--system", "elephant") == 2
    said = json.loads((out / "report.json").read_text())["error"]
    assert said["type"] == "InputError"
    assert "'elephant'" in said["what"]
    assert modes(out) == {"report.json": 0o644}


def test_it_ends_when_its_input_does(project: Path, out: Path) -> None:
    """The stage waits for ever: one of its inputs is a pipe that nobody writes to."""
    os.mkfifo(out / "waits")
    command = [
        sys.executable,
        "-c",
        "from memrepro.runner import inside\n"
        "inside.end_with_stdin()\n"
        "print('runs', flush=True)\n"
        f"open({str(out / 'waits')!r})",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stage:
        assert stage.stdin is not None and stage.stdout is not None
        assert stage.stdout.readline() == b"runs\n"
        stage.stdin.write(b"what comes in is not looked at")
        stage.stdin.flush()
        assert stage.poll() is None
        stage.stdin.close()
        assert stage.wait(timeout=20) == -9
        assert stage.stdout.read() == b""  # the watcher has ended too
