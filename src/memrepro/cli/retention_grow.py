"""`memrepro retention grow`: sentences that a model proposes, for a person to accept."""

from pathlib import Path
from typing import Annotated

import typer

from memrepro.cli.output import emit
from memrepro.cli.pipeline import dataset_of
from memrepro.cli.project import find_root
from memrepro.cli.record import api_key, displayed
from memrepro.files import dump_json, read_json, read_text
from memrepro.params import load_params, model_of

_DATA = "data/retention_policy"
_PROMPT = "prompts/retention/grow.txt"


def grow(
    category: Annotated[str, typer.Option("--category", help="The category that is to grow.")],
    count: Annotated[int, typer.Option("--count", min=1, help="How many sentences to ask for.")],
    model: Annotated[
        str | None,
        typer.Option("--model", help="A row of `models`; `retention.judge.model` by default."),
    ] = None,
    dataset: Annotated[
        str, typer.Option("--dataset", help="Whose params name the model: sample or full.")
    ] = "full",
    cap: Annotated[int, typer.Option("--cap", min=1, help="Tokens of the reply.")] = 2048,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Send a failed call again.")
    ] = False,
    budget: Annotated[
        float | None, typer.Option(min=0, help="US dollars [default: `budget` of the params].")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="A file, instead of standard output.")
    ] = None,
) -> None:
    """Have a model propose sentences; mark repetitions and leaks, and change no file of the corpus.

    Prints a JSON list: each sentence, what speaks against it (null: nothing), its keyword.
    """
    from memrepro.benchmarks.retention.build import parse_corpus, parse_policies, parse_rules
    from memrepro.benchmarks.retention.grow import check_candidates, grow_call
    from memrepro.record.candidates import record_candidates
    from memrepro.record.shard import Terms

    root = find_root()
    params = load_params(root, dataset_of(dataset))
    name = model or params.retention.judge.model
    row = model_of(params, name)
    files = [root / _DATA / f"{part}.json" for part in ("corpus", "policies", "rules")]
    corpus, policy, rule = (read_json(file) for file in files)
    facts = parse_corpus(corpus, where=str(files[0]))
    policies = parse_policies(policy, where=str(files[1]))
    rules = parse_rules(rule, where=str(files[2]))
    check_candidates((), category, facts, policies, rules)  # the category, before anything is paid
    call = grow_call(
        read_text(root / _PROMPT),
        category,
        facts,
        count,
        model=row.identity,
        cap=cap,
        temperature=row.temperature,
    )
    limit = params.budget if budget is None else budget
    terms = Terms(name, row, api_key(row), limit, retry_failed)
    with displayed() as progress:
        texts = record_candidates(root, call, terms, progress)
    found = check_candidates(texts, category, facts, policies, rules)
    emit(dump_json([candidate._asdict() for candidate in found]), output)
    good = sum(candidate.fault is None for candidate in found)
    typer.echo(f"{len(found)} sentences, {good} without a fault", err=True)
