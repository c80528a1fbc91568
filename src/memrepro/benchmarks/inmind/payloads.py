"""The released judge payload format: one request a row, for each of the four metrics."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memrepro.errors import InputError

# Metric → (prompt role, result turn judged, judge inputs in order); FACTS of the released scripts.
METRICS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "naive": ("judge_naive", "naive", ("user_message", "context", "query", "answer")),
    "target-recall": (
        "judge_target_recall",
        "query",
        ("user_message", "context", "query", "explanation"),
    ),
    "application": (
        "judge_application",
        "query",
        ("user_message", "context", "query", "explanation", "answer"),
    ),
    "answer-only": (
        "judge_answer_only",
        "query",
        ("user_message", "query", "explanation", "answer"),
    ),
}
RESPONSE_CONTRACT = {"score": "0 or 1", "reason": "brief explanation"}


def judge_messages(
    metric: str, prompt: str, task: Mapping[str, Any], result: Mapping[str, Any]
) -> list[dict[str, str]]:
    """The two messages a judge gets for one result row, as `name: value` lines in fixed order."""
    _, turn, names = METRICS[metric]
    values = {
        "user_message": task["user_message"],
        "context": result[turn]["context"],
        "query": task["naive_query" if turn == "naive" else "query"],
        "explanation": task["explanation"],
        "answer": result[turn]["answer"],
    }
    lines = "\n".join(f"{name}: {values[name]}" for name in names)
    return [
        {"role": "system", "content": prompt.rstrip()},
        {"role": "user", "content": lines},
    ]


def judge_payloads(
    metric: str,
    prompt: str,
    tasks: Iterable[Mapping[str, Any]],
    results: Iterable[Mapping[str, Any]],
) -> Iterator[str]:
    """Yield one JSON line a result row, in the order of the rows.

    Raises:
        InputError: a row names a task that is not in the edition.
    """
    by_id = {task["task_id"]: task for task in tasks}
    for row in results:
        task = by_id.get(row["task_id"])
        if task is None:
            raise InputError(
                "a result row names an unknown task", found=f"task_id {row['task_id']}"
            )
        payload = {
            "task_id": row["task_id"],
            "metric": metric,
            "messages": judge_messages(metric, prompt, task, row),
            "response_contract": RESPONSE_CONTRACT,
        }
        yield json.dumps(payload, ensure_ascii=False) + "\n"
