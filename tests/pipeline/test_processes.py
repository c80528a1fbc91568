"""A stage ends with the pipeline that started it, and a lock that cannot be made is an error."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memrepro.errors import ServiceError
from memrepro.stages.processes import die_with_parent, die_with_pipeline, hold_lock

# As DVC starts a stage: a variable of its own in the environment, and a shell in between.
PIPELINE = """
import os, subprocess, sys
environment = {**os.environ, "DVC_STAGE": "x"}
command = ["sh", "-c", '"$0" -c "$1" "$2"; exit $?', sys.executable, *sys.argv[1:]]
sys.exit(subprocess.run(command, env=environment).returncode)
"""
STAGE = """
import sys, time
from memrepro.stages.processes import die_with_pipeline
die_with_pipeline()
print("runs", flush=True)
time.sleep(float(sys.argv[1]))
print("is done", flush=True)
"""


def start(seconds: float) -> "subprocess.Popen[str]":
    """A pipeline whose stage takes so long; its output ends when the last process of it has."""
    environment = {name: value for name, value in os.environ.items() if name != "DVC_STAGE"}
    pipeline = subprocess.Popen(
        [sys.executable, "-c", PIPELINE, STAGE, str(seconds)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert pipeline.stdout is not None
    assert pipeline.stdout.readline() == "runs\n"
    return pipeline


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux's kernel")


@needs_linux
def test_a_stage_does_not_outlive_a_killed_pipeline() -> None:
    pipeline = start(60)
    pipeline.send_signal(signal.SIGKILL)
    told, _ = pipeline.communicate(timeout=20)
    assert told == ""  # it ended before it was done


@needs_linux
def test_a_stage_that_ends_leaves_nobody_watching() -> None:
    pipeline = start(0)
    told, _ = pipeline.communicate(timeout=20)
    assert (told, pipeline.returncode) == ("is done\n", 0)


@needs_linux
def test_a_stage_whose_pipeline_is_gone_does_not_start(tmp_path: Path) -> None:
    """Its nearest ancestor that is no stage is in another process group: it inherited an orphan."""
    done = subprocess.run(
        [sys.executable, "-m", "memrepro", "stage", "inmind.build"],
        cwd=tmp_path,
        env={**os.environ, "DVC_STAGE": "x"},
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert done.returncode == 3
    assert done.stderr == (
        "error: the pipeline that started this stage is gone\n  hint:     dvc repro\n"
    )


def test_elsewhere_than_on_linux_no_kernel_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("asked for what only Linux has")

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("DVC_STAGE", "x")
    monkeypatch.setattr("ctypes.CDLL", refuse)
    monkeypatch.setattr("os.fork", refuse)
    die_with_parent(os.getppid())
    die_with_pipeline()


def test_a_lock_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("in the way")
    lock = tmp_path / "locks/x.lock"
    with (
        pytest.raises(ServiceError, match="the lock cannot be made: File exists") as caught,
        hold_lock(lock, "a stage"),
    ):
        pass
    assert caught.value.where == str(lock)
    assert caught.value.hint == "free disk space or make the checkout writable"
