"""CIMemories' steps that a model has a part in: their calls, and their file work.

The calls are a pure function of a stage's inputs, so the recording, the replay and `ledger show`
all make them here.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

import yaml

from memrepro.benchmarks.cimemories import compose
from memrepro.benchmarks.cimemories.compose import answer, compose_call, shown
from memrepro.benchmarks.cimemories.judge import judge_call, verdict
from memrepro.benchmarks.cimemories.label_model import Asked, counts_of, label_calls, labels_of
from memrepro.benchmarks.cimemories.labels import PERSONAS
from memrepro.errors import InputError
from memrepro.files import read_text, write_records
from memrepro.llm.call import Call
from memrepro.memory.base import render
from memrepro.params import model_of
from memrepro.records import (
    CIMemoriesAnswer,
    CIMemoriesContext,
    CIMemoriesCounts,
    CIMemoriesLabels,
    CIMemoriesSelection,
    CIMemoriesStatement,
    CIMemoriesVerdict,
)
from memrepro.stages.cimemories_rows import (
    BENCHMARK,
    attributes_by_profile,
    edition_rows,
    read_rows,
)
from memrepro.stages.declarations.cimemories import LABEL_PROMPTS, LABELS
from memrepro.stages.replay import Find, call_settings, replay, shard_of
from memrepro.stages.work import Work


def _recorded(work: Work, profile: int, place: int) -> bool:
    """Whether a context belongs to the part that has a model's replies."""
    limits = work.params.cimemories.recorded
    return (limits.profiles is None or profile < limits.profiles) and (
        limits.contexts is None or place < limits.contexts
    )


def _prompts(work: Work) -> tuple[dict[int, str], str]:
    """The composing prompts by level, and the judge's: our own, or those in upstream's YAML.

    Raises:
        InputError: one is missing.
    """
    path = work.root / work.params.cimemories.data.prompts
    levels = work.params.cimemories.prompt_levels
    if path.suffix != ".yaml":
        composing = {level: read_text(path / f"compose_{level}.txt") for level in levels}
        return composing, read_text(path / "reveal.txt")
    released = yaml.safe_load(read_text(path, hint="memrepro fetch --dataset full"))
    try:
        composing = {level: str(released["task_solving"][level]) for level in levels}
        return composing, str(released["adversary_reveal"][1])
    except (KeyError, TypeError):
        raise InputError(
            "lacks a prompt",
            where=str(path),
            expected="task_solving with a text a level, and adversary_reveal with one",
        ) from None


def label_step_calls(work: Work) -> Iterator[tuple[Asked, Call]]:
    """Each persona's view of each context that is labelled, and the call for each sample."""
    step = work.params.cimemories.label
    model, settings = call_settings(work, step)
    rows = edition_rows(work)
    folder = work.root / LABEL_PROMPTS
    statements = {
        number: [one.statement for one in group]
        for number, group in groupby(rows.statements, key=lambda one: one.profile)
    }
    return label_calls(
        read_text(folder / "label.txt"),
        {persona: read_text(folder / f"persona_{persona}.txt") for persona in PERSONAS},
        [one for one in rows.contexts if _recorded(work, one.profile, one.place)],
        statements,
        samples=step.samples,
        structured_output=model.structured_output,
        **settings,
    )


def generated_labels(work: Work) -> tuple[list[CIMemoriesCounts], list[CIMemoriesLabels]]:
    """Counts and labels that recorded replies make.

    Raises:
        ReplayMiss: a reply is not recorded.
    """
    find = shard_of(work, BENCHMARK, "label", LABELS)
    found = replay(work, BENCHMARK, "label", LABELS, label_step_calls(work), find)
    attributes = {
        number: list(group)
        for number, group in groupby(edition_rows(work).attributes, key=lambda one: one.profile)
    }
    replies = [(asked, reply) for asked, reply, _ in found if reply is not None]
    counts = counts_of(replies, attributes)
    return counts, labels_of(counts)


Composing = tuple[CIMemoriesSelection, int, int]


def answer_calls(work: Work, system: str) -> Iterator[tuple[Composing, Call]]:
    """Each selection, prompt level and trial that is composed, and its call."""
    params = work.params.cimemories
    _, settings = call_settings(work, params.answer)
    prompts, _ = _prompts(work)
    form = params.prompt_form
    statements = compose.by_profile(read_rows(work, "inputs/statements.jsonl", CIMemoriesStatement))
    contexts = {
        (one.profile, one.place): one
        for one in read_rows(work, "inputs/contexts.jsonl", CIMemoriesContext)
    }
    for row in read_rows(work, f"contexts/{system}.jsonl", CIMemoriesSelection):
        if not _recorded(work, row.profile, row.place):
            continue
        memories = render(shown(row, statements[row.profile], form))
        context = contexts[row.profile, row.place]
        for level, prompt in prompts.items():
            for trial in range(params.trials):
                yield (
                    (row, level, trial),
                    compose_call(
                        prompt,
                        memories,
                        context,
                        level=level,
                        form=form,
                        trial=trial,
                        **settings,
                    ),
                )


def answers_of(work: Work, system: str, find: Find) -> list[CIMemoriesAnswer]:
    """The messages that recorded replies make.

    Raises:
        ReplayMiss: a reply is not recorded.
    """
    found = replay(work, BENCHMARK, "answer", system, answer_calls(work, system), find)
    return [
        answer(row, level, trial, reply, raised)
        for (row, level, trial), reply, raised in found
        if reply is not None
    ]


def judge_calls(
    work: Work, answers: Iterable[CIMemoriesAnswer]
) -> Iterator[tuple[CIMemoriesAnswer, Call | None]]:
    """Each message and the call that judges it; None for a message that failed."""
    model, settings = call_settings(work, work.params.cimemories.judge)
    _, prompt = _prompts(work)
    attributes = attributes_by_profile(work)
    for row in answers:
        if row.text is None:
            yield row, None
            continue
        yield (
            row,
            judge_call(
                prompt,
                attributes[row.profile],
                row.text,
                structured_output=model.structured_output,
                **settings,
            ),
        )


def verdicts_of(
    work: Work, system: str, answers: Iterable[CIMemoriesAnswer], find: Find
) -> list[CIMemoriesVerdict]:
    """The verdicts that recorded replies make.

    Raises:
        ReplayMiss: a reply is not recorded.
    """
    judge = model_of(work.params, work.params.cimemories.judge.model).identity
    attributes = attributes_by_profile(work)
    found = replay(work, BENCHMARK, "judge", system, judge_calls(work, answers), find)
    return [
        verdict(row, attributes[row.profile], reply, raised, judge=judge)
        for row, reply, raised in found
    ]


def answer_system(work: Work, system: str) -> None:
    """Replay one system's messages."""
    rows = answers_of(work, system, shard_of(work, BENCHMARK, "answer", system))
    write_records(work.write(BENCHMARK, f"answers/{system}.jsonl"), rows)


def judge_model_system(work: Work, system: str) -> None:
    """Replay the judging model's verdicts on one system."""
    answers = read_rows(work, f"answers/{system}.jsonl", CIMemoriesAnswer)
    rows = verdicts_of(work, system, answers, shard_of(work, BENCHMARK, "judge", system))
    write_records(work.write(BENCHMARK, f"verdicts/{system}/model.jsonl"), rows)
