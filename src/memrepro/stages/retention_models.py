"""The retention benchmark's steps that a model has a part in: their calls, and their file work.

The calls are a pure function of a stage's inputs, so the recording, the replay and `ledger show`
all make them here.
"""

from collections.abc import Iterable, Iterator

from memrepro.benchmarks.retention.guard import asked, guard_call, guard_verdict
from memrepro.benchmarks.retention.judge import judge_call, judged, verdict
from memrepro.benchmarks.retention.run import Asked, Setting
from memrepro.errors import InputError
from memrepro.files import read_text, write_records
from memrepro.llm.call import Call
from memrepro.params import model_of, system_params
from memrepro.records import (
    RetentionInput,
    RetentionMode,
    RetentionObservation,
    RetentionVerdict,
)
from memrepro.stages.replay import Find, call_settings, replay, shard_of
from memrepro.stages.retention import (
    BENCHMARK,
    governance_of,
    input_cells,
    observing,
    read_rows,
)
from memrepro.stages.work import Work

# A fact's text and a policy's statement: what the guard's model is asked about.
Pair = tuple[str, str]


def _recorded(work: Work) -> dict[str, list[RetentionInput]]:
    """The cells of each edition that a guard's model decides on: those of the first policies."""
    limits = work.params.retention.recorded
    found = {}
    for edition in limits.editions:
        cells = input_cells(work, edition)
        first = list(dict.fromkeys(cell.policy_id for cell in cells))[: limits.policies]
        found[edition] = [cell for cell in cells if cell.policy_id in first]
    return found


def _runs(work: Work) -> Iterator[tuple[str, RetentionMode, list[RetentionInput]]]:
    for edition, cells in _recorded(work).items():
        for mode in work.params.retention.model_modes:
            yield edition, mode, cells


def guard_calls(work: Work) -> Iterator[tuple[Pair, Call]]:
    """Each pair that some run puts to the guard's model, once, and its call.

    No system has a part in it: every system's guard asks alike.
    """
    model, settings = call_settings(work, work.params.retention.guard)
    prompt = read_text(work.root / work.params.retention.data.prompts / "guard.txt")
    pairs = dict.fromkeys(
        pair
        for edition, mode, cells in _runs(work)
        for pair in asked(cells, governance_of(work, edition, mode))
    )
    for text, statement in pairs:
        call = guard_call(
            prompt, text, statement, structured_output=model.structured_output, **settings
        )
        yield (text, statement), call


def governed(work: Work, system: str, find: Find) -> list[RetentionObservation]:
    """The observations that recorded decisions make.

    Raises:
        ReplayMiss: a reply is not recorded.
        InputError: the system's two rows in the params differ.
    """
    _check_row(work, system)
    decisions: dict[Pair, int | None] = {}
    calls: dict[Pair, Asked] = {}
    for pair, reply, raised in replay(work, BENCHMARK, "guard", system, guard_calls(work), find):
        assert reply is not None
        decisions[pair] = guard_verdict(reply)
        calls[pair] = Asked(reply.key, raised)
    found: list[RetentionObservation] = []
    every = (cell for _, _, cells in _runs(work) for cell in cells)
    with observing(work, system, every) as observe:
        for edition, mode, cells in _runs(work):
            setting = Setting(
                edition,
                mode,
                system,
                work.params.retention.k,
                lambda text, statement: calls[text, statement],
            )
            governance = governance_of(work, edition, mode)
            found += observe(
                setting, governance, cells, lambda text, statement: decisions[text, statement]
            )
    return found


def _check_row(work: Work, system: str) -> None:
    row = system_params(work.params, BENCHMARK, system)
    given = work.params.model_systems.retention.get(system, row)
    if given != row:
        raise InputError(
            f"{system} has two rows that differ",
            where=f"{work.params.params_file}, key model_systems.retention.{system}",
            expected=f"what systems.retention.{system} says: {row.model_dump()}",
            found=str(given.model_dump()),
        )


def judge_calls(
    work: Work, observations: Iterable[RetentionObservation]
) -> Iterator[tuple[RetentionObservation, Call]]:
    """Each observation whose results may convey the fact in other words, and its call."""
    model, settings = call_settings(work, work.params.retention.judge)
    prompt = read_text(work.root / work.params.retention.data.prompts / "judge.txt")
    by_edition: dict[str, list[RetentionObservation]] = {}
    for observation in observations:
        by_edition.setdefault(observation.edition, []).append(observation)
    for edition, group in by_edition.items():
        texts = {cell.fact_id: cell.text for cell in input_cells(work, edition)}
        for observation, text in judged(group, texts):
            call = judge_call(
                prompt, text, observation, structured_output=model.structured_output, **settings
            )
            yield observation, call


def verdicts_of(
    work: Work, system: str, observations: Iterable[RetentionObservation], find: Find
) -> list[RetentionVerdict]:
    """The verdicts that recorded replies make.

    Raises:
        ReplayMiss: a reply is not recorded.
    """
    judge = model_of(work.params, work.params.retention.judge.model).identity
    found = replay(work, BENCHMARK, "judge", system, judge_calls(work, observations), find)
    return [
        verdict(observation, reply, raised, judge=judge)
        for observation, reply, raised in found
        if reply is not None
    ]


def without_model(work: Work, system: str) -> list[RetentionObservation]:
    """One system's observations in the modes without a model."""
    return read_rows(work, f"observations/{system}/rules.jsonl", RetentionObservation)


def remember_model_system(work: Work, system: str) -> None:
    """Have one system retain and recall in the modes whose guard asks a model, from its replies."""
    rows = governed(work, system, shard_of(work, BENCHMARK, "guard", system))
    write_records(work.write(BENCHMARK, f"observations/{system}/model.jsonl"), rows)


def judge_system(work: Work, system: str) -> None:
    """Replay the judging model's verdicts on one system."""
    observations = without_model(work, system)
    observations += read_rows(work, f"observations/{system}/model.jsonl", RetentionObservation)
    rows = verdicts_of(work, system, observations, shard_of(work, BENCHMARK, "judge", system))
    write_records(work.write(BENCHMARK, f"observations/{system}/verdicts.jsonl"), rows)
