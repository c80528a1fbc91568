"""Processes that do not outlive the one that started them, and do not run twice at once."""

import ctypes
import fcntl
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from memrepro.errors import ServiceError, Stopped

# A stage whose pipeline was killed is gone within a moment; a rerun started at once waits for it.
_PATIENCE = 5.0

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies (Linux; elsewhere nothing happens).

    After `kill -9` of `dvc repro` a stage would otherwise live on, and its late output could be
    taken for that of the next run.

    Raises:
        Stopped: the parent is gone already.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if _is_orphan():
        raise Stopped("the pipeline that started this stage is gone", hint="dvc repro")


def _is_orphan() -> bool:
    """Whether DVC started this process and is its ancestor no more.

    DVC and the shell between share the process group of what they start. An orphan's new parent,
    the init process, has a group of its own.
    """
    return "DVC_STAGE" in os.environ and os.getpgid(os.getppid()) != os.getpgrp()


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
