"""`memrepro inmind`: the released file formats, made and checked."""

from pathlib import Path
from typing import Annotated, Any

import typer

from memrepro.cli.output import emit
from memrepro.cli.pipeline import dataset_of
from memrepro.cli.project import find_root
from memrepro.errors import CheckFailed, InputError
from memrepro.files import iter_json_lines, read_text
from memrepro.params import Params, load_params

app = typer.Typer(help="InMind: timelines, judge payloads, submissions.", no_args_is_help=True)

DatasetOption = Annotated[str, typer.Option("--dataset", help="sample or full.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", help="Write to this file instead of standard output.")
]


def _edition(dataset: str) -> tuple[Path, Params, list[Any], list[Any], dict[str, Any]]:
    from memrepro.stages.inmind import read_edition

    root = find_root()
    params = load_params(root, dataset_of(dataset))
    return root, params, *read_edition(root, params)


@app.command()
def timeline(
    task_id: Annotated[int, typer.Option("--task-id", help="The task.")],
    dataset: DatasetOption = "full",
    compact: Annotated[bool, typer.Option("--compact", help="One line, no spaces.")] = False,
    output: OutputOption = None,
) -> None:
    """Write one task's whole history in the released timeline format."""
    from memrepro.benchmarks.inmind.timeline import dump_timeline
    from memrepro.benchmarks.inmind.timeline import timeline as make_timeline

    _, _, tasks, background, manifest = _edition(dataset)
    task = next((row for row in tasks if row["task_id"] == task_id), None)
    if task is None:
        ids = [row["task_id"] for row in tasks]
        raise InputError(
            f"no task {task_id} in the {dataset} edition",
            where="--task-id",
            expected=f"one of {len(ids)} ids from {min(ids)} to {max(ids)} (not all are used)",
        )
    emit(dump_timeline(make_timeline(task, background, manifest), compact=compact), output)


@app.command("judge-payloads")
def judge_payloads(
    results: Annotated[Path, typer.Option("--results", help="Results in the submission format.")],
    metric: Annotated[
        str, typer.Option("--metric", help="naive, target-recall, application or answer-only.")
    ],
    dataset: DatasetOption = "full",
    output: OutputOption = None,
) -> None:
    """Write the judge requests for a results file, in the released payload format."""
    from memrepro.benchmarks.inmind import payloads
    from memrepro.benchmarks.inmind.submission import validate_submission

    if metric not in payloads.METRICS:
        raise InputError(
            f"no metric {metric!r}", where="--metric", expected=", ".join(payloads.METRICS)
        )
    root, params, tasks, _, _ = _edition(dataset)
    rows = list(iter_json_lines(results))
    ids = {task["task_id"] for task in tasks}
    errors = validate_submission(rows, ids, allow_partial=True).errors
    if errors:
        raise InputError(
            errors[0],
            where=str(results),
            hint=f"memrepro inmind validate-submission {results} --allow-partial",
        )
    prompt_file = root / params.inmind.data.prompts / f"{payloads.METRICS[metric][0]}.txt"
    full = params.dataset == "full"
    prompt = read_text(prompt_file, hint="memrepro fetch --dataset full" if full else None)
    lines = payloads.judge_payloads(metric, prompt, tasks, [row for _, row in rows])
    emit("".join(lines), output)


@app.command("validate-submission")
def validate_submission(
    file: Annotated[Path, typer.Argument(help="A submission file (JSONL).")],
    dataset: DatasetOption = "full",
    allow_partial: Annotated[
        bool, typer.Option("--allow-partial", help="Accept rows for some tasks only.")
    ] = False,
) -> None:
    """Check a submission file; list every error; exit 1 if there is one."""
    from memrepro.benchmarks.inmind import submission

    _, _, tasks, _, _ = _edition(dataset)
    ids = {task["task_id"] for task in tasks}
    if not file.is_file():
        raise InputError("no such file", where=str(file))
    try:
        rows = list(iter_json_lines(file))
    except InputError as error:
        raise CheckFailed(error.what, where=error.where, found=error.found) from None
    result = submission.validate_submission(rows, ids, allow_partial=allow_partial)
    for fault in result.errors:
        typer.echo(f"{file}: {fault}", err=True)
    typer.echo(f"coverage {result.covered}/{result.total}, {len(result.errors)} errors")
    if result.errors:
        raise typer.Exit(1)


@app.command()
def export(
    system: Annotated[str, typer.Option("--system", help="A system that the pipeline has run.")],
    output: Annotated[Path, typer.Option("--output", help="The submission file to write.")],
    dataset: DatasetOption = "full",
) -> None:
    """Write a system's contexts, and answers where they are recorded, as a submission."""
    from memrepro.stages.export import export_submission

    root = find_root()
    rows = export_submission(root, load_params(root, dataset_of(dataset)), system)
    emit("".join(f"{row}\n" for row in rows), output)
    typer.echo(f"{len(rows)} rows in {output}")


@app.command()
def diagnose(
    system: Annotated[str, typer.Option("--system", help="A system with a model's verdicts.")],
    dataset: DatasetOption = "full",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line a task.")] = False,
) -> None:
    """Say where each task's fact was lost between the memory and the answer."""
    import json
    from collections import Counter

    from memrepro.stages.declarations.base import runs_folder
    from memrepro.store import inmind_diagnosis

    root = find_root()
    params = load_params(root, dataset_of(dataset))
    rows = inmind_diagnosis([root / runs_folder(params, "inmind") / "scores" / f"{system}.jsonl"])
    if as_json:
        for row in rows:
            typer.echo(json.dumps(row, ensure_ascii=False))
        return
    for name, count in sorted(Counter(row["diagnosis"] for row in rows).items()):
        typer.echo(f"{count:4} {name}")
