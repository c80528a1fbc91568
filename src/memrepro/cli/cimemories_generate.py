"""`memrepro cimemories generate`: profiles of our own making, in the shape of the released file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memrepro.cli.output import emit
from memrepro.cli.project import find_root
from memrepro.cli.record import api_key, displayed
from memrepro.files import dump_json, read_text
from memrepro.params import load_params, model_of

if TYPE_CHECKING:
    from memrepro.benchmarks.cimemories.tables import Tables
    from memrepro.record.profiles import Wanted

_TABLES = "data/cimemories"
_PROMPT = "prompts/cimemories/generate.txt"


def generate(
    profiles: Annotated[int, typer.Option("--profiles", min=1, help="How many profiles.")],
    seed: Annotated[int, typer.Option("--seed", min=0, help="Decides every draw.")],
    contexts: Annotated[
        int, typer.Option("--contexts", min=1, help="Contexts a profile, the table's first.")
    ] = 49,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="A row of `models` in full/params.yaml; without it templates write."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="A file, instead of standard output.")
    ] = None,
    cap: Annotated[int, typer.Option("--cap", min=1, help="Tokens of a model's reply.")] = 8192,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Send a model's failed calls again.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, help="US dollars for the model; `budget` of full/params.yaml by default."
        ),
    ] = None,
) -> None:
    """Generate profiles: biography, three events, nine domains, seven attributes of each.

    Templates write the attributes, or a model. The same options make the same bytes; with a model,
    the same replies, which are kept in the working store, so that a second run sends nothing.
    """
    from memrepro.benchmarks.cimemories.generate import generate_profiles

    root = find_root()
    tables = load_tables(root)
    if model is None:
        found = generate_profiles(tables, profiles=profiles, seed=seed, contexts=contexts)
    else:
        from memrepro.record.profiles import Wanted

        prompt = read_text(root / _PROMPT)
        wanted = Wanted(tables, profiles, contexts, seed, prompt, cap)
        found = _by_model(root, wanted, model, budget, retry_failed)
    emit(dump_json(found), output)


def _by_model(
    root: Path, wanted: "Wanted", name: str, budget: float | None, retry_failed: bool
) -> list[dict[str, Any]]:
    from memrepro.record.profiles import record_profiles
    from memrepro.record.shard import Terms

    params = load_params(root, "full")
    model = model_of(params, name)
    limit = params.budget if budget is None else budget
    terms = Terms(name, model, api_key(model), limit, retry_failed)
    with displayed() as progress:
        return record_profiles(root, wanted, terms, progress)


def load_tables(root: Path) -> "Tables":
    """The project's own tables.

    Raises:
        InputError: one is missing or malformed.
    """
    from memrepro.benchmarks.cimemories.tables import (
        Tables,
        parse_contexts,
        parse_events,
        parse_templates,
    )

    files = [root / _TABLES / f"{name}.csv" for name in ("events", "contexts", "templates")]
    events, contexts, templates = (read_text(file) for file in files)
    return Tables(
        parse_events(events, str(files[0])),
        parse_contexts(contexts, str(files[1])),
        parse_templates(templates, str(files[2])),
    )
