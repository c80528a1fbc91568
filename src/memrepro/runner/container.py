"""Runs a stage in a container that holds what the stage declares and nothing else."""

import csv
import io
import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memrepro.digest import sha256_text
from memrepro.errors import CheckFailed, InputError, MemreproError, ServiceError
from memrepro.params import Dataset, params_path
from memrepro.runner.attempt import Attempt
from memrepro.runner.engine import Engine
from memrepro.runner.image import Image
from memrepro.runner.report import REPORT, read_report
from memrepro.stages.declarations import Declaration

# Where the project's files and the staging folder are inside.
PROJECT, OUT = "/project", "/out"
USER = "65532:65532"
MEMORY = "MEMREPRO_MEMORY"
_PIDS = 512


@dataclass(frozen=True)
class Mount:
    """A file or folder of the host, seen at a place inside; both must exist."""

    source: Path
    target: str
    writable: bool = False

    @property
    def argument(self) -> str:
        """The value of `--mount`, which the engine reads as one line of CSV."""
        line = io.StringIO()
        fields = ["type=bind", f"src={self.source}", f"dst={self.target}"]
        csv.writer(line, lineterminator="").writerow(
            fields if self.writable else [*fields, "readonly"]
        )
        return line.getvalue()


def stage_mounts(root: Path, dataset: Dataset, declaration: Declaration, out: Path) -> list[Mount]:
    """Exactly what a stage declares, read-only, its params, and the folder that it writes to."""
    paths = dict.fromkeys((*declaration.inputs, params_path(dataset).as_posix()))
    return [
        *(Mount((root / path).resolve(), f"{PROJECT}/{path}") for path in paths),
        Mount(out.resolve(), OUT, writable=True),
    ]


def run_command(
    image: Image, name: str, mounts: Sequence[Mount], program: Sequence[str], memory: str = "4g"
) -> list[str]:
    """The command line that runs a program in a container of the image.

    No network, nothing writable but the staging folder and a small `/tmp`, no root, no capability,
    no way to gain one, bounded memory and processes; it ends when its standard input does.
    """
    return [
        image.engine.client,
        "run",
        "--interactive",
        "--init",
        "--rm",
        f"--name={name}",
        "--pull=never",
        "--log-driver=none",
        "--network=none",
        "--read-only",
        "--tmpfs=/tmp:rw,noexec,nosuid,nodev,size=64m",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        f"--user={USER}",
        f"--memory={memory}",
        f"--memory-swap={memory}",
        f"--pids-limit={_PIDS}",
        *image.engine.arguments,
        *(f"--mount={mount.argument}" for mount in mounts),
        image.id,
        *program,
    ]


def run_in_container(
    image: Image,
    root: Path,
    dataset: Dataset,
    declaration: Declaration,
    folders: Attempt,
    *,
    workers: int,
    progress: bool,
) -> dict[str, Any]:
    """Run a stage in a container and take its outputs over into the attempt's `out`.

    Returns:
        Facts for the provenance record.

    Raises:
        InputError: an input cannot be read by the container's user.
        MemreproError: whatever the stage itself raised.
        ServiceError: the container could not be started, or was killed.
        CheckFailed: it wrote something that is neither a file nor a folder.
    """
    mounts = stage_mounts(root, dataset, declaration, folders.staging)
    if not image.engine.maps_user:
        _require_readable(root, mounts)
    folders.staging.chmod(0o777)  # the container's user is none of the host's
    program = ["python", "-P", "-m", "memrepro.runner.inside", declaration.name]
    program += ["--dataset", dataset, "--workers", str(workers)]
    program += ["--system", declaration.system] if declaration.system else []
    program += ["--progress"] if progress else []
    name = container_name(root, f"{dataset}.{declaration.title}")
    memory = os.environ.get(MEMORY, "4g")
    remove(image.engine, name)
    code = _run(run_command(image, name, mounts, program, memory))
    facts = _facts(folders.staging, root, code, memory)
    take_over(folders.staging, folders.out, declaration.outputs)
    return {"runner": image.engine.kind, **image.facts, **facts}


