"""Processes that do not outlive the one that started them."""

import ctypes
import os
import signal
import sys

from memrepro.errors import Stopped

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
