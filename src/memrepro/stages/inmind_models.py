"""InMind's two steps that a model has a part in: their calls, and their file work.

The calls are a pure function of a stage's inputs, so the recording, the replay and `ledger show`
all make them here.
"""

from collections.abc import Iterable, Iterator

from memrepro.benchmarks.inmind.answer import answer, answer_call, asked
from memrepro.benchmarks.inmind.judge_model import Question, judge_call, questions, verdict
from memrepro.files import read_records, read_text, write_records
from memrepro.llm.call import Call
from memrepro.params import model_of
from memrepro.records import (
    InMindAnswer,
    InMindContext,
    InMindJudgeOnly,
    InMindTask,
    InMindVerdict,
)
from memrepro.stages.contexts import Contexts
from memrepro.stages.replay import Find, call_settings, replay, shard_of
from memrepro.stages.work import Work

JUDGE_ROLES = ("judge_naive", "judge_target_recall", "judge_application", "judge_answer_only")


def _contexts(work: Work, system: str) -> Contexts:
    return Contexts(work.read("inmind", "contexts") / system)


def _prompt(work: Work, role: str) -> str:
    return read_text(work.root / work.params.inmind.data.prompts / f"{role}.txt")


def _tasks(work: Work) -> list[InMindTask]:
    return read_records(work.read("inmind", "inputs") / "tasks.jsonl", InMindTask)


def answer_calls(work: Work, system: str) -> Iterator[tuple[InMindContext, Call]]:
    """Each context that is answered, and the call that asks for the answer."""
    _, settings = call_settings(work, work.params.inmind.answer)
    prompt = _prompt(work, "answer_system")
    contexts = _contexts(work, system)
    for row, query in asked(contexts.rows, _tasks(work)):
        context = contexts.text((row.task_id, row.query_kind, row.condition))
        yield row, answer_call(prompt, context, query, **settings)


def judge_calls(
    work: Work, system: str, answers: Iterable[InMindAnswer]
) -> Iterator[tuple[Question, Call | None]]:
    """Each question to the judging model, and its call; None where the answer failed."""
    model, settings = call_settings(work, work.params.inmind.judge)
    judge_only = work.read("inmind", "judge_only") / "tasks.jsonl"
    contexts = _contexts(work, system)
    asked_of = questions(
        answers,
        lambda row: contexts.text((row.task_id, row.query_kind, row.condition)),
        _tasks(work),
        read_records(judge_only, InMindJudgeOnly),
        {role: _prompt(work, role) for role in JUDGE_ROLES},
    )
    for question in asked_of:
        if question.messages is None:
            yield question, None
        else:
            yield (
                question,
                judge_call(
                    question.messages, structured_output=model.structured_output, **settings
                ),
            )


def answers_of(work: Work, system: str, find: Find) -> list[InMindAnswer]:
    """The answers that recorded replies make, in the order of the contexts.

    Raises:
        ReplayMiss: a reply is not recorded.
    """
    found = replay(work, "inmind", "answer", system, answer_calls(work, system), find)
    return [answer(row, reply, raised) for row, reply, raised in found if reply is not None]


def verdicts_of(
    work: Work, system: str, answers: Iterable[InMindAnswer], find: Find
) -> list[InMindVerdict]:
    """The verdicts that recorded replies make.

    Raises:
        ReplayMiss: a reply is not recorded.
    """
    judge = model_of(work.params, work.params.inmind.judge.model).identity
    found = replay(work, "inmind", "judge", system, judge_calls(work, system, answers), find)
    return [verdict(question, reply, raised, judge=judge) for question, reply, raised in found]


def answer_system(work: Work, system: str) -> None:
    """Replay one system's answers."""
    rows = answers_of(work, system, shard_of(work, "inmind", "answer", system))
    write_records(work.write("inmind", "answers") / f"{system}.jsonl", rows)


def judge_model_system(work: Work, system: str) -> None:
    """Replay the judging model's verdicts on one system."""
    answers = read_records(work.read("inmind", "answers") / f"{system}.jsonl", InMindAnswer)
    rows = verdicts_of(work, system, answers, shard_of(work, "inmind", "judge", system))
    write_records(work.write("inmind", "verdicts") / system / "model.jsonl", rows)
