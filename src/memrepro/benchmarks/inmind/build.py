"""Released rows to records: one background, per-task target pairs, judge-only fields apart."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from memrepro.records import InMindJudgeOnly, InMindSession, InMindTask, Turn


def session_id(turn_id: str) -> str:
    """The session part of a turn's id: everything before the last `-turn-` (upstream's rule)."""
    return turn_id.rpartition("-turn-")[0]


def build_sessions(background: Sequence[Mapping[str, Any]]) -> list[InMindSession]:
    """Background rows (`id`, `role`, `content`) as sessions; contiguous rows make a session."""
    sessions = groupby(background, key=lambda row: session_id(row["id"]))
    return [
        InMindSession(
            session_index=index,
            session_id=name,
            turns=tuple(Turn(id=row["id"], role=row["role"], text=row["content"]) for row in rows),
        )
        for index, (name, rows) in enumerate(sessions)
    ]


def build_tasks(
    tasks: Sequence[Mapping[str, Any]], injection_session_index: int
) -> tuple[list[InMindTask], list[InMindJudgeOnly]]:
    """Task rows split into what the memory side may see and what only a judge may see.

    Args:
        tasks: rows of the released task file.
        injection_session_index: zero-based session at whose end the target pair is told.
    """
    visible = [
        InMindTask(
            task_id=row["task_id"],
            injection_session_index=injection_session_index,
            user_message=row["user_message"],
            assistant_message=row["assistant_message"],
            naive_query=row["naive_query"],
            query=row["query"],
        )
        for row in tasks
    ]
    judge_only = [
        InMindJudgeOnly(
            task_id=row["task_id"],
            domain=row["domain"],
            user_message=row["user_message"],
            explanation=row["explanation"],
            entity_1=row["entity_1"],
            entity_2=row["entity_2"],
            relation=row["relation"],
        )
        for row in tasks
    ]
    return visible, judge_only
