"""The program round its commands: version, errors with and without a traceback, Ctrl-C."""

from pathlib import Path

import pytest

from memrepro.errors import InputError
from tests.commands import Memrepro
from tests.sources.conftest import source, write_pins


def test_it_says_its_version(tmp_path: Path, memrepro: Memrepro) -> None:
    ran = memrepro(tmp_path, "--version")
    assert (ran.code, ran.out) == (0, "memrepro 0.1.0\n")


def test_an_error_has_a_traceback_only_on_request(tmp_path: Path, memrepro: Memrepro) -> None:
    ran = memrepro(tmp_path, "systems")
    assert ran.code == 2
    assert ran.err == (
        f"error: {tmp_path}: not inside a memrepro project\n"
        "  expected: a folder with data/sources.toml, here or above\n"
        "  hint:     cd into a clone of memrepro\n"
    )
    with pytest.raises(InputError, match="not inside a memrepro project"):
        memrepro(tmp_path, "--debug", "systems")


@pytest.mark.parametrize(
    ("command", "does"),
    [
        (("systems",), "memrepro.cli.pipeline.load_params"),
        (("verify",), "memrepro.sources.verify.verify"),  # runs without typer
        (("verify", "--update"), "memrepro.sources.verify.verify"),
    ],
)
def test_an_interrupted_command_says_so_and_exits_3(
    tmp_path: Path,
    memrepro: Memrepro,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    does: str,
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    write_pins(tmp_path, source())
    monkeypatch.setattr(does, interrupted)
    ran = memrepro(tmp_path, *command)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.endswith(
        "error: stopped by the user\n  hint:     run the same command again to go on\n"
    )
