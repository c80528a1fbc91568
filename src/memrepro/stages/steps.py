"""The steps of a benchmark that ask a model: what a recording drives, and a replay reads."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memrepro.errors import InputError
from memrepro.llm.call import Call, Reply
from memrepro.params import ModelStep, Params
from memrepro.stages.inmind_models import answer_calls, answers_of, judge_calls
from memrepro.stages.work import Work

Find = Callable[[str], Reply | None]


@dataclass(frozen=True)
class Step:
    """One step: its name, its model and cap, and the calls it makes for a system.

    `calls` takes the work, the system and a look-up of recorded replies, for a step whose calls
    hold replies of an earlier one.
    """

    name: str
    settings: ModelStep
    calls: Callable[[Work, str, Find], Iterator[Call]]


def _answer(work: Work, system: str, _: Find) -> Iterator[Call]:
    return (call for _, call in answer_calls(work, system))


def _judge(work: Work, system: str, find: Find) -> Iterator[Call]:
    answers = answers_of(work, system, find)
    return (call for _, call in judge_calls(work, system, answers) if call is not None)


def steps(params: Params, benchmark: str) -> tuple[Step, ...]:
    """A benchmark's steps, in the order in which they are recorded.

    Raises:
        InputError: the benchmark has none.
    """
    if benchmark != "inmind":
        raise InputError(
            f"no benchmark {benchmark!r} with a model's steps",
            where="--benchmark",
            expected="inmind",
        )
    return (
        Step("answer", params.inmind.answer, _answer),
        Step("judge", params.inmind.judge, _judge),
    )


def step_calls(root: Path, params: Params, step: Step, system: str, find: Find) -> Iterator[Call]:
    """The calls that a step makes for a system, from the stage outputs in the project.

    Raises:
        InputError: an output that the step reads is not there.
        ReplayMiss: the step's calls hold replies that are not recorded.
    """
    return step.calls(Work(root=root, out=root, params=params), system, find)
