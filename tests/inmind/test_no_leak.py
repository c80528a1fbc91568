"""Nothing that a memory system receives marks the target or comes from a judge-only field."""

import json
from pathlib import Path
from typing import Any

import pytest

from memrepro.benchmarks.inmind.answer import answer_call
from memrepro.benchmarks.inmind.build import build_sessions, build_tasks
from memrepro.benchmarks.inmind.remember import Observation, remember
from memrepro.files import iter_json_lines
from memrepro.memory.base import Resources, render
from memrepro.memory.full_context import FullContext
from memrepro.params import DATASETS, Dataset, load_params
from memrepro.records import Recalled, Session

ROOT = Path(__file__).parents[2]
MARKERS = ("inmind_target", "inmind-task", "lme_s_background", "provenance", "task_id")


class Recording(FullContext):
    """Keeps every text and id that any fork of it was given."""

    seen: set[str]

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self.seen = set()

    def ingest(self, session: Session) -> None:
        super().ingest(session)
        self.seen |= {session.id, *(t.text for t in session.turns), *(t.id for t in session.turns)}

    def recall(self, query: str, k: int) -> list[Recalled]:
        self.seen.add(query)
        return super().recall(query, k)


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings(item)]
    return [value] if isinstance(value, str) else []


def check_request(seen: Observation, received: set[str]) -> None:
    """An answer request is the prompt, texts that the memory had received, and the query."""
    assert {item.text for item in seen.recalled} <= received
    prompt = "Before {context} after {braces}"
    call = answer_call(
        prompt, render(seen.recalled), "Q?", model="m", cap=1, temperature=None
    )  # fmt: skip
    context = "\n\n".join(item.text for item in seen.recalled)
    assert call.messages == (("system", f"Before {context} after {{braces}}"), ("user", "Q?"))


@pytest.mark.parametrize(
    "dataset", [pytest.param(d, marks=pytest.mark.full) if d == "full" else d for d in DATASETS]
)
def test_judge_only_text_never_reaches_a_memory(dataset: Dataset, tmp_path: Path) -> None:
    data = load_params(ROOT, dataset).inmind.data
    rows = [row for _, row in iter_json_lines(ROOT / data.tasks)]
    background = [row for _, row in iter_json_lines(ROOT / data.background)]
    index = json.loads((ROOT / data.manifest).read_text("utf-8"))["injection_session_index"]
    sessions = build_sessions(background)
    tasks, _ = build_tasks(rows, index)
    root = Recording(Resources(tmp_path))
    for group in remember(
        lambda: root, lambda memory, turns: None, sessions, tasks, 5, render=render, control=False
    ):
        assert len(group) == 4
        for seen in group:
            check_request(seen, root.seen)
    received = "\n".join(sorted(root.seen))
    told = "\n".join(
        [row["content"] for row in background]
        + [row[key] for row in rows for key in
           ("user_message", "assistant_message", "naive_query", "query")]
    )  # fmt: skip
    assert rows[0]["query"] in received
    for marker in MARKERS:
        assert (marker in received) <= (marker in told)
    for row in rows:
        secret = [row["explanation"], row["relation"]]
        secret += [row["entity_1"], row["entity_2"], *strings(row["provenance"])]
        for text in secret:
            if text and len(text) >= 8 and text not in told:
                assert text not in received


def test_ids_are_the_same_for_every_target(tmp_path: Path) -> None:
    """Were they not, an id would tell which task is being asked."""
    data = load_params(ROOT, "sample").inmind.data
    rows = [row for _, row in iter_json_lines(ROOT / data.tasks)]
    background = [row for _, row in iter_json_lines(ROOT / data.background)]
    tasks, _ = build_tasks(rows, 2)
    groups = remember(
        lambda: FullContext(Resources(tmp_path)), lambda memory, turns: None,
        build_sessions(background), tasks, 5, render=render, control=False,
    )  # fmt: skip
    ids = {tuple(item.id for item in group[0].recalled) for group in groups}
    assert len(ids) == 1
