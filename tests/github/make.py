"""`make` in a checkout, with the tools of this environment and no way to set one up."""

import os
import subprocess
import sys
from pathlib import Path

from tests.projects import ROOT

TOOLS = Path(sys.prefix) / "bin"


def give_tools(folder: Path, *names: str) -> None:
    """A `.venv` with these programs and no other: without `python`, make can install nothing."""
    target = folder / ".venv/bin"
    target.mkdir(parents=True)
    for name in names:
        program = target / name
        script = "" if name == "python" else f'"{TOOLS / name}"'
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {script} "$@"\n')
        program.chmod(0o755)


def make(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """`make -o setup …`: the target as it is, its set-up taken for done."""
    return subprocess.run(
        ["make", "-o", "setup", *arguments],
        cwd=folder,
        env={**surroundings(), **environment},
        capture_output=True,
        text=True,
    )


def surroundings() -> dict[str, str]:
    """This process's environment, without what a workflow or a make above it would add."""
    other = ("GITHUB_", "MAKE", "MFLAGS", "ARGS", "DATASET", "DENSE", "MEM0", "PYTHON", "VENV")
    values = {key: value for key, value in os.environ.items() if not key.startswith(other)}
    return {**values, "PYTHONPATH": str(ROOT / "src"), "MEMREPRO_RUNNER": "host"}


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, message: str = "state") -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")
