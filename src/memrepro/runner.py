"""Runs one stage: inputs checked, outputs written to an attempt folder, moved into place whole."""

import fcntl
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memrepro import __version__
from memrepro.errors import CheckFailed, InputError, ServiceError
from memrepro.files import write_json
from memrepro.params import Dataset, Params, load_params
from memrepro.stages.declarations import Declaration, declare, require_inputs
from memrepro.stages.inmind import Work, build, judge_system, remember_system, score_system, verify

Body = Callable[[Work, str], dict[str, Any] | None]


def _write_metrics(work: Work, _: str) -> None:
    from memrepro.stages.metrics import write_metrics

    write_metrics(work)


_BODIES: dict[str, Body] = {
    "inmind.verify": lambda work, _: verify(work),
    "inmind.build": lambda work, _: build(work),
    "inmind.remember": remember_system,
    "inmind.judge": judge_system,
    "inmind.score": score_system,
    "metrics": _write_metrics,
}


def run_stage(root: Path, dataset: Dataset, name: str, system: str | None, workers: int) -> None:
    """Run one stage of a dataset's pipeline.

    The outputs appear whole or not at all: they are written under `.memrepro/attempts/` and renamed
    into place on success. A record of who ran it goes to `data/provenance/`.

    Raises:
        InputError: no such stage or system, a missing input, or fewer than one worker.
        ServiceError: another run of the same stage holds its lock, or the disk refuses.
    """
    if workers < 1:
        raise InputError(
            "a stage needs at least one worker", where="MEMREPRO_WORKERS", found=str(workers)
        )
    params = load_params(root, dataset)
    declaration = declare(params, name, system)
    require_inputs(root, declaration)
    with _lock(root, declaration, dataset):
        started = datetime.now(UTC)
        with _attempt(root) as out:
            facts = _run(root, out, params, declaration, workers)
            _place(root, out, declaration)
        _write_provenance(root, dataset, declaration, started, facts)


def _run(
    root: Path, out: Path, params: Params, declaration: Declaration, workers: int
) -> dict[str, Any]:
    work = Work(root=root, out=out, params=params, workers=workers)
    return _BODIES[declaration.name](work, declaration.system or "") or {}


def _title(declaration: Declaration) -> str:
    system = f"@{declaration.system}" if declaration.system else ""
    return f"{declaration.name}{system}"


@contextmanager
def _attempt(root: Path) -> Iterator[Path]:
    """A folder of this attempt's own, on the checkout's disk so that a rename is atomic."""
    parent = root / ".memrepro" / "attempts"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=parent))
    except OSError as error:
        raise ServiceError(
            f"no folder for the attempt: {error.strerror}",
            where=str(parent),
            hint="free disk space or make the checkout writable",
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _place(root: Path, out: Path, declaration: Declaration) -> None:
    for output in declaration.outputs:
        made, target = out / output, root / output
        if not made.exists():
            raise CheckFailed("the stage did not write a declared output", where=output)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_dir():
                shutil.rmtree(target)
            made.replace(target)
        except OSError as error:
            raise ServiceError(
                f"the output cannot be moved into place: {error.strerror}", where=str(target)
            ) from None


@contextmanager
def _lock(root: Path, declaration: Declaration, dataset: str) -> Iterator[None]:
    """Hold the stage's lock, or say who holds it."""
    folder = root / ".memrepro" / "locks"
    path = folder / f"{dataset}.{_title(declaration)}.lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise ServiceError(
            f"the stage's lock cannot be made: {error.strerror}",
            where=str(path),
            hint="free disk space or make the checkout writable",
        ) from None
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.seek(0)
            raise ServiceError(
                f"stage {_title(declaration)} of {dataset} is running already",
                where=str(path),
                found=f"held by {stream.read().strip() or 'an unknown process'}",
                hint="wait for it, or stop that process",
            ) from None
        stream.truncate(0)
        stream.write(f"process {os.getpid()} since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC\n")
        stream.flush()
        yield


def _write_provenance(
    root: Path, dataset: str, declaration: Declaration, started: datetime, facts: dict[str, Any]
) -> None:
    """Who ran the stage, where and when; outside every output, so that no byte of it is locked."""
    record = {
        "stage": _title(declaration),
        "dataset": dataset,
        "runner": "host",
        "memrepro": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "started": started.isoformat(),
        "finished": datetime.now(UTC).isoformat(),
        "pid": os.getpid(),
        **facts,
    }
    write_json(root / "data/provenance" / dataset / f"{_title(declaration)}.json", record)
