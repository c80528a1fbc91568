"""Processes that do not outlive the one that started them, and do not run twice at once."""

import ctypes
import fcntl
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NoReturn

from memrepro.errors import ServiceError, Stopped

# A stage whose pipeline was killed is gone within a moment; a rerun started at once waits for it.
_PATIENCE = 5.0

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent dies (Linux; elsewhere nothing happens).

    Args:
        parent: its process id. Where it died before this was called, this process dies at once: a
            pool's worker would otherwise wait for work for ever.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def die_with_pipeline() -> None:
    """Have this process killed when the `dvc` that runs it dies (Linux; elsewhere nothing happens).

    After `kill -9` of `dvc repro` a stage would otherwise live on, and its late output could be
    taken for that of the next run. DVC may have a shell between itself and the stage, which
    outlives DVC as well; so a process of its own watches DVC. A thread would not do: a library's
    long call can keep every thread of this process from running.

    Raises:
        Stopped: the pipeline that started this process is gone already.
    """
    die_with_parent(os.getppid())
    if sys.platform != "linux" or "DVC_STAGE" not in os.environ:
        return
    pipeline = _pipeline()
    if pipeline is None:
        raise Stopped("the pipeline that started this stage is gone", hint="dvc repro")
    # The watcher must see neither the terminal's Ctrl-C nor a signal to the group before we do.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    stage = os.pidfd_open(os.getpid())
    if os.fork() == 0:
        _kill_one_with_the_other(stage, pipeline)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    os.close(stage)
    os.close(pipeline)


def _pipeline() -> int | None:
    """A descriptor of the DVC process that started this one, or nothing where it is gone.

    DVC is the first ancestor whose environment has no DVC_STAGE, which DVC sets for what it starts.
    It shares the process group of what it starts; whoever inherits an orphan does not.
    """
    process = os.getppid()
    try:
        while (
            b"DVC_STAGE=" in (folder := Path(f"/proc/{process}")).joinpath("environ").read_bytes()
        ):
            process = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        return os.pidfd_open(process) if os.getpgid(process) == os.getpgrp() else None
    except OSError:
        return None


def _kill_one_with_the_other(stage: int, pipeline: int) -> NoReturn:
    """Kill the stage when the pipeline ends; end with either."""
    watched = select.poll()
    watched.register(stage, select.POLLIN)
    watched.register(pipeline, select.POLLIN)
    if stage not in dict(watched.poll()):
        signal.pidfd_send_signal(stage, signal.SIGKILL)
    os._exit(0)


@contextmanager
def hold_lock(path: Path, what: str) -> Iterator[None]:
    """Hold a lock file, which a dead process holds no longer; wait a moment for it.

    Raises:
        ServiceError: another process holds it, and which; or the file cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise ServiceError(
            f"the lock cannot be made: {error.strerror}",
            where=str(path),
            hint="free disk space or make the checkout writable",
        ) from None
    with stream:
        deadline = time.monotonic() + _PATIENCE
        while not try_lock(stream):
            if time.monotonic() > deadline:
                stream.seek(0)
                raise ServiceError(
                    f"{what} is running already",
                    where=str(path),
                    found=f"held by {stream.read().strip() or 'an unknown process'}",
                    hint="wait for it, or stop that process",
                )
            time.sleep(0.05)
        stream.truncate(0)
        stream.write(f"process {os.getpid()} since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC\n")
        stream.flush()
        yield


def try_lock(stream: IO[str]) -> bool:
    """Lock an open file until it is closed, if nobody else holds it; returns whether it did."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