def container_name(root: Path, title: str) -> str:
    """One name for a stage of a checkout, so that two containers of it cannot be."""
    checkout = sha256_text(f"{root.resolve()} {title}")[:12]
    return f"memrepro-{checkout}-{re.sub('[^A-Za-z0-9_.-]', '-', title)}"


def remove(engine: Engine, name: str) -> None:
    """Remove a container that a killed run left behind, and wait until its name is free.

    Raises:
        ServiceError: it cannot be removed.
    """
    for _ in range(50):
        removed = engine.ask("rm", "--force", "--volumes", name)
        if removed.returncode == 0 or "no such container" in removed.stderr.lower():
            # Older engines say so with an exit code, newer ones only in words.
            return
        time.sleep(0.2)
    raise ServiceError(
        "a container of an earlier run cannot be removed",
        where=name,
        found=removed.stderr.strip(),
        hint=f"{engine.client} rm --force {name}",
    )


def _run(command: Sequence[str]) -> int:
    """Run the client until the container ends.

    The client is in a process group of its own, so that a signal to ours reaches this process
    alone: the pipe then closes, by whatever death, and the container ends with its input. Where
    this process can still wait for that, it does, and holds the stage's lock meanwhile.
    """
    with subprocess.Popen(command, stdin=subprocess.PIPE, process_group=0) as client:
        assert client.stdin is not None
        try:
            return client.wait()
        except BaseException:
            client.stdin.close()
            client.wait()  # after a KeyboardInterrupt Popen would leave without it
            raise


def _facts(staging: Path, root: Path, code: int, memory: str) -> dict[str, Any]:
    report = read_report(staging / REPORT)
    if isinstance(report, MemreproError):
        if report.where:
            report.where = report.where.replace(f"{PROJECT}/", f"{root}/")
        raise report
    if code == 0 and report is not None:
        return report
    if code in (125, 126, 127):  # refused by the engine, or no such program in the image
        raise ServiceError("the engine could not start the container; see above")
    if code == 137:
        raise ServiceError(
            "the container was killed: from outside, or for want of memory",
            found=f"a limit of {memory}",
            hint=f"{MEMORY}=8g dvc repro",
        )
    raise ServiceError(f"the stage crashed in its container (exit {code}); see above")


def _require_readable(root: Path, mounts: Sequence[Mount]) -> None:
    """Inputs must be readable by everybody: the container's user is neither owner nor root."""
    for mount in mounts:
        if mount.writable:
            continue
        paths = (
            [mount.source, *mount.source.rglob("*")] if mount.source.is_dir() else [mount.source]
        )
        for path in paths:
            wanted = 0o005 if path.is_dir() else 0o004
            if path.stat().st_mode & wanted != wanted:
                shown = path.relative_to(root) if path.is_relative_to(root) else path
                raise InputError(
                    "the container's user cannot read an input",
                    where=str(shown),
                    expected="readable by everybody",
                    found=stat.filemode(path.stat().st_mode),
                    hint=f"chmod -R o+rX {shown}",
                )


def take_over(staging: Path, out: Path, outputs: Sequence[str]) -> None:
    """Copy declared outputs from the staging folder, so that they belong to who runs this.

    Raises:
        CheckFailed: one is missing, or holds something that is neither a file nor a folder: a
            link could point at any file of the host.
        ServiceError: the disk refuses.
    """
    for output in outputs:
        try:
            _copy(staging, out, Path(output))
        except OSError as error:
            raise ServiceError(
                f"the container's output cannot be taken over: {error.strerror}", where=output
            ) from None


def _copy(staging: Path, out: Path, name: Path) -> None:
    # The way to it is checked as well: a link on it would lead out of the staging folder.
    for part in (*reversed(name.parents[:-1]), name):
        mode = (staging / part).lstat().st_mode if os.path.lexists(staging / part) else 0
        folder = stat.S_ISDIR(mode)
        if not folder and not (part == name and stat.S_ISREG(mode)):
            what = "neither a file nor a folder" if mode else "not there"
            raise CheckFailed(f"an output of the container is {what}", where=str(part))
    if not folder:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(staging / name, out / name)
        with (out / name).open("rb") as stream:
            os.fsync(stream.fileno())
        return
    (out / name).mkdir(parents=True, exist_ok=True)
    for entry in sorted((staging / name).iterdir()):
        _copy(staging, out, name / entry.name)
