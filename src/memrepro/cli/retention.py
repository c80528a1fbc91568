"""`memrepro retention build | report | rollup | grow`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrepro.cli.output import emit
from memrepro.cli.pipeline import dataset_of
from memrepro.cli.project import find_root
from memrepro.cli.retention_grow import grow
from memrepro.errors import CheckFailed, InputError
from memrepro.files import read_json, read_text, write_text
from memrepro.params import load_params

if TYPE_CHECKING:
    from memrepro.report.retention import Run, Wording
    from memrepro.stages.work import Work

app = typer.Typer(
    help="Retention policy: the dataset, and reports of what was kept.", no_args_is_help=True
)

app.command()(grow)

_DATA = "data/retention_policy"

DatasetOption = Annotated[str, typer.Option("--dataset", help="sample or full.")]
SystemOption = Annotated[str | None, typer.Option("--system", help="One system; all by default.")]
ModeOption = Annotated[str | None, typer.Option("--mode", help="One mode; all by default.")]


@app.command()
def build(
    check: Annotated[bool, typer.Option("--check", help="Compare; write nothing.")] = False,
) -> None:
    """Write dataset.json from the corpus and the policies, or check that it is current."""
    from memrepro.benchmarks.retention.build import (
        build_rows,
        dump_dataset,
        parse_corpus,
        parse_policies,
    )

    folder = find_root() / _DATA
    corpus, policies = folder / "corpus.json", folder / "policies.json"
    rows = build_rows(
        parse_corpus(read_json(corpus), where=str(corpus)),
        parse_policies(read_json(policies), where=str(policies)),
    )
    text, file = dump_dataset(rows), folder / "dataset.json"
    dropped = sum(row.expected == "drop" for row in rows)
    if check and (not file.is_file() or read_text(file) != text):
        raise CheckFailed(
            "the dataset differs from what its parts make",
            where=f"{_DATA}/dataset.json",
            expected=f"{len(rows)} rows from corpus.json and policies.json",
            hint="memrepro retention build, then memrepro verify --update",
        )
    if not check:
        write_text(file, text)
    typer.echo(f"{len(rows)} rows, {dropped} to drop, {len(rows) - dropped} to store")


@app.command()
def rollup(
    dataset: DatasetOption = "sample",
    edition: Annotated[
        str | None, typer.Option("--edition", help="One edition; all by default.")
    ] = None,
    system: SystemOption = None,
    mode: ModeOption = None,
) -> None:
    """Show the rates of every edition, system and mode, a line each."""
    from rich.console import Console
    from rich.table import Table

    from memrepro.report.retention import rollup as rows_of

    runs, _ = _runs(dataset, edition, system, mode)
    head, *rows = rows_of(runs)
    table = Table(*head, box=None)
    for row in rows:
        table.add_row(*row)
    Console(width=200).print(table)


@app.command()
def report(
    dataset: DatasetOption = "sample",
    edition: Annotated[str, typer.Option("--edition", help="One edition, or `all`.")] = "standard",
    system: SystemOption = None,
    mode: ModeOption = None,
    max_examples: Annotated[
        int,
        typer.Option(
            "--max-examples", min=0, help="Policies whose facts are told one by one, in each run."
        ),
    ] = 3,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="A file; the grids' picture is written beside it, as SVG."),
    ] = None,
) -> None:
    """Write a report in Markdown: rates, tables, the policy × category grid, facts and reasons."""
    from memrepro.report.grid import Panel, grids_svg
    from memrepro.report.retention import markdown

    runs, wording = _runs(dataset, None if edition == "all" else edition, system, mode)
    picture = None if output is None else output.with_suffix(".svg")
    name = None if picture is None else picture.name
    text = markdown(runs, wording, max_examples=max_examples, picture=name)
    if picture is not None:
        write_text(picture, grids_svg(Panel(run.title, run.tables["grid"]) for run in runs))
    emit(text, output)


def _runs(
    dataset: str, edition: str | None, system: str | None, mode: str | None
) -> tuple[list["Run"], "Wording"]:
    """The runs asked for, and the texts of all.

    Raises:
        InputError: there is none.
    """
    from memrepro.report.retention import runs_of
    from memrepro.stages.retention_metrics import score_files
    from memrepro.stages.work import Work

    root = find_root()
    params = load_params(root, dataset_of(dataset))
    work = Work(root=root, out=root, params=params)
    files = score_files(work)
    runs = runs_of(files, edition, system, mode) if files else []
    if not runs:
        raise InputError(
            "no run of that name",
            where=f"--dataset {dataset}, --edition {edition or 'all'}, "
            f"--system {system or 'all'}, --mode {mode or 'all'}",
            expected="what memrepro retention rollup lists",
            hint="memrepro retention rollup",
        )
    return runs, _wording(work)


def _wording(work: "Work") -> "Wording":
    from memrepro.report.retention import Wording
    from memrepro.stages.retention import edition_rows

    rows = {edition: edition_rows(work, edition) for edition in work.params.retention.editions}
    texts = {(name, row.fact_id): row.text for name, of in rows.items() for row in of}
    statements = {row.policy_id: row.policy for of in rows.values() for row in of}
    return Wording(texts, statements)
