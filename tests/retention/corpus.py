"""The committed corpus, and runs over it, for the tests of the retention benchmark."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

from memrepro import memory
from memrepro.benchmarks.retention.build import (
    STANDARD,
    build_rows,
    parse_corpus,
    parse_dataset,
    parse_policies,
    parse_rules,
)
from memrepro.benchmarks.retention.run import Governed, Setting, run
from memrepro.benchmarks.retention.score import score
from memrepro.files import read_json, write_records
from memrepro.memory.base import MemorySystem
from memrepro.memory.guard import Guard
from memrepro.policy import Ask, Governance
from memrepro.records import (
    RetentionFact,
    RetentionObservation,
    RetentionRow,
    RetentionScore,
    RetentionVerdict,
)
from memrepro.store.retention import retention_metrics
from tests.memory.fakes import RESOURCES

DATA = Path(__file__).parents[2] / "data" / "retention_policy"
POLICIES = parse_policies(read_json(DATA / "policies.json"), where="policies.json")
RULES = parse_rules(read_json(DATA / "rules.json"), where="rules.json")
ROWS = parse_dataset(read_json(DATA / "dataset.json"), where="dataset.json")
CATEGORY = {policy.statement: policy.category for policy in POLICIES}

NONE = Governance("none")
WORD = Governance("deterministic", rules=RULES)
SUBSTRING = Governance("deterministic", match="substring", rules=RULES)


@functools.cache
def facts(edition: str = STANDARD) -> list[RetentionFact]:
    """The sentences of an edition."""
    file = "corpus.json" if edition == STANDARD else f"editions/{edition}.json"
    return parse_corpus(read_json(DATA / file), where=file)


def rows_of(edition: str) -> list[RetentionRow]:
    """The rows of an edition."""
    return build_rows(facts(edition), POLICIES)


def new(system: str = "exact") -> MemorySystem:
    """An empty memory system."""
    return memory.create(system, {}, RESOURCES)


def guarded(
    governance: Governance, ask: Ask | None = None, system: str = "exact"
) -> Callable[[], Guard]:
    """Makes guards round empty systems."""
    create = functools.partial(new, system)
    return lambda: Guard(RESOURCES, create=create, governance=governance, ask=ask)


def scores(
    create: Callable[[], Governed],
    rows: Sequence[RetentionRow] = ROWS,
    *,
    edition: str = STANDARD,
    governance: Governance = NONE,
    system: str = "exact",
    verdicts: Sequence[RetentionVerdict] = (),
) -> list[RetentionScore]:
    """Score rows of a run."""
    setting = Setting(edition, governance.mode, system, k=5)
    return score(run(create, rows, setting), rows, verdicts)


def observations(order: Sequence[int], system: str) -> dict[str, list[RetentionObservation]]:
    """Observations by policy of samples, by number, that one process runs in an order."""
    setting = Setting(STANDARD, "deterministic", system, 5)
    return {
        POLICIES[number].id: list(
            run(guarded(WORD, system=system), ROWS[number * 96 : (number + 1) * 96], setting)
        )
        for number in order
    }


def metrics(folder: Path, found: Sequence[RetentionScore]) -> dict[str, float | int]:
    """Metrics of score rows of one edition, system and mode."""
    file = folder / "scores.jsonl"
    write_records(file, found)
    (systems,) = retention_metrics([file]).values()
    (modes,) = systems.values()
    (values,) = modes.values()
    return values
