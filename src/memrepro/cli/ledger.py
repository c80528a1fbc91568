"""`memrepro ledger stats | show | verify | export-batch | import-batch`, and `memrepro cost`."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrepro.cli.pipeline import dataset_of
from memrepro.cli.project import find_root
from memrepro.cli.record import record_command
from memrepro.errors import CheckFailed, InputError
from memrepro.params import load_params

if TYPE_CHECKING:
    from memrepro.stages.cost import Cost

app = typer.Typer(help="Recorded model replies.", no_args_is_help=True)

DatasetOption = Annotated[str, typer.Option("--dataset", help="sample or full.")]


def register(to: typer.Typer) -> None:
    """Add `record`, `cost` and the group `ledger`."""
    to.command("record")(record_command)
    to.command()(cost)
    to.add_typer(app, name="ledger")


def _shards(root: Path, dataset: str) -> list[Path]:
    return sorted((root / "data/ledger" / dataset).rglob("*.jsonl"))


@app.command()
def stats(dataset: DatasetOption = "full") -> None:
    """Count each shard's replies, failures and tokens."""
    from rich.console import Console
    from rich.table import Table

    from memrepro.llm.ledger import read_shard

    root, name = find_root(), dataset_of(dataset)
    table = Table("shard", "replies", "failed", "prompt tokens", "reply tokens", "model", box=None)
    for path in _shards(root, name):
        replies = read_shard(path).values()
        failures = Counter(reply.failure for reply in replies if reply.failure)
        table.add_row(
            path.relative_to(root / "data/ledger" / name).with_suffix("").as_posix(),
            str(len(replies)),
            ", ".join(f"{kind} {n}" for kind, n in sorted(failures.items())) or "0",
            str(sum(reply.prompt_tokens or 0 for reply in replies)),
            str(sum(reply.completion_tokens or 0 for reply in replies)),
            ", ".join(sorted({reply.model for reply in replies if reply.model})),
        )
    Console(width=140).print(table)


@app.command()
def show(
    key: Annotated[str, typer.Argument(help="A reply's key, or how it begins.")],
    dataset: DatasetOption = "full",
) -> None:
    """Rebuild the request of a recorded reply, and show both as JSON."""
    from memrepro.stages.ledger import recorded_calls

    root = find_root()
    params = load_params(root, dataset_of(dataset))
    for use in recorded_calls(root, params):
        if use.call.key().startswith(key):
            value = {
                "benchmark": use.benchmark,
                "step": use.step,
                "system": use.system,
                "key": use.call.key(),
                "request": {
                    "model": use.call.model,
                    "messages": [
                        {"role": role, "content": content} for role, content in use.call.messages
                    ],
                    "cap": use.call.cap,
                    "temperature": use.call.temperature,
                    "response_format": use.call.response_format,
                    "sample": use.call.sample,
                },
                "reply": use.reply.model_dump() if use.reply else None,
            }
            typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
            return
    raise InputError(
        "no call of the pipeline has this key",
        where=f"--dataset {dataset}",
        found=key,
        hint=f"a key stands in answers/ and verdicts/ below data/runs/{dataset}/",
    )


@app.command()
def verify(dataset: DatasetOption = "full") -> None:
    """Hold every shard to the calls of the pipeline: none missing, none that nothing asks for."""
    from memrepro.llm.ledger import read_shard
    from memrepro.stages.declarations.base import shard_path
    from memrepro.stages.ledger import recorded_calls

    root = find_root()
    params = load_params(root, dataset_of(dataset))
    used: dict[Path, set[str]] = {}
    missing: Counter[Path] = Counter()
    for use in recorded_calls(root, params):
        path = root / shard_path(params, use.benchmark, use.step, use.system)
        used.setdefault(path, set()).add(use.call.key())
        missing[path] += use.reply is None
    problems = []
    total = 0
    shards = sorted({*_shards(root, params.dataset), *used})
    for path in shards:
        replies = read_shard(path) if path.is_file() else {}
        total += len(replies)
        unused = replies.keys() - used.get(path, set())
        shown = path.relative_to(root)
        if missing[path]:
            problems.append(f"{shown}: {missing[path]} calls without a reply")
        if unused:
            problems.append(f"{shown}: {len(unused)} replies that nothing asks for")
    if problems:
        raise CheckFailed(
            "; ".join(problems),
            hint=f"memrepro record --dataset {params.dataset} --benchmark NAME --system NAME",
        )
    typer.echo(f"{total} replies in {len(shards)} shards, each asked for by the pipeline")


