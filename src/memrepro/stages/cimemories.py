"""File work of CIMemories' stages that no model has a part in."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from tqdm import tqdm

from memrepro import memory
from memrepro.benchmarks.base import FactMemory
from memrepro.benchmarks.cimemories import compose, label_rules
from memrepro.benchmarks.cimemories import judge as judging
from memrepro.benchmarks.cimemories.compositions import compose_sets
from memrepro.benchmarks.cimemories.describe import data_facts
from memrepro.benchmarks.cimemories.remember import Prepare, query, select
from memrepro.benchmarks.cimemories.reveal import Attribute, RevealJudge
from memrepro.benchmarks.cimemories.score import score
from memrepro.benchmarks.cimemories.tables import parse_contexts, parse_pairs
from memrepro.errors import InputError
from memrepro.files import read_records, read_text, write_json, write_records
from memrepro.memory.base import Oracle, Tagged, render
from memrepro.params import system_params
from memrepro.records import (
    CIMemoriesAttribute,
    CIMemoriesComposition,
    CIMemoriesContext,
    CIMemoriesDomain,
    CIMemoriesLabels,
    CIMemoriesSelection,
    CIMemoriesStatement,
    CIMemoriesVerdict,
    Turn,
)
from memrepro.stages.cimemories_rows import (
    BENCHMARK,
    attributes_by_profile,
    edition_rows,
    read_profiles,
    read_rows,
)
from memrepro.stages.declarations.cimemories import table_path
from memrepro.stages.pinned import fetched_and_committed, hold_to_pins
from memrepro.stages.resources import resources_of
from memrepro.stages.work import Work


def verify(work: Work) -> None:
    """Hold the profiles to their pin, check every row, and count what is irregular in them.

    Raises:
        CheckFailed: the file is not what its pin says.
        InputError: a row is malformed.
    """
    file = work.params.cimemories.data.profiles
    verified = hold_to_pins(work.root, [file], fetched_and_committed(work.root))
    facts = data_facts(read_profiles(work))
    write_json(work.write(BENCHMARK, "data_facts.json"), facts)
    write_records(work.write(BENCHMARK, "verified.jsonl"), verified)


def label(work: Work, source: str) -> None:
    """Label every context by one source; a source without counts writes an empty file of them."""
    if source == "generate":
        from memrepro.stages.cimemories_models import generated_labels

        counts, labels = generated_labels(work)
    else:
        counts, labels = [], _given_labels(work, source)
    write_records(work.write(BENCHMARK, f"label_counts/{source}.jsonl"), counts)
    write_records(work.write(BENCHMARK, f"labels/{source}.jsonl"), labels)


def _given_labels(work: Work, source: str) -> list[CIMemoriesLabels]:
    rows = edition_rows(work)
    reads = {name: row.reads for name, row in work.params.cimemories.label_sources.items()}
    path = work.root / next(reads[name] for name in reads if name == source)
    if source == "rules":
        own, released = path / "contexts.csv", path / "upstream_pairs.csv"
        rules = label_rules.rules_of(
            parse_contexts(read_text(own), str(own)),
            parse_pairs(read_text(released), str(released)),
        )
        return label_rules.label_by_rule(rows.contexts, rows.domains, rules, str(path))
    from memrepro.benchmarks.cimemories.label_import import match_labels
    from memrepro.store.cimemories_import import read_labels

    return match_labels(read_labels(path), rows.contexts, rows.attributes, str(path))


def build(work: Work) -> None:
    """Write what a memory may see, the domains beside it, and what only a judge may see."""
    rows = edition_rows(work)
    params = work.params.cimemories
    if "full" not in params.compositions:
        raise InputError(
            "the metrics are of the composition `full`",
            where=f"{work.params.params_file}, key cimemories.compositions",
            expected="full among them",
            found=", ".join(params.compositions),
        )
    labels = read_rows(work, f"labels/{params.labels}.jsonl", CIMemoriesLabels)
    sets = [one for row in labels for one in compose_sets(row, params.compositions, params.seed)]
    write_records(work.write(BENCHMARK, "inputs/statements.jsonl"), rows.statements)
    write_records(work.write(BENCHMARK, "inputs/contexts.jsonl"), rows.contexts)
    write_records(work.write(BENCHMARK, "inputs/compositions.jsonl"), sets)
    write_records(work.write(BENCHMARK, "domains.jsonl"), rows.domains)
    write_records(work.write(BENCHMARK, "judge_only/attributes.jsonl"), rows.attributes)


def remember_system(work: Work, system: str) -> None:
    """Have one system choose statements for every context and composition."""
    statements = read_rows(work, "inputs/statements.jsonl", CIMemoriesStatement)
    contexts = read_rows(work, "inputs/contexts.jsonl", CIMemoriesContext)
    sets = read_rows(work, "inputs/compositions.jsonl", CIMemoriesComposition)
    row = system_params(work.params, BENCHMARK, system)
    texts = dict.fromkeys([*(one.statement for one in statements), *map(query, contexts)])
    resources = resources_of(work, BENCHMARK, system, list(texts))
    prepare = _preparation(work, system)
    chosen: list[CIMemoriesSelection] = []
    by_profile = groupby(statements, key=lambda one: one.profile)
    for number, group in tqdm(by_profile, desc=system, disable=not work.progress, leave=False):
        chosen += select(
            lambda: memory.create(system, row.settings, resources),
            prepare,
            list(group),
            [one for one in contexts if one.profile == number],
            [one for one in sets if one.profile == number],
            work.params.cimemories.k,
            system=system,
            render=render,
        )
    write_records(work.write(BENCHMARK, f"contexts/{system}.jsonl"), chosen)


def _preparation(work: Work, system: str) -> Prepare:
    """How a system is handed its input of its own: labels to an oracle, domains to a guard."""
    kind = memory.load(system)
    path = work.root / system_params(work.params, BENCHMARK, system).reads
    if issubclass(kind, Oracle):
        return _revealing(read_records(path, CIMemoriesLabels, hint="dvc repro"))
    if issubclass(kind, Tagged):
        return _tagging(read_records(path, CIMemoriesDomain, hint="dvc repro"))
    return lambda asked, context, facts: asked


def _revealing(labels: Iterable[CIMemoriesLabels]) -> Prepare:
    by_context = {(row.profile, row.place): row.labels for row in labels}

    def prepare(
        memory: FactMemory, context: CIMemoriesContext, facts: Mapping[int, Turn]
    ) -> FactMemory:
        found = by_context[context.profile, context.place]
        necessary = [fact for position, fact in facts.items() if found[position - 1] == "n"]
        asked = memory.fork()
        assert isinstance(asked, Oracle)
        asked.reveal(necessary)
        return asked

    return prepare


def _tagging(domains: Iterable[CIMemoriesDomain]) -> Prepare:
    by_place = {(row.profile, row.position): row.domain for row in domains}

    def prepare(
        memory: FactMemory, context: CIMemoriesContext, facts: Mapping[int, Turn]
    ) -> FactMemory:
        asked = memory.fork()
        assert isinstance(asked, Tagged)
        asked.tag({fact.id: by_place[context.profile, at] for at, fact in facts.items()})
        return asked

    return prepare


def judge_system(work: Work, system: str) -> None:
    """Write the deterministic judge's verdicts on the deterministic composer's messages."""
    statements = compose.by_profile(read_rows(work, "inputs/statements.jsonl", CIMemoriesStatement))
    attributes = attributes_by_profile(work)
    judges = {number: _judge(group) for number, group in attributes.items()}
    keys = {number: [one.key for one in group] for number, group in attributes.items()}
    verdicts = [
        judging.verbatim_verdict(
            row,
            render(compose.shown(row, statements[row.profile])),
            keys[row.profile],
            judges[row.profile],
        )
        for row in read_rows(work, f"contexts/{system}.jsonl", CIMemoriesSelection)
    ]
    write_records(work.write(BENCHMARK, f"verdicts/{system}/verbatim.jsonl"), verdicts)


def _judge(attributes: Sequence[CIMemoriesAttribute]) -> RevealJudge:
    return RevealJudge({one.key: Attribute(one.value, one.statement) for one in attributes})


def score_system(work: Work, system: str) -> None:
    """Write one system's score rows, of every judge that has verdicts on it."""
    folder = work.read(BENCHMARK, f"verdicts/{system}")
    verdicts = [
        verdict
        for name in ("verbatim.jsonl", "model.jsonl")
        if (folder / name).is_file()
        for verdict in read_records(folder / name, CIMemoriesVerdict)
    ]
    write_records(work.write(BENCHMARK, f"scores/{system}.jsonl"), score(verdicts))


def write_tables(work: Work) -> None:
    """Write what is asked of the scores beside the metrics, a table a file."""
    from memrepro.stages.cimemories_tables import tables

    for name, rows in tables(work).items():
        write_json(work.out / table_path(work.params, name), rows)
