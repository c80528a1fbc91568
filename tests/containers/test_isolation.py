"""What a program in InMind's `remember` container can see and do, and that each flag is why."""

import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from memrepro.files import iter_json_lines
from memrepro.params import load_params
from memrepro.runner.container import Mount, run_command, stage_mounts
from memrepro.runner.image import Image
from memrepro.stages.declarations import declare

pytestmark = pytest.mark.docker

Probe = dict[str, Any]
MIB = 1 << 20

# Runs inside; prints what it found as JSON. argv: a judge-only text, the listener's port.
PROBE = r"""
import json, os, pathlib, socket, sys
secret, port = sys.argv[1], int(sys.argv[2])

def attempt(action):
    try:
        action()
        return True
    except OSError:
        return False

def first(*names):
    for name in names:
        if os.path.exists(name):
            return open(name).read().strip()

def connect():
    socket.create_connection(("127.0.0.1", port), timeout=2).close()

def write(folder):
    path = pathlib.Path(folder) / "written-by-the-probe"
    path.write_text("x")
    path.unlink()

files = [os.path.join(place, name)
         for place, folders, names in os.walk("/")
         if not place.startswith(("/proc", "/sys"))
         for name in names + folders]
texts = [path for path in files if path.startswith("/project/") and os.path.isfile(path)
         and secret in open(path, encoding="utf-8", errors="replace").read()]
status = dict(line.split(":\t") for line in open("/proc/self/status").read().splitlines()
              if ":\t" in line)
disk = os.statvfs("/tmp")
print(json.dumps({
    "judge_only": [path for path in files if "judge_only" in path],
    "secret_in": texts,
    "project": sorted(path for path in files if path.startswith("/project/")),
    "interfaces": sorted(os.listdir("/sys/class/net")),
    "reaches_host": attempt(connect),
    "writes": [place for place in ("/", "/opt", "/project", "/var/tmp", "/usr/lib")
               if attempt(lambda: write(place))],
    "writes_input": attempt(lambda: write("/project/data/runs/sample/inmind/inputs")),
    "writes_output": attempt(lambda: write("/out")),
    "tmp_bytes": disk.f_frsize * disk.f_blocks,
    "uid": os.getuid(), "gid": os.getgid(),
    "CapBnd": int(status["CapBnd"], 16), "CapEff": int(status["CapEff"], 16),
    "NoNewPrivs": status["NoNewPrivs"],
    "memory": first("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"),
    "processes": first("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"),
}))
"""


@dataclass(frozen=True)
class Setting:
    """A remember stage that is about to run."""

    image: Image
    project: Path
    mounts: list[Mount]
    secret: str
    port: int

    def command(self) -> list[str]:
        program = ["python", "-c", PROBE, self.secret, str(self.port)]
        return run_command(self.image, "memrepro-test-isolation", self.mounts, program)


