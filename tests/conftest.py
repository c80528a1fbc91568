"""`memrepro` runs the command line in a folder."""

from pathlib import Path

import pytest

from tests.commands import Memrepro, Ran, run_memrepro


@pytest.fixture
def memrepro(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Memrepro:
    def run(folder: Path, *arguments: str) -> Ran:
        return run_memrepro(folder, monkeypatch, capfdbinary, *arguments)

    return run
