"""Published anchors on the paper's data: the target among 487 single chunks (FACTS, InMind)."""

import json
from pathlib import Path
from typing import Any

import pytest

from memrepro.memory import create
from memrepro.memory.base import Resources
from memrepro.memory.embedding import Embedder, by_name
from memrepro.records import Session, Turn
from tests.memory.fakes import ids

INMIND = Path(__file__).parents[2] / "data" / "raw" / "inmind"
KS = (1, 5, 10)


def _rows(path: str) -> list[dict[str, Any]]:
    text = (INMIND / path).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def hits(name: str, resources: Resources) -> dict[str, list[int]]:
    """In how many of 125 tasks the target is among the first 1, 5 and 10 items, for each query."""
    base = create(name, {}, resources)
    background = _rows("evaluation/background/lme_s_background.jsonl")
    turns = [Turn(id=row["id"], role=row["role"], text=row["content"]) for row in background]
    base.ingest(Session(id="background", turns=tuple(turns)))
    found = {"naive_query": [0] * len(KS), "query": [0] * len(KS)}
    for task in _rows("benchmark/dataset/inmind.jsonl"):
        system = base.fork()
        text = f"User: {task['user_message']}\nAssistant: {task['assistant_message']}"
        system.retain(Turn(id="target", role="user", text=text))
        for kind, counts in found.items():
            items = ids(system.recall(task[kind], max(KS)))
            for place, k in enumerate(KS):
                counts[place] += "target" in items[:k]
    return found


@pytest.mark.full
def test_bm25() -> None:
    # 40.8, 53.6, 56.8% and 1.6, 4.0, 5.6% of 125
    assert hits("bm25", Resources(Path("unused"))) == {
        "naive_query": [51, 67, 71],
        "query": [2, 5, 7],
    }


@pytest.mark.full
@pytest.mark.dense
def test_minilm_int8(embedder: Embedder) -> None:
    # 83.2, 93.6, 97.6% and 0, 0, 0.8% of 125
    resources = Resources(Path("unused"), by_name({"minilm_int8": embedder}))
    assert hits("dense_int8", resources) == {
        "naive_query": [104, 117, 122],
        "query": [0, 0, 1],
    }
