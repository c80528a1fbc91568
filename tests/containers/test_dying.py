"""A pipeline that is interrupted, at many moments of a stage, on the host and in a container."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from memrepro.runner import Runner
from memrepro.runner.container import container_name
from memrepro.runner.engine import find_engine
from memrepro.runner.image import Image
from tests.projects import copy_checkout

pytestmark = pytest.mark.docker

# Enough for every change; MEMREPRO_KILL_MOMENTS=10 is the thorough run.
MOMENTS = int(os.environ.get("MEMREPRO_KILL_MOMENTS", "1"))
STAGE = "inmind.remember@bm25"
OUTPUT = "data/runs/sample/inmind/contexts/bm25"
DVC = [sys.executable, "-m", "dvc"]


@dataclass(frozen=True)
class Pipeline:
    """A checkout in which the stages before STAGE are reproduced."""

    root: Path
    runner: Runner
    shell: str
    wanted: dict[str, bytes]
    seconds: float

    def start(self) -> subprocess.Popen[bytes]:
        return start(self.root, self.runner, self.shell)

    def output(self) -> dict[str, bytes] | None:
        return read_output(self.root)


def forget(root: Path) -> None:
    """Make DVC run the stage in earnest: no output, nothing locked, nothing in its run cache."""
    for path in (root / OUTPUT, root / ".dvc/cache/runs"):
        shutil.rmtree(path, ignore_errors=True)
    (root / "dvc.lock").unlink(missing_ok=True)


def start(root: Path, runner: Runner, shell: str) -> subprocess.Popen[bytes]:
    """Start DVC, which runs stages through $SHELL: bash becomes the stage, dash stays between."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    chosen = {"PATH": path, "SHELL": shell, "MEMREPRO_RUNNER": runner, "MEMREPRO_WORKERS": "2"}
    return subprocess.Popen(
        [*DVC, "repro", "--single-item", STAGE],
        cwd=root,
        env={**os.environ, **chosen},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def read_output(root: Path) -> dict[str, bytes] | None:
    folder = root / OUTPUT
    if not folder.exists():
        return None
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name[0] != "."}


def stage_processes(root: Path) -> list[str]:
    """Command lines of whatever belongs to the stage, in this checkout or in a container."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().decode().split("\0")
            line = " ".join(words)
            here = (process / "cwd").readlink() == root and "dvc" not in words
            if line and (here or "memrepro.runner.inside" in words):
                found.append(line)
    return found


def containers(root: Path) -> list[str]:
    name = container_name(root, f"sample.{STAGE}")
    listed = find_engine().ask("ps", "--quiet", "--filter", f"name={name}")
    assert listed.returncode == 0, listed.stderr
    return listed.stdout.split()


def wait_for_stage(root: Path, process: subprocess.Popen[bytes]) -> None:
    while not stage_processes(root):
        assert process.poll() is None
        time.sleep(0.002)


@pytest.fixture(
    scope="module",
    params=[("host", "/bin/sh"), ("host", "/bin/bash"), ("docker", "/bin/sh")],
    ids=["host-sh", "host-bash", "docker-sh"],
)
def pipeline(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, image: Image
) -> Iterator[Pipeline]:
    runner: Runner
    runner, shell = request.param
    root = copy_checkout(tmp_path_factory.mktemp(f"dying-{runner}"))
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(
        [*DVC, "repro", "-q", "inmind.build", STAGE],
        cwd=root,
        env={**environment, "MEMREPRO_RUNNER": "host"},
        check=True,
    )
    wanted = read_output(root)
    assert wanted
    forget(root)
    undisturbed = start(root, runner, shell)
    wait_for_stage(root, undisturbed)
    begin = time.monotonic()
    while stage_processes(root):
        time.sleep(0.005)
    seconds = time.monotonic() - begin
    assert undisturbed.wait() == 0
    yield Pipeline(root, runner, shell, wanted, seconds)


@pytest.mark.parametrize("moment", range(MOMENTS))
@pytest.mark.parametrize("at_once", [False, True], ids=["looked at", "at once"])
@pytest.mark.parametrize("to", ["alone", "group"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_lives_on_and_the_next_run_is_right(
    pipeline: Pipeline, number: signal.Signals, to: str, at_once: bool, moment: int
) -> None:
    forget(pipeline.root)
    dvc = pipeline.start()
    wait_for_stage(pipeline.root, dvc)
    time.sleep(pipeline.seconds * (moment + 0.5) / MOMENTS)
    if to == "alone":
        dvc.send_signal(number)
    else:
        os.killpg(dvc.pid, number)
    sent = time.monotonic()
    if number == signal.SIGINT and to == "alone":
        # DVC ignores SIGINT while a stage runs, and the stage never hears of it.
        assert dvc.wait() == 0
        assert pipeline.output() == pipeline.wanted
        return
    dvc.wait()  # as at a terminal, whose prompt is back when DVC has ended
    if not at_once:
        while stage_processes(pipeline.root) or containers(pipeline.root):
            assert time.monotonic() - sent < 1, stage_processes(pipeline.root)
            time.sleep(0.005)
        assert pipeline.output() in (None, pipeline.wanted)
    assert pipeline.start().wait() == 0
    assert pipeline.output() == pipeline.wanted
    assert not list((pipeline.root / ".memrepro/attempts").iterdir())
