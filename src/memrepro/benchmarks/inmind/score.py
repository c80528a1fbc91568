"""Verdicts to score rows: ids and numbers only."""

from collections.abc import Iterable

from memrepro.records import InMindJudgeOnly, InMindScore, InMindVerdict


def score(verdicts: Iterable[InMindVerdict], tasks: Iterable[InMindJudgeOnly]) -> list[InMindScore]:
    """One score row a verdict, with the task's domain beside it."""
    domains = {task.task_id: task.domain for task in tasks}
    return [
        InMindScore(
            system=verdict.system,
            task_id=verdict.task_id,
            domain=domains[verdict.task_id],
            condition=verdict.condition,
            metric=verdict.metric,
            status=verdict.status,
            score=verdict.score,
            raised_cap=verdict.raised_cap,
        )
        for verdict in verdicts
    ]
