"""The judging model: which calls its metrics make of a task, and its verdicts.

The inputs of each metric are the released judge's (`payloads`); `unprompted_warning` asks the
answer-only question of an answer given without the fact.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from memrepro.benchmarks.inmind.payloads import METRICS, judge_messages
from memrepro.llm.call import Call, Reply
from memrepro.llm.verdict import parse_verdict, verdict_format
from memrepro.params import StructuredOutput
from memrepro.records import (
    Condition,
    InMindAnswer,
    InMindJudgeOnly,
    InMindTask,
    InMindVerdict,
    QueryKind,
    Status,
)


class Judged(NamedTuple):
    """One metric of ours: the released metric it asks, of which answer, and whether it reads it."""

    released: str
    query_kind: QueryKind
    condition: Condition
    reads_answer: bool


JUDGED: dict[str, Judged] = {
    "naive_recall": Judged("naive", "naive", "with_target", True),
    "target_recall": Judged("target-recall", "indirect", "with_target", False),
    "application": Judged("application", "indirect", "with_target", True),
    "answer_only": Judged("answer-only", "indirect", "with_target", True),
    "unprompted_warning": Judged("answer-only", "indirect", "without_target", True),
}


class Question(NamedTuple):
    """What is judged: the answer, the metric, and the messages, which None leaves unsent."""

    answer: InMindAnswer
    metric: str
    messages: tuple[tuple[str, str], ...] | None


def questions(
    answers: Iterable[InMindAnswer],
    context_of: Callable[[InMindAnswer], str],
    tasks: Iterable[InMindTask],
    judge_only: Iterable[InMindJudgeOnly],
    prompts: Mapping[str, str],
) -> Iterator[Question]:
    """Every question to the judge, in the order of the answers.

    A failed answer is not sent to the judge; target recall, which never shows it, is asked anyway.

    Args:
        answers: the answers of one system.
        context_of: the context that an answer was given on.
        tasks: their tasks.
        judge_only: the judge-only fields of the tasks.
        prompts: the judges' prompts by role.
    """
    by_id = {task.task_id: task for task in tasks}
    explanations = {row.task_id: row.explanation for row in judge_only}
    for answer in answers:
        task = by_id[answer.task_id]
        values = {**task.model_dump(), "explanation": explanations[answer.task_id]}
        context = context_of(answer)
        for metric, judged in JUDGED.items():
            if (judged.query_kind, judged.condition) != (answer.query_kind, answer.condition):
                continue
            role, turn, _ = METRICS[judged.released]
            if judged.reads_answer and answer.text is None:
                yield Question(answer, metric, None)
                continue
            result = {turn: {"context": context, "answer": answer.text}}
            messages = judge_messages(judged.released, prompts[role], values, result)
            pairs = tuple((one["role"], one["content"]) for one in messages)
            yield Question(answer, metric, pairs)


def judge_call(
    messages: tuple[tuple[str, str], ...],
    *,
    model: str,
    cap: int,
    temperature: float | None,
    structured_output: StructuredOutput,
) -> Call:
    """The request of one question; with structured output where the model has it."""
    return Call(
        model=model,
        messages=messages,
        cap=cap,
        temperature=temperature,
        response_format=verdict_format(structured_output),
    )


def verdict(
    question: Question, reply: Reply | None, raised_cap: bool, *, judge: str
) -> InMindVerdict:
    """The verdict on one question: a score, a judge error with its text kept, or a failed answer.

    Args:
        question: what was asked.
        reply: what came of it; None for a question that is not sent.
        raised_cap: whether the reply came under a raised token cap.
        judge: the judging model's identity.
    """
    score = parse_verdict(reply.text) if reply is not None and reply.text is not None else None
    status: Status = "answer_failed" if reply is None else "scored"
    if reply is not None and score is None:
        status = "judge_error"
    raw = None if reply is None or score is not None else reply.text or reply.failure
    answer = question.answer
    return InMindVerdict(
        task_id=answer.task_id,
        query_kind=answer.query_kind,
        condition=answer.condition,
        system=answer.system,
        metric=question.metric,
        judge=judge,
        status=status,
        score=score,
        raw=raw,
        key=reply.key if reply is not None else None,
        raised_cap=raised_cap or answer.raised_cap,
    )
