"""File work of the retention benchmark's stages that no model has a part in."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from tqdm import tqdm

from memrepro import memory
from memrepro.benchmarks.retention.build import (
    build_rows,
    parse_corpus,
    parse_dataset,
    parse_policies,
    parse_rules,
)
from memrepro.benchmarks.retention.run import Cell, Setting, run
from memrepro.benchmarks.retention.score import score
from memrepro.errors import InputError
from memrepro.files import read_json, read_records, write_json, write_records
from memrepro.memory.base import Resources
from memrepro.memory.guard import Guard
from memrepro.params import model_of, system_params
from memrepro.policy import Ask, Governance, Rules
from memrepro.policy.configuration import Configuration, check
from memrepro.records import (
    Record,
    RetentionInput,
    RetentionJudgeOnly,
    RetentionMode,
    RetentionObservation,
    RetentionPolicy,
    RetentionRow,
    RetentionScore,
    RetentionVerdict,
)
from memrepro.stages.pinned import committed, hold_to_pins
from memrepro.stages.resources import resources_of
from memrepro.stages.work import Work

BENCHMARK = "retention"
R = TypeVar("R", bound=Record)


def read_rows(work: Work, name: str, record: type[R]) -> list[R]:
    """The rows of one of the benchmark's stage outputs."""
    return read_records(work.read(BENCHMARK, name), record, hint="dvc repro")


def build(work: Work, edition: str) -> None:
    """Hold an edition to its pins and the configuration; write what a memory and its guard may see.

    Raises:
        CheckFailed: a file is not what its pin says.
        InputError: a file is malformed, or the configuration is refused: names the key at fault.
    """
    data = work.params.retention.data
    path = work.params.retention.editions[edition].dataset_path
    hold_to_pins(work.root, (path, data.policies, data.rules), committed(work.root))
    rules = _rules(work)
    inputs, judge_only = [], []
    numbers: dict[str, int] = {}
    for row in checked_rows(work, edition, rules):
        # The dataset's own ids say what a fact is about.
        fact_id = f"f{numbers.setdefault(row.text, len(numbers)):05d}"
        inputs.append(
            RetentionInput(
                policy_id=row.policy_id, fact_id=fact_id, policy=row.policy, text=row.text
            )
        )
        judge_only.append(
            RetentionJudgeOnly(
                policy_id=row.policy_id,
                fact_id=fact_id,
                name=row.fact_id,
                category=row.category,
                expected=row.expected,
            )
        )
    write_json(work.write(BENCHMARK, f"inputs/{edition}/rules.json"), rules)
    write_records(work.write(BENCHMARK, f"inputs/{edition}/cells.jsonl"), inputs)
    write_records(work.write(BENCHMARK, f"judge_only/{edition}/cells.jsonl"), judge_only)


def checked_rows(work: Work, edition: str, rules: Rules | None) -> list[RetentionRow]:
    """An edition's rows of the policies to run, after every check of the configuration.

    Raises:
        InputError: names the key at fault.
    """
    settings = work.params.retention
    policies = _policies(work)
    rows = edition_rows(work, edition, policies)
    chosen: list[RetentionRow] = []
    modes: list[RetentionMode] = [*settings.modes]
    if work.params.model_systems.retention:
        modes += settings.model_modes
        for step in (settings.guard, settings.judge):
            model_of(work.params, step.model)
        _check_recorded(work)
    for mode in modes:
        _, chosen = check(
            Configuration(
                active=settings.active,
                recall_filtering=settings.recall_filtering,
                mode=mode,
                match=settings.match,
                on_undecided=settings.on_undecided,
                rules=rules,
                policies=policies,
                rows=rows,
                policy_ids=settings.policy_ids,
                limit=settings.limit,
                model=settings.guard.model,
                where=f"{work.params.params_file}, key retention",
                keys={
                    "dataset_path": f"editions.{edition}.dataset_path",
                    "mode": "modes",
                    "model": "guard.model",
                    "policies": "data.policies",
                    "rules": "data.rules",
                },
            )
        )
    return chosen


def _check_recorded(work: Work) -> None:
    settings = work.params.retention
    for edition in settings.recorded.editions:
        if edition not in settings.editions:
            raise InputError(
                f"no edition {edition!r}",
                where=f"{work.params.params_file}, key retention.recorded.editions",
                expected=", ".join(settings.editions),
            )


