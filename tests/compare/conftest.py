"""`diff` runs the command line in a folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import Ran
from tests.compare.project import run_diff

Diff = Callable[..., Ran]


@pytest.fixture
def diff(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Diff:
    def run(folder: Path, *arguments: str) -> Ran:
        return run_diff(folder, monkeypatch, capfdbinary, *arguments)

    return run
