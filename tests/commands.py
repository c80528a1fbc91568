"""The command line in this process: what a user types, and what comes of it."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memrepro.cli import main


class Ran:
    """What a run of the command line left: exit code, standard output and error."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


def run_memrepro(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    *arguments: str,
) -> Ran:
    """`memrepro …` in a folder."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["memrepro", *arguments])
    capfdbinary.readouterr()
    code: object = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    out, err = capfdbinary.readouterr()
    return Ran(code if isinstance(code, int) else 0, out.decode(), err.decode())


Memrepro = Callable[..., Ran]
