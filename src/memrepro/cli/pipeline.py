"""Commands of the pipeline: `stage`, `systems`, `metrics`, `schema`."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrepro.cli.project import find_root
from memrepro.errors import CheckFailed, InputError
from memrepro.files import leaves, read_json, read_records, write_text
from memrepro.params import DATASETS, Dataset, load_params

if TYPE_CHECKING:
    from memrepro.runner import Runner


def dataset_of(name: str) -> Dataset:
    """The dataset of an option's text.

    Raises:
        InputError: no such dataset.
    """
    for dataset in DATASETS:
        if name == dataset:
            return dataset
    raise InputError(f"no dataset {name!r}", where="--dataset", expected=" or ".join(DATASETS))


def _workers() -> int:
    text = os.environ.get("MEMREPRO_WORKERS", "1")
    if not text.isdecimal() or int(text) < 1:
        raise InputError(
            "not a number of workers", where="MEMREPRO_WORKERS", expected="1 or more", found=text
        )
    return int(text)


def _runner() -> "Runner":
    from memrepro.runner import RUNNERS

    text = os.environ.get("MEMREPRO_RUNNER", "auto")
    for runner in RUNNERS:
        if text == runner:
            return runner
    raise InputError(
        "no such runner", where="MEMREPRO_RUNNER", expected=", ".join(RUNNERS), found=text
    )


def stage(
    name: Annotated[str, typer.Argument(help="The stage, as in dvc.yaml.")],
    dataset: Annotated[str, typer.Option(help="sample or full.")] = "full",
    system: Annotated[str | None, typer.Option(help="The system, where a stage has one.")] = None,
) -> None:
    """Run one stage; `dvc repro` calls this."""
    from memrepro.stages.processes import die_with_pipeline

    die_with_pipeline()
    from memrepro.runner import run_stage

    run_stage(
        find_root(),
        dataset_of(dataset),
        name,
        system,
        _workers(),
        _runner(),
        progress=sys.stderr.isatty(),
    )


def systems() -> None:
    """List the memory systems: name, kind, and the datasets in which they run, by benchmark."""
    from memrepro import memory
    from memrepro.params import Systems

    root = find_root()
    runs: dict[str, dict[str, list[str]]] = {name: {} for name in memory.names()}
    for dataset in DATASETS:
        rows = load_params(root, dataset).systems
        for benchmark in Systems.model_fields:
            for name in getattr(rows, benchmark):
                runs.setdefault(name, {}).setdefault(benchmark, []).append(dataset)
    for name in sorted(runs):
        control = name.endswith(memory.CONTROL_SUFFIX)
        kind = "control" if control else memory.load(memory.base_name(name)).kind
        told = "  ".join(f"{of}: {' '.join(datasets)}" for of, datasets in runs[name].items())
        typer.echo(f"{name:22} {kind:8} {told or '-'}")


def metrics(
    dataset: Annotated[str, typer.Option(help="sample or full.")] = "full",
) -> None:
    """Show a dataset's metrics, a line each, and whether each may stand beside the paper's."""
    from rich.console import Console
    from rich.table import Table

    from memrepro.signature import Signature
    from memrepro.store import metric_name

    root, name = find_root(), dataset_of(dataset)
    file = root / "metrics" / f"{name}.json"
    hint = f"make repro DATASET={name}"
    values = read_json(file, hint=hint)
    signatures = {
        row.path: row
        for row in read_records(root / f"data/runs/{name}/signatures.jsonl", Signature, hint=hint)
    }
    table = Table("benchmark", "system", "metric", "value", "comparable with the paper", box=None)
    for place, value in leaves(values):
        signature = signatures["/".join((*place[:-1], metric_name(place[-1])))]
        shown = f"{value:.4f}" if isinstance(value, float) else str(value)
        table.add_row(
            signature.benchmark,
            signature.system,
            _metric(place, signature.system),
            shown,
            "yes" if signature.comparable else "no",
        )
    Console(width=120).print(table)
    typer.echo(f"why not: the deviations in data/runs/{name}/signatures.jsonl")


def _metric(place: tuple[str, ...], system: str) -> str:
    """What names a metric beside its benchmark and system: a reading, or an edition and a mode."""
    at = place.index(system, 1)
    return "/".join((*place[1:at], *place[at + 1 :]))


def schema(
    check: Annotated[bool, typer.Option("--check", help="Compare; write nothing.")] = False,
) -> None:
    """Write the JSON Schemas of all records to schema/, or check that they are current."""
    from memrepro.benchmarks.cimemories.released import CIMemoriesProfiles
    from memrepro.llm.call import Reply
    from memrepro.records import CROSSING, schemas
    from memrepro.signature import Signature

    folder = find_root() / "schema"
    texts = {
        f"{name}.schema.json": json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        for name, value in schemas((*CROSSING, Reply, Signature, CIMemoriesProfiles)).items()
    }
    if check:
        _check_schemas(folder, texts)
        return
    for stale in set(_schema_files(folder)) - set(texts):
        (folder / stale).unlink()
    for name, text in texts.items():
        write_text(folder / name, text)


def _schema_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.schema.json"))


def _check_schemas(folder: Path, texts: dict[str, str]) -> None:
    there = _schema_files(folder)
    differing = [
        name
        for name, text in sorted(texts.items())
        if name not in there or (folder / name).read_text(encoding="utf-8") != text
    ]
    differing += sorted(set(there) - set(texts))
    if differing:
        raise CheckFailed(
            "schema files differ from the records",
            where=", ".join(f"schema/{name}" for name in differing),
            hint="memrepro schema",
        )


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    app.command()(stage)
    app.command()(systems)
    app.command()(metrics)
    app.command()(schema)
