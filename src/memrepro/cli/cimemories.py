"""`memrepro cimemories`: results files scored, profiles counted and generated."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memrepro.cli.cimemories_generate import generate
from memrepro.cli.cimemories_tables import tables
from memrepro.cli.output import emit
from memrepro.cli.pipeline import dataset_of
from memrepro.cli.project import find_root
from memrepro.errors import InputError
from memrepro.files import dump_json, read_json

if TYPE_CHECKING:
    from memrepro.store.cimemories import Reading

app = typer.Typer(
    help="CIMemories: results scored, profiles counted and generated.", no_args_is_help=True
)

app.command()(generate)
app.command()(tables)

JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object.")]

# The editions of each dataset by the names of their pins, or where the project's own lie.
_PINS = {"base": "cimemories-base", "extended": "cimemories-extended"}
_SAMPLE = "data/sample/cimemories/profiles.json"


@app.command()
def score(
    results: Annotated[Path, typer.Argument(help="A results file of the released code (JSONL).")],
    reading: Annotated[str, typer.Option("--reading", help="paper or released-code.")],
    samples: Annotated[
        int | None, typer.Option("--samples", min=1, help="Trials a context; all by default.")
    ] = None,
    composition: Annotated[
        str | None,
        typer.Option("--composition", help="num_to_share=…_num_not_to_share=…, to take one."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Score a results file: violation and completeness, over profiles and for each."""
    from memrepro.store.cimemories import score_results

    found = score_results(results, _reading(reading), composition=composition, samples=samples)
    if found.left_out:
        typer.echo(f"{found.left_out} contexts without such a sample are left out", err=True)
    emit(dump_json(found.metrics) if as_json else _score_table(found.metrics), None)


@app.command()
def describe(
    file: Annotated[
        Path | None, typer.Argument(help="A file of profiles (JSON); by default the dataset's.")
    ] = None,
    dataset: Annotated[str, typer.Option("--dataset", help="sample or full.")] = "full",
    as_json: JsonOption = False,
) -> None:
    """Count what files of profiles hold: attributes, contexts, domains, irregular values."""
    if file is not None:
        facts = _facts(file, None)
        emit(dump_json(facts) if as_json else _facts_table({file.stem: facts}), None)
        return
    hint = "memrepro fetch --dataset full" if dataset == "full" else None
    editions = {name: _facts(path, hint) for name, path in _editions(dataset).items()}
    emit(dump_json(editions) if as_json else _facts_table(editions), None)


def _reading(name: str) -> "Reading":
    from memrepro.store.cimemories import READINGS

    for reading in READINGS:
        if name == reading:
            return reading
    raise InputError(f"no reading {name!r}", where="--reading", expected=" or ".join(READINGS))


def _editions(dataset: str) -> dict[str, Path]:
    from memrepro.sources.pins import load_pins

    root = find_root()
    if dataset_of(dataset) == "sample":
        return {"sample": root / _SAMPLE}
    files = {pin.name: root / pin.file for pin in load_pins(root)}
    return {edition: files[name] for edition, name in _PINS.items()}


def _facts(path: Path, hint: str | None) -> dict[str, Any]:
    from memrepro.benchmarks.cimemories.describe import data_facts
    from memrepro.benchmarks.cimemories.profiles import parse_profiles

    return data_facts(parse_profiles(read_json(path, hint=hint), str(path)))


def _score_table(metrics: dict[str, Any]) -> str:
    violation, completeness = metrics["violation"], metrics["completeness"]
    rows = [
        *((name, violation["per_profile"][name], completeness["per_profile"][name])
          for name in violation["per_profile"]),
        ("mean", violation["mean"], completeness["mean"]),
        ("std", violation["std"], completeness["std"]),
    ]  # fmt: skip
    width = max(len("profile"), *(len(name) for name, _, _ in rows))
    lines = [f"{'profile':{width}}  violation  completeness"]
    lines += [f"{name:{width}}  {_share(one):>9}  {_share(two):>12}" for name, one, two in rows]
    counts = ("contexts_scored", "contexts_discarded", "private_keys_excluded")
    lines += [f"{name.replace('_', ' ')}: {metrics[name]}" for name in counts]
    return "".join(f"{line}\n" for line in lines)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _facts_table(editions: dict[str, dict[str, Any]]) -> str:
    lines = []
    for edition, facts in editions.items():
        lines.append(edition)
        for name, value in facts.items():
            told = ", ".join(f"{k} {n}" for k, n in value.items()) if name == "domains" else value
            lines.append(f"  {name.replace('_', ' ')}: {told}")
    return "".join(f"{line}\n" for line in lines)
