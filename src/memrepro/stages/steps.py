"""The steps of each benchmark that ask a model: what a recording drives, and a replay reads."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memrepro.errors import InputError
from memrepro.llm.call import Call
from memrepro.params import ModelStep, ModelSystems, Params, Systems
from memrepro.stages import cimemories_models, inmind_models, retention_models
from memrepro.stages.declarations.cimemories import LABELS
from memrepro.stages.replay import Find
from memrepro.stages.work import Work

BENCHMARKS = ("inmind", "cimemories", "retention")


@dataclass(frozen=True)
class Step:
    """One step: its name, its model and cap, and the calls it makes for a system.

    `calls` takes the work, the system and a look-up of recorded replies, for a step whose calls
    hold replies of an earlier one.
    """

    name: str
    settings: ModelStep
    calls: Callable[[Work, str, Find], Iterator[Call]]


def _inmind_answer(work: Work, system: str, _: Find) -> Iterator[Call]:
    return (call for _, call in inmind_models.answer_calls(work, system))


def _inmind_judge(work: Work, system: str, find: Find) -> Iterator[Call]:
    answers = inmind_models.answers_of(work, system, find)
    calls = inmind_models.judge_calls(work, system, answers)
    return (call for _, call in calls if call is not None)


def _cimemories_label(work: Work, system: str, _: Find) -> Iterator[Call]:
    return (call for _, call in cimemories_models.label_step_calls(work))


def _cimemories_answer(work: Work, system: str, _: Find) -> Iterator[Call]:
    return (call for _, call in cimemories_models.answer_calls(work, system))


def _cimemories_judge(work: Work, system: str, find: Find) -> Iterator[Call]:
    answers = cimemories_models.answers_of(work, system, find)
    calls = cimemories_models.judge_calls(work, answers)
    return (call for _, call in calls if call is not None)


def _retention_guard(work: Work, system: str, _: Find) -> Iterator[Call]:
    return (call for _, call in retention_models.guard_calls(work))


def _retention_judge(work: Work, system: str, find: Find) -> Iterator[Call]:
    observations = retention_models.without_model(work, system)
    observations += retention_models.governed(work, system, find)
    return (call for _, call in retention_models.judge_calls(work, observations))


def steps(params: Params, benchmark: str, system: str) -> tuple[Step, ...]:
    """A system's steps in a benchmark, in the order in which they are recorded.

    CIMemories' labels belong to no system; they are recorded under the name `labels`.

    Raises:
        InputError: there is no such benchmark.
    """
    if benchmark == "inmind":
        return (
            Step("answer", params.inmind.answer, _inmind_answer),
            Step("judge", params.inmind.judge, _inmind_judge),
        )
    if benchmark == "cimemories":
        if system == LABELS:
            return (Step("label", params.cimemories.label, _cimemories_label),)
        return (
            Step("answer", params.cimemories.answer, _cimemories_answer),
            Step("judge", params.cimemories.judge, _cimemories_judge),
        )
    if benchmark == "retention":
        return (
            Step("guard", params.retention.guard, _retention_guard),
            Step("judge", params.retention.judge, _retention_judge),
        )
    raise _unknown(benchmark)


def recorded_names(params: Params, benchmark: str) -> tuple[str, ...]:
    """Under which names a benchmark's replies are recorded: its model systems, and the labels."""
    names = tuple(_row(params.model_systems, benchmark))
    generated = benchmark == "cimemories" and "generate" in params.cimemories.label_sources
    return (LABELS, *names) if generated else names


def systems_of(params: Params, benchmark: str) -> tuple[str, ...]:
    """The systems that run in a benchmark.

    Raises:
        InputError: there is no such benchmark.
    """
    return tuple(_row(params.systems, benchmark))


def _row(table: Systems | ModelSystems, benchmark: str) -> dict[str, Any]:
    if benchmark not in BENCHMARKS:
        raise _unknown(benchmark)
    row: dict[str, Any] = getattr(table, benchmark)
    return row


def _unknown(benchmark: str) -> InputError:
    return InputError(
        f"no benchmark {benchmark!r} with a model's steps",
        where="--benchmark",
        expected=", ".join(BENCHMARKS),
    )


def step_calls(root: Path, params: Params, step: Step, system: str, find: Find) -> Iterator[Call]:
    """The calls that a step makes for a system, from the stage outputs in the project.

    Raises:
        InputError: an output that the step reads is not there.
        ReplayMiss: the step's calls hold replies that are not recorded.
    """
    return step.calls(Work(root=root, out=root, params=params), system, find)
