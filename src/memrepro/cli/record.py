"""`memrepro record`: the one command that talks to a model."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from memrepro.cli.pipeline import dataset_of
from memrepro.cli.project import find_root
from memrepro.errors import InputError
from memrepro.params import Model, load_params

if TYPE_CHECKING:
    from memrepro.record.shard import Progress

_EVERY = 30.0  # seconds between two lines where there is no terminal


def api_key(model: Model) -> str:
    """The key of a model's server, from the environment variable that the params name.

    Raises:
        InputError: the variable is not set.
    """
    if model.api_key_env is None:
        return "none"  # the client wants one; a local server does not look at it
    key = os.environ.get(model.api_key_env, "")
    if not key:
        raise InputError(
            "no key for the model's server",
            where=f"environment variable {model.api_key_env}",
            hint=f"export {model.api_key_env}=…",
        )
    return key


def record_command(
    system: Annotated[str, typer.Option(help="The memory system whose calls are recorded.")],
    dataset: Annotated[str, typer.Option(help="sample or full.")] = "full",
    benchmark: Annotated[str, typer.Option(help="The benchmark.")] = "inmind",
    model: Annotated[
        str | None, typer.Option(help="Only the steps of this row of `models`.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Send recorded failures again.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(help="US dollars that may be spent [default: `budget` of the params]."),
    ] = None,
) -> None:
    """Record the replies that a system's answers and verdicts need; go on where it stopped."""
    from memrepro.record import Recording, record

    root = find_root()
    params = load_params(root, dataset_of(dataset))
    recording = Recording(
        root=root,
        params=params,
        benchmark=benchmark,
        system=system,
        budget=params.budget if budget is None else budget,
        retry_failed=retry_failed,
        model=model,
        api_key=api_key,
    )
    with displayed() as progress:
        record(recording, progress)


@contextmanager
def displayed() -> Iterator["Progress"]:
    """A recording's progress, shown as it goes and once more at the end, whatever ends it."""
    from memrepro.record.shard import Progress

    display = _Display()
    progress = Progress(show=display.show)
    try:
        yield progress
    finally:
        display.end(progress)


class _Display:
    """One line that is rewritten on a terminal; elsewhere a line now and then."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._step = ""
        self._begin = self._shown = 0.0

    def show(self, progress: "Progress") -> None:
        """Show a state, if the last one is long enough ago."""
        now = time.monotonic()
        if progress.step != self._step:
            self._finish_line()
            self._step, self._begin, self._shown = progress.step, now, now
        elif now - self._shown < (0.1 if self._terminal else _EVERY):
            return
        self._shown = now
        self._write(progress, now)

    def end(self, progress: "Progress") -> None:
        """Show the last state, and how the failures divide."""
        if not progress.step:
            return
        self._write(progress, time.monotonic())
        self._finish_line()
        if progress.failures:
            kinds = ", ".join(f"{name} {n}" for name, n in sorted(progress.failures.items()))
            print(f"failed: {kinds}; --retry-failed sends them again", file=sys.stderr)

    def _write(self, progress: "Progress", now: float) -> None:
        left = progress.total - progress.found - progress.done
        seconds = (now - self._begin) / progress.done * left if progress.done else 0.0
        line = (
            f"{progress.step}: {progress.found + progress.done}/{progress.total}, "
            f"found {progress.found}, failed {progress.failures.total()}, "
            f"${progress.cost:.4f}, {seconds / 60:.0f} min left"
        )
        if self._terminal:
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def _finish_line(self) -> None:
        if self._terminal and self._step:
            print(file=sys.stderr)
