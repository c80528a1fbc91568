"""A project of InMind with two tasks, one system and short prompts, so that calls are countable."""

import hashlib
from pathlib import Path
from typing import Any

from memrepro.files import write_records
from memrepro.llm.call import Call, Reply
from memrepro.records import (
    Condition,
    InMindContext,
    InMindJudgeOnly,
    InMindTask,
    QueryKind,
    RecalledItem,
)
from tests.compare.project import new_project
from tests.projects import change_params, keep_benchmark

IDENTITY = "SmolLM2-135M-Instruct.Q4_1.gguf"
ANSWERS = "data/ledger/sample/inmind/answer/bm25.jsonl"
JUDGED = "data/ledger/sample/inmind/judge/bm25.jsonl"
PLACES: tuple[tuple[QueryKind, Condition], ...] = (
    ("naive", "with_target"),
    ("indirect", "with_target"),
    ("indirect", "without_target"),
)


def naive_query(task: int) -> str:
    return f"What do I keep {task}?"


def query(task: int) -> str:
    return f"What to plant {task}?"


def answer_calls() -> list[Call]:
    """The six calls of the answer step, written down again."""
    texts = [
        (context, text)
        for task in (1, 2)
        for context, text in (
            ("One.", query(task)), ("Two.", query(task)), ("One.", naive_query(task)),
        )
    ]  # fmt: skip
    return [
        Call(
            model=IDENTITY,
            messages=(("system", f"Mem: {context}"), ("user", text)),
            cap=256,
            temperature=0.0,
        )
        for context, text in texts
    ]


def good(key: str, text: str = "Bees.") -> Reply:
    return Reply(
        key=key, text=text, failure=None, detail=None, finish_reason="stop", prompt_tokens=10,
        completion_tokens=2, model="m",
    )  # fmt: skip


def two_tasks(folder: Path) -> Path:
    """What the model's steps read, made up: contexts `One.` and, without the target, `Two.`."""
    project = new_project(folder)
    keep_benchmark(project, "inmind")

    def one_system(values: dict[str, Any]) -> None:
        values["systems"]["inmind"] = {"bm25": values["systems"]["inmind"]["bm25"]}
        values["model_systems"]["inmind"] = {"bm25": {}}

    change_params(project, one_system)
    prompts = {"answer_system": "Mem: {context}", "judge_naive": "N", "judge_target_recall": "T"}
    for name, text in {**prompts, "judge_application": "A", "judge_answer_only": "O"}.items():
        (project / "prompts/inmind").mkdir(parents=True, exist_ok=True)
        (project / f"prompts/inmind/{name}.txt").write_text(text)
    runs = project / "data/runs/sample/inmind"
    tasks = [
        InMindTask(
            task_id=n, injection_session_index=0, user_message=f"I keep bees {n}.",
            assistant_message="Noted.", naive_query=naive_query(n), query=query(n),
        )
        for n in (1, 2)
    ]  # fmt: skip
    write_records(runs / "inputs/tasks.jsonl", tasks)
    judge_only = [
        InMindJudgeOnly(
            task_id=n, domain="diet", user_message=f"I keep bees {n}.", explanation="Flowers.",
            entity_1=None, entity_2=None, relation=None,
        )
        for n in (1, 2)
    ]  # fmt: skip
    write_records(runs / "judge_only/tasks.jsonl", judge_only)
    items = [RecalledItem(item=0, id="a", text="One."), RecalledItem(item=1, id="b", text="Two.")]
    write_records(runs / "contexts/bm25/items.jsonl", items)
    contexts = []
    for n in (1, 2):
        for kind, condition in PLACES:
            item = items[condition == "without_target"]
            contexts.append(
                InMindContext(
                    task_id=n, query_kind=kind, condition=condition, system="bm25",
                    items=(item.item,), state_before="s", state_after="s",
                    context_sha256=hashlib.sha256(item.text.encode()).hexdigest(),
                )
            )  # fmt: skip
    write_records(runs / "contexts/bm25/contexts.jsonl", contexts)
    return project
