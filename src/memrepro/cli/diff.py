"""`memrepro diff`: what moved between two revisions, and whether a check should fail on it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrepro.cli.output import emit
from memrepro.cli.pipeline import dataset_of
from memrepro.cli.project import find_root
from memrepro.errors import CheckFailed, InputError
from memrepro.params import DATASETS

if TYPE_CHECKING:
    from memrepro.compare import Difference
    from memrepro.compare.gate import FailOn
    from memrepro.compare.render import Format


def diff(
    first: Annotated[str, typer.Argument(metavar="[A]", help="A Git revision.")] = "HEAD",
    second: Annotated[
        str | None, typer.Argument(metavar="[B]", help="Another; the working tree if not given.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="sample or full; both if not given.")] = None,
    form: Annotated[str, typer.Option("--format", help="table, json or markdown.")] = "table",
    fail_on: Annotated[
        str | None, typer.Option(help="Exit 1 on: regression, any or incomparable.")
    ] = None,
    texts: Annotated[
        bool, typer.Option("--texts", help="Each side's texts of flipped items, through DVC.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Write to this file.")] = None,
) -> None:
    """Compare two revisions: metrics, their items, and what else differs."""
    from memrepro.compare import compare
    from memrepro.compare.render import render

    wanted, mode = _format(form), _fail_on(fail_on)
    root = find_root()
    datasets = [dataset_of(dataset)] if dataset else DATASETS
    difference = compare(root, first, second, datasets, texts=texts)
    emit(render(difference, wanted), output)
    if mode:
        _check(difference, mode)


def _check(difference: "Difference", mode: "FailOn") -> None:
    from memrepro.compare.gate import failures

    if found := failures(difference, mode):
        raise CheckFailed(
            f"{len(found)} at fault:\n  " + "\n  ".join(found), where=f"--fail-on {mode}"
        )


def _format(text: str) -> "Format":
    from memrepro.compare.render import FORMATS

    for form in FORMATS:
        if text == form:
            return form
    raise InputError(f"no format {text!r}", where="--format", expected=", ".join(FORMATS))


def _fail_on(text: str | None) -> "FailOn | None":
    from memrepro.compare.gate import FAIL_ON

    for mode in FAIL_ON:
        if text == mode:
            return mode
    if text is None:
        return None
    raise InputError(f"no such mode {text!r}", where="--fail-on", expected=", ".join(FAIL_ON))


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(diff)