def edition_rows(
    work: Work, edition: str, policies: Sequence[RetentionPolicy] | None = None
) -> list[RetentionRow]:
    """An edition's rows: a dataset's own, or a corpus's facts under every policy.

    Raises:
        InputError: a file is malformed.
    """
    path = work.params.retention.editions[edition].dataset_path
    value = read_json(work.root / path)
    if isinstance(value, dict) and "rows" not in value:
        return build_rows(parse_corpus(value, where=path), policies or _policies(work))
    return parse_dataset(value, where=path)


def _policies(work: Work) -> list[RetentionPolicy]:
    path = work.params.retention.data.policies
    return parse_policies(read_json(work.root / path), where=path)


def _rules(work: Work) -> dict[str, tuple[str, ...]] | None:
    """The keywords by statement; null in the file is no table."""
    path = work.params.retention.data.rules
    value = read_json(work.root / path)
    return None if value is None else parse_rules(value, where=path)


def input_cells(work: Work, edition: str) -> list[RetentionInput]:
    """What a memory and its guard see of an edition, policy by policy."""
    return read_rows(work, f"inputs/{edition}/cells.jsonl", RetentionInput)


def governance_of(work: Work, edition: str, mode: RetentionMode) -> Governance:
    """How policies are enforced in a mode, by the rules among an edition's inputs."""
    settings = work.params.retention
    path = work.read(BENCHMARK, f"inputs/{edition}/rules.json")
    value: Any = read_json(path, hint="dvc repro")
    rules = None if value is None else parse_rules(value, where=str(path))
    return Governance(mode, settings.match, settings.on_undecided, rules)


Observe = Callable[
    [Setting, Governance, Sequence[Cell], Ask | None], Iterator[RetentionObservation]
]


@contextmanager
def observing(work: Work, system: str, cells: Iterable[Cell]) -> Iterator[Observe]:
    """A function that runs governed memories of one system, each sample in an empty one.

    Args:
        work: its `out` is not written to: a memory's files lie in a folder that goes at the end.
        system: the wrapped system.
        cells: all that will be run, for an embedder to prepare.
    """
    row = system_params(work.params, BENCHMARK, system)
    texts = list(dict.fromkeys(cell.text for cell in cells))
    with TemporaryDirectory(prefix="memrepro-") as folder:
        resources = resources_of(replace(work, out=Path(folder)), BENCHMARK, system, texts)

        def observe(
            setting: Setting,
            governance: Governance,
            cells: Sequence[Cell],
            ask: Ask | None = None,
        ) -> Iterator[RetentionObservation]:
            def guard() -> Guard:
                return Guard(
                    Resources(resources.workdir),
                    create=lambda: memory.create(system, row.settings, resources),
                    governance=governance,
                    ask=ask,
                )

            return run(guard, cells, setting)

        yield observe


def remember_system(work: Work, system: str) -> None:
    """Have one system retain and recall every edition's facts in every mode without a model."""
    settings = work.params.retention
    editions = {edition: input_cells(work, edition) for edition in settings.editions}
    found: list[RetentionObservation] = []
    runs = [(edition, mode) for edition in editions for mode in settings.modes]
    with observing(work, system, (one for of in editions.values() for one in of)) as observe:
        for edition, mode in tqdm(runs, desc=system, disable=not work.progress, leave=False):
            found += observe(
                Setting(edition, mode, system, settings.k),
                governance_of(work, edition, mode),
                editions[edition],
                None,
            )
    write_records(work.write(BENCHMARK, f"observations/{system}/rules.jsonl"), found)


def score_system(work: Work, system: str) -> None:
    """Write one system's score rows, under the facts' own ids."""
    folder = f"observations/{system}"
    observations = read_rows(work, f"{folder}/rules.jsonl", RetentionObservation)
    verdicts: list[RetentionVerdict] = []
    if work.read(BENCHMARK, f"{folder}/model.jsonl").is_file():
        observations += read_rows(work, f"{folder}/model.jsonl", RetentionObservation)
        verdicts = read_rows(work, f"{folder}/verdicts.jsonl", RetentionVerdict)
    scores: list[RetentionScore] = []
    observations.sort(key=lambda one: one.edition)
    for edition, group in groupby(observations, key=lambda one: one.edition):
        cells = read_rows(work, f"judge_only/{edition}/cells.jsonl", RetentionJudgeOnly)
        names = {(cell.policy_id, cell.fact_id): cell.name for cell in cells}
        scores += [
            row.model_copy(update={"fact_id": names[row.policy_id, row.fact_id]})
            for row in score(group, cells, verdicts)
        ]
    write_records(work.write(BENCHMARK, f"scores/{system}.jsonl"), scores)
