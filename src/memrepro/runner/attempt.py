"""An attempt at a stage: its lock, its folders, and the move of its outputs into place."""

import contextlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memrepro.errors import CheckFailed, ServiceError
from memrepro.stages.declarations import Declaration
from memrepro.stages.processes import hold_lock, try_lock


@dataclass(frozen=True)
class Attempt:
    """Folders of one attempt, on the checkout's disk so that a rename is atomic.

    `out` receives the outputs, laid out as in the project; `replaced` those that they replace;
    `staging` is what a container writes to before its files are taken over into `out`.
    """

    out: Path
    replaced: Path
    staging: Path


@contextmanager
def attempt(root: Path, dataset: str, title: str) -> Iterator[Attempt]:
    """Hold a stage's lock and its attempt's folders; they are gone afterwards, come what may.

    Raises:
        ServiceError: another run holds the lock and says who; or the disk refuses.
    """
    locks, attempts = root / ".memrepro" / "locks", root / ".memrepro" / "attempts"
    name = f"{dataset}.{title}"
    with _refusals(locks), hold_lock(locks / f"{name}.lock", f"stage {title} of {dataset}"):
        with _refusals(attempts):
            _sweep(attempts, locks, name)
            mine = attempts / name
            folders = Attempt(mine / "out", mine / "replaced", mine / "staging")
            for folder in (folders.out, folders.replaced, folders.staging):
                folder.mkdir(parents=True)
        try:
            yield folders
        finally:
            shutil.rmtree(mine, ignore_errors=True)


@contextmanager
def _refusals(folder: Path) -> Iterator[None]:
    """What the disk refuses, as an error that says where."""
    try:
        yield
    except OSError as error:
        raise ServiceError(
            f"the stage's working folder cannot be used: {error.strerror}",
            where=error.filename or str(folder),
            hint=f"free disk space or make it writable (a killed run's leftovers: sudo rm -r "
            f"{folder})",
        ) from None


def _sweep(attempts: Path, locks: Path, mine: str) -> None:
    """Remove what killed runs left behind: every attempt whose lock nobody holds, and `mine`."""
    attempts.mkdir(parents=True, exist_ok=True)
    for leftover in attempts.iterdir():
        if leftover.name == mine:
            shutil.rmtree(leftover)
            continue
        with (locks / f"{leftover.name}.lock").open("a", encoding="utf-8") as stream:
            # Another stage's leftover may be out of reach; that stage's next run says so.
            if try_lock(stream):
                shutil.rmtree(leftover, ignore_errors=True)


def place(root: Path, folders: Attempt, declaration: Declaration) -> None:
    """Move each declared output from the attempt to its place, whole.

    Raises:
        CheckFailed: the stage did not write a declared output; nothing was moved.
        ServiceError: the disk refuses.
    """
    for output in declaration.outputs:
        if not (folders.out / output).exists():
            raise CheckFailed("the stage did not write a declared output", where=output)
    for output in declaration.outputs:
        target, aside = root / output, folders.replaced / output
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            aside.parent.mkdir(parents=True, exist_ok=True)
            # A rename, never a slow removal: a kill in between leaves no half of a folder.
            with contextlib.suppress(FileNotFoundError):
                target.replace(aside)
            (folders.out / output).replace(target)
        except OSError as error:
            raise ServiceError(
                f"the output cannot be moved into place: {error.strerror}", where=str(target)
            ) from None
