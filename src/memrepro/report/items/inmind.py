"""InMind's items: a task of a system each, with both queries, their contexts and the verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from memrepro.benchmarks.inmind.judge import normalise
from memrepro.files import read_records
from memrepro.records import (
    InMindAnswer,
    InMindContext,
    InMindJudgeOnly,
    InMindTask,
    InMindVerdict,
    RecalledItem,
)
from memrepro.report.items import Outcome, Shared, without_empty
from memrepro.stages.work import Work

# A whole history is recalled for every task.
_normalise = lru_cache(maxsize=None)(normalise)
# A longer context is shown only around the target, so many items to each side; where it lacks the
# target, its first ones.
WHOLE, AROUND = 24, 3
# A piece of the target counts as such from so many words on: systems may keep sentences.
_PIECE = 3


def inmind_items(work: Work) -> dict[str, Any]:
    """Tasks by id, the turns that contexts hold, and the items.

    Raises:
        InputError: a stage output is missing or malformed.
    """
    tasks = read_records(work.read("inmind", "inputs/tasks.jsonl"), InMindTask, hint="dvc repro")
    judge_only = read_records(
        work.read("inmind", "judge_only/tasks.jsonl"), InMindJudgeOnly, hint="dvc repro"
    )
    told = {row.task_id: row for row in judge_only}
    turns = Shared()
    items = [
        row
        for system in work.params.systems.inmind
        for row in _system(work, system, {task.task_id: task for task in tasks}, turns)
    ]
    return {
        "tasks": {task.task_id: _task(task, told[task.task_id]) for task in tasks},
        "turns": turns.values(),
        "items": items,
    }


def _task(task: InMindTask, told: InMindJudgeOnly) -> dict[str, Any]:
    return {
        "fact": task.user_message,
        "reply": task.assistant_message,
        "naive": task.naive_query,
        "indirect": task.query,
        "domain": told.domain,
        "explanation": told.explanation,
    }


def _system(
    work: Work, system: str, tasks: Mapping[int, InMindTask], turns: Shared
) -> list[dict[str, Any]]:
    folder = work.read("inmind", "contexts") / system
    recalled = read_records(folder / "items.jsonl", RecalledItem, hint="dvc repro")
    contexts: dict[int, dict[str, Any]] = {}
    for row in read_records(folder / "contexts.jsonl", InMindContext, hint="dvc repro"):
        if row.condition == "with_target":
            texts = [recalled[item].text for item in row.items]
            shown = context(texts, tasks[row.task_id], turns)
            contexts.setdefault(row.task_id, {})[row.query_kind] = {
                **shown, "sha256": row.context_sha256,
            }  # fmt: skip
    answers = _by_task(_answers(work.read("inmind", "answers") / f"{system}.jsonl"))
    verdicts = _by_task(_verdicts(work.read("inmind", "verdicts") / system))
    return [
        without_empty(
            {
                "s": system,
                "t": task,
                "o": outcome(verdicts.get(task, [])),
                "c": contexts.get(task, {}),
                "a": [_answer(row) for row in answers.get(task, [])],
                "v": [_verdict(row) for row in verdicts.get(task, [])],
            }
        )
        for task in tasks
    ]


def context(texts: Sequence[str], task: InMindTask, turns: Shared) -> dict[str, Any]:
    """What is shown of a context: numbers of turns, or -n for n left out; places of the target.

    Args:
        texts: of the recalled items, in recall order.
        task: whose target to mark.
        turns: where the texts are kept.
    """
    targets = [place for place, text in enumerate(texts) if _is_target(text, task)]
    kept = set(range(len(texts)))
    if len(texts) > WHOLE:
        kept = {
            near
            for place in targets or [AROUND]
            for near in range(max(0, place - AROUND), min(len(texts), place + AROUND + 1))
        }
    shown: list[int] = []
    for place, text in enumerate(texts):
        if place in kept:
            shown.append(turns.number(text))
        elif shown and shown[-1] < 0:
            shown[-1] -= 1
        else:
            shown.append(-1)
    marked = turns.numbers(texts[place] for place in targets)
    return without_empty({"n": len(texts), "shown": shown, "target": sorted(set(marked))})


def _is_target(text: str, task: InMindTask) -> bool:
    """Whether an item holds the target's user message, or is a piece of the target."""
    found = _normalise(text)
    message, reply = _normalise(task.user_message), _normalise(task.assistant_message)
    piece = len(found.split()) >= _PIECE and (found in message or found in reply)
    return message in found or piece


def outcome(verdicts: Iterable[InMindVerdict]) -> Outcome:
    """Won if the indirect question brings the fact back: as judged, or word for word if none did.

    It is the metric that `memrepro diff` takes for a system's primary one.
    """
    scores = {row.metric: row.score for row in verdicts if row.condition == "with_target"}
    metric = "target_recall" if "target_recall" in scores else "target_recall_verbatim"
    if metric not in scores:
        return "left out"
    score = scores[metric]
    if score is None:
        return "error"
    return "won" if score else "lost"


def _answers(path: Path) -> list[InMindAnswer]:
    return read_records(path, InMindAnswer) if path.is_file() else []


def _verdicts(folder: Path) -> list[InMindVerdict]:
    rows = read_records(folder / "verbatim.jsonl", InMindVerdict, hint="dvc repro")
    by_model = folder / "model.jsonl"
    return rows + (read_records(by_model, InMindVerdict) if by_model.is_file() else [])


def _by_task(rows: Iterable[Any]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for row in rows:
        found.setdefault(row.task_id, []).append(row)
    return found


def _answer(row: InMindAnswer) -> dict[str, Any]:
    return without_empty(
        {
            "q": row.query_kind,
            "c": row.condition,
            "status": row.status,
            "text": row.text,
            "key": row.key,
            "raised": row.raised_cap,
        }
    )


def _verdict(row: InMindVerdict) -> dict[str, Any]:
    found = without_empty(
        {
            "m": row.metric,
            "q": row.query_kind,
            "c": row.condition,
            "judge": row.judge,
            "status": row.status,
            "key": row.key,
            "raw": row.raw,
            "raised": row.raised_cap,
        }
    )
    return found if row.score is None else {**found, "score": row.score}