def probe(command: list[str]) -> Probe:
    result = subprocess.run(command, stdin=subprocess.PIPE, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found: Probe = json.loads(result.stdout)
    return found


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number: int = listener.getsockname()[1]
        socket.create_connection(("127.0.0.1", number), timeout=2).close()
        yield number


@pytest.fixture(scope="module")
def setting(
    image: Image, built_sample: Path, tmp_path_factory: pytest.TempPathFactory, port: int
) -> Setting:
    out = tmp_path_factory.mktemp("out")
    out.chmod(0o777)
    inputs = built_sample / "data/runs/sample/inmind/inputs"
    inputs.chmod(0o777)  # so that it is the read-only mount that keeps it, and not its mode
    judge_only = built_sample / "data/runs/sample/inmind/judge_only/tasks.jsonl"
    _, row = next(iter_json_lines(judge_only))
    secret = str(row["explanation"])
    assert len(secret) > 20
    declaration = declare(load_params(built_sample, "sample"), "inmind.remember", "bm25")
    mounts = stage_mounts(built_sample, "sample", declaration, out)
    return Setting(image, built_sample, mounts, secret, port)


@pytest.fixture(scope="module")
def kept(setting: Setting) -> Probe:
    return probe(setting.command())


def without(*flags: str) -> Callable[[Setting], list[str]]:
    """The command with flags taken away, each by the beginning of its text."""

    def change(setting: Setting) -> list[str]:
        command = setting.command()
        gone = [one for one in command if one.startswith(flags)]
        assert len(gone) == len(flags), gone
        return [one for one in command if one not in gone]

    return change


def instead(flag: str, other: str) -> Callable[[Setting], list[str]]:
    def change(setting: Setting) -> list[str]:
        command = setting.command()
        assert command.count(flag) == 1
        return [other if one == flag else one for one in command]

    return change


def with_the_whole_project(setting: Setting) -> list[str]:
    out = setting.mounts[-1]
    return replace(setting, mounts=[Mount(setting.project, "/project"), out]).command()


def with_writable_inputs(setting: Setting) -> list[str]:
    mounts = [replace(mount, writable=True) for mount in setting.mounts]
    return replace(setting, mounts=mounts).command()


CHECKS: dict[str, tuple[Callable[[Probe], bool], Callable[[Setting], list[str]]]] = {
    "no judge-only file anywhere": (lambda p: p["judge_only"] == [], with_the_whole_project),
    "no judge-only text": (lambda p: p["secret_in"] == [], with_the_whole_project),
    "only lo": (lambda p: p["interfaces"] == ["lo"], instead("--network=none", "--network=host")),
    "no way to the host": (
        lambda p: not p["reaches_host"],
        instead("--network=none", "--network=host"),
    ),
    "the root cannot be written": (lambda p: p["writes"] == [], without("--read-only")),
    "inputs cannot be written": (lambda p: not p["writes_input"], with_writable_inputs),
    "a small tmp": (
        lambda p: p["tmp_bytes"] == 64 * MIB,
        instead(
            "--tmpfs=/tmp:rw,noexec,nosuid,nodev,size=64m", "--tmpfs=/tmp:rw,noexec,nosuid,nodev"
        ),
    ),
    # The image names the same user, so the flag's absence alone would change nothing.
    "a user that is not root": (
        lambda p: p["uid"] == p["gid"] == 65532,
        instead("--user=65532:65532", "--user=0:0"),
    ),
    "no capability to gain": (lambda p: p["CapBnd"] == 0, without("--cap-drop")),
    "no new privileges": (lambda p: p["NoNewPrivs"] == "1", without("--security-opt=no-new")),
    "bounded memory": (
        lambda p: p["memory"] == str(4 << 30),
        without("--memory=", "--memory-swap="),
    ),
    "bounded processes": (lambda p: p["processes"] == "512", without("--pids-limit")),
}


@pytest.mark.parametrize("name", CHECKS)
def test_the_container_keeps_it(kept: Probe, name: str) -> None:
    holds, _ = CHECKS[name]
    assert holds(kept), kept


@pytest.mark.parametrize("name", CHECKS)
def test_the_check_fails_without_its_flag(setting: Setting, name: str) -> None:
    holds, change = CHECKS[name]
    assert not holds(probe(change(setting)))


def test_it_holds_exactly_what_the_stage_declares(kept: Probe) -> None:
    files = [path.removeprefix("/project/") for path in kept["project"]]
    inputs = "data/runs/sample/inmind/inputs"
    # Files and the folders on the way to them; counted by hand from dvc.yaml.
    assert files == [
        "data",
        "data/runs",
        "data/runs/sample",
        "data/runs/sample/inmind",
        inputs,
        f"{inputs}/sessions.jsonl",
        f"{inputs}/tasks.jsonl",
        "params.yaml",
        "requirements",
        "requirements/runtime.txt",
    ]
    assert kept["writes_output"]
    assert kept["CapEff"] == 0