@app.command("export-batch")
def export_batch(
    system: Annotated[str, typer.Option(help="The memory system.")],
    output: Annotated[Path, typer.Option(help="Folder for the request files.")],
    dataset: DatasetOption = "full",
    benchmark: Annotated[str, typer.Option(help="The benchmark.")] = "inmind",
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Failed ones too.")] = False,
) -> None:
    """Write what a recording would send next as OpenAI Batch API request files.

    A step whose calls hold an earlier step's replies is written once those are recorded.
    """
    from memrepro.record.batch import write_batch

    root = find_root()
    params = load_params(root, dataset_of(dataset))
    files = write_batch(root, params, benchmark, system, output, retry_failed=retry_failed)
    for path, count in files:
        typer.echo(f"{path}: {count} requests")
    if not files:
        typer.echo("every call has its reply: nothing to send")


@app.command("import-batch")
def import_batch(
    files: Annotated[list[Path], typer.Argument(help="Result and error files of a batch.")],
) -> None:
    """Take batch results into the working store; `memrepro record` packs them."""
    from memrepro.record.batch import read_batch

    kinds = read_batch(find_root(), files)
    failed = ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items()) if kind != "good")
    typer.echo(f"{kinds.total()} replies stored, failed: {failed or '0'}")


def cost(
    dataset: DatasetOption = "full",
    model: Annotated[
        str | None, typer.Option(help="As if every step asked this row of `models`.")
    ] = None,
    benchmark: Annotated[str | None, typer.Option(help="One benchmark; all by default.")] = None,
    system: Annotated[str | None, typer.Option(help="One memory system; all by default.")] = None,
    output_tokens: Annotated[
        int, typer.Option(help="Tokens that a reply is taken to have, with its reasoning.")
    ] = 600,
) -> None:
    """Estimate, before a recording, its calls, tokens and price, by step and system."""
    from rich.console import Console
    from rich.table import Table

    from memrepro.stages.cost import estimate

    root = find_root()
    params = load_params(root, dataset_of(dataset))
    rows, counted = estimate(
        root,
        params,
        model=model,
        benchmark=benchmark,
        system=system,
        output_tokens=output_tokens,
        vocabularies=os.environ.get("TIKTOKEN_CACHE_DIR"),
    )
    columns = ("benchmark", "step", "system", "calls", "recorded", "prompt tokens", "US$")
    table = Table(*columns, "at most", box=None)
    for row in rows:
        table.add_row(row.benchmark, row.step, row.system, *_figures([row]))
    table.add_row("total", "", "", *_figures(rows))
    Console(width=120).print(table)
    for line in _assumptions(counted, output_tokens):
        typer.echo(line)


def _figures(rows: Sequence["Cost"]) -> tuple[str, ...]:
    return (
        str(sum(row.calls for row in rows)),
        str(sum(row.recorded for row in rows)),
        str(sum(row.prompt_tokens for row in rows)),
        f"{sum(row.likely for row in rows):.2f}",
        f"{sum(row.at_most for row in rows):.2f}",
    )


def _assumptions(counted: str, output_tokens: int) -> Iterator[str]:
    yield f"prompt tokens: {counted}"
    yield f"US$: at {output_tokens} tokens a reply (--output-tokens); at most: all at their caps"
    yield "only calls without a recorded reply are priced; a batch costs half where it is offered"
