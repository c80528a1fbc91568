"""`memrepro report`: a run as one HTML file to look at."""

from pathlib import Path
from typing import Annotated

import typer

from memrepro.cli.pipeline import dataset_of
from memrepro.cli.project import find_root
from memrepro.files import write_text
from memrepro.params import load_params


def report(
    dataset: Annotated[str, typer.Option("--dataset", help="sample or full.")] = "sample",
    output: Annotated[Path, typer.Option("--output", help="The file to write.")] = Path(
        "report.html"
    ),
) -> None:
    """Write one HTML file: figures with intervals, charts, and every item with its context."""
    from memrepro.report.page import report as page_of
    from memrepro.stages.work import Work

    root = find_root()
    text = page_of(Work(root=root, out=root, params=load_params(root, dataset_of(dataset))))
    write_text(output, text)
    typer.echo(f"{output}: {len(text.encode('utf-8')) / 1e6:.1f} MB")


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(report)
