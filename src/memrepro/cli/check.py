"""`memrepro check files | locks`: what the commit hooks ask beside linters, tests and `verify`.

A key that was committed once is public, and DVC would find a stale lock only at the next run.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from memrepro.cli.project import find_root
from memrepro.errors import CheckFailed, ServiceError

app = typer.Typer(help="Checks that the commit hooks run.", no_args_is_help=True)

PIPELINES = ("dvc.yaml", "full/dvc.yaml")
_RUNS = "data/runs/"
_MEGABYTE = 1_000_000
# Score rows are committed on purpose, so that any clone can compare items.
_LIMITS = ((_RUNS, 4 * _MEGABYTE), ("", _MEGABYTE))
_KEYS = re.compile(
    rb"""
      (?<![A-Za-z0-9])(?:
          (?P<model>sk-(?:proj-|ant-|or-|svcacct-)?[A-Za-z0-9_-]{32,})
        | (?P<github>gh[pousr]_[A-Za-z0-9]{36} | github_pat_[A-Za-z0-9_]{60,})
        | (?P<hub>hf_[A-Za-z0-9]{30,})
        | (?P<cloud>(?:AKIA|ASIA)[A-Z0-9]{16} | AIza[A-Za-z0-9_-]{35})(?![A-Za-z0-9])
        | (?P<chat>xox[abprs]-[A-Za-z0-9-]{20,})
      )
    | (?P<private>-----BEGIN\ (?:[A-Z]+\ )*PRIVATE\ KEY-----)
    """,
    re.VERBOSE,
)
_KINDS = {
    "model": "a model server's",
    "github": "GitHub's",
    "hub": "a model hub's",
    "cloud": "a cloud's",
    "chat": "a chat service's",
    "private": "a private",
}
# What DVC says of outputs that are not committed, in a clone in which nothing ran yet. Where its
# own .gitignore stands in their folder, which is, it says "modified".
_ABSENT = ("deleted", "not in cache")


@app.command("files")
def files_command(
    files: Annotated[list[Path], typer.Argument(help="The files to look at.")],
) -> None:
    """Refuse keys, large files and notebooks; a key's place is named, the key is not shown."""
    faults = [fault for file in files if file.is_file() for fault in file_faults(file)]
    if faults:
        raise CheckFailed(
            f"{len(faults)} at fault:\n  " + "\n  ".join(faults),
            where="memrepro check files",
            hint="take it out of the commit; a key that was pushed must be revoked",
        )


@app.command("locks")
def locks_command() -> None:
    """Refuse a dvc.lock that is not of these params, files and stages."""
    if stale := stale_stages(find_root()):
        raise CheckFailed(
            f"{len(stale)} stages are not what was locked:\n  " + "\n  ".join(stale),
            where="dvc.lock, full/dvc.lock",
            hint="make repro; for full/, make repro DATASET=full",
        )


def file_faults(file: Path) -> Iterator[str]:
    """One line for each key in a file, for its size, and for its being a notebook."""
    name = file.as_posix()
    size = file.stat().st_size
    limit = next(most for prefix, most in _LIMITS if name.startswith(prefix))
    if size > limit:
        yield f"{name}: {size / _MEGABYTE:.1f} MB, at most {limit / _MEGABYTE:.0f} may be committed"
    if file.suffix == ".ipynb":
        yield f"{name}: a notebook; write a stage, a command or a page of docs/"
    data = file.read_bytes()
    for found in _KEYS.finditer(data):
        line = data.count(b"\n", 0, found.start()) + 1
        yield f"{name}, line {line}: looks like {_KINDS[found.lastgroup or '']} key"


def stale_stages(root: Path) -> list[str]:
    """One line for each stage that would run for another reason than that its outputs are absent.

    Raises:
        ServiceError: DVC cannot be run, or its answer not be read.
    """
    done = subprocess.run(
        [sys.executable, "-m", "dvc", "status", "--json", *PIPELINES],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    try:
        status = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip().splitlines()
        raise ServiceError(
            "dvc status cannot be read",
            where=str(root),
            found=said[-1] if said else f"exit {done.returncode}",
            hint="make setup; dvc status",
        ) from None
    return [
        f"{stage}: {', '.join(reasons)}"
        for stage, changes in status.items()
        if (reasons := list(_reasons(root, changes)))
    ]


def _reasons(root: Path, changes: list[Any]) -> Iterator[str]:
    """A change is a sentence, or what moved by the kind of it."""
    for change in changes:
        if isinstance(change, str):
            yield change
            continue
        for moved in change.values():
            for name, state in moved.items():
                if isinstance(state, dict):  # params, below their file
                    yield from (f"{name}:{key} {how}" for key, how in state.items())
                elif state not in _ABSENT and not _empty(root, name):
                    yield f"{name} {state}"


def _empty(root: Path, name: str) -> bool:
    """Whether a path is an output's folder in which no output is."""
    folder = root / name
    return (
        name.startswith(_RUNS)
        and folder.is_dir()
        and not any(path.is_file() and path.name != ".gitignore" for path in folder.rglob("*"))
    )
