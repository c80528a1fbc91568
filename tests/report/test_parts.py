"""Intervals, outcomes, contexts and papers' rows of the report, by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memrepro.files import write_records
from memrepro.records import InMindScore, InMindTask, InMindVerdict
from memrepro.report.figures import Figure
from memrepro.report.items import Shared, without_empty
from memrepro.report.items.cimemories import outcome as message_outcome
from memrepro.report.items.inmind import context, outcome
from memrepro.report.papers import papers_tables
from memrepro.signature import Signature
from memrepro.store.clusters import clusters
from memrepro.store.items import ItemFiles

TASK = InMindTask(
    task_id=0, injection_session_index=2, user_message="My hob is an induction one. It is new.",
    assistant_message="Good to know, noted.", naive_query="Which hob?", query="Copper pans?",
)  # fmt: skip


def signature(path: str, deviations: Sequence[str] = ()) -> Signature:
    benchmark, system, *_, metric = path.split("/")
    return Signature(
        path=path, benchmark=benchmark, system=system, metric=metric, dataset="full",
        kind="memory", implementation="x", settings={}, answer_model="gpt-5", judge="j",
        prompts="upstream", reading="judged", raised_caps=0, protocol={}, version="1",
        digest="0" * 64, comparable=not deviations, deviations=tuple(deviations),
    )  # fmt: skip


def figure(path: str, value: float, deviations: Sequence[str] = ()) -> Figure:
    return Figure(path, value, value, 125, 125, None, None, signature(path, deviations))


def rows_of(figures: list[Figure]) -> dict[str, str]:
    """Rows of the papers' tables by their first cell."""
    text = papers_tables({one.path: one for one in figures})
    rows = text.split("<tr")
    return {row.split('scope="row">')[1].split("<")[0]: row for row in rows if 'scope="row"' in row}


def test_a_comparable_figure_stands_beside_the_papers() -> None:
    rows = rows_of([figure("inmind/bm25_control/target_recall", 0.032)])
    assert rows["BM25 · k = 5"].startswith(' class="comparable"')
    assert "0.032" in rows["BM25 · k = 5"]
    assert rows["A-RAG · all-MiniLM-L6-v2"].startswith(' class="greyed"')


@pytest.mark.parametrize(
    ("path", "row", "deviations"),
    [
        ("inmind/bm25_control/target_recall", "BM25 · k = 5", ["judge: x here"]),
        ("inmind/dense_int8_control/target_recall", "Naive RAG · all-MiniLM-L6-v2 · k = 5", []),
        ("cimemories/full_context/paper/violation_model_level_1", "GPT-5", ["labels: x here"]),
    ],
)
def test_what_deviates_is_shown_and_greyed(path: str, row: str, deviations: list[str]) -> None:
    """Another export of an embedder deviates too, though no signature of ours can say so."""
    found = rows_of([figure(path, 0.125, deviations)])[row]
    assert found.startswith(' class="greyed"') and "0.125" in found and "not comparable" in found


def test_a_models_figures_stand_in_its_own_row() -> None:
    rows = rows_of([figure("cimemories/full_context/paper/violation_model_level_2", 0.25)])
    assert rows["GPT-5"].startswith(' class="comparable"') and "level 2" in rows["GPT-5"]
    assert "did not run here" in rows["GPT-4o"]


def verdict(metric: str, score: int | None, condition: str = "with_target") -> InMindVerdict:
    return InMindVerdict.model_validate(
        {"task_id": 0, "query_kind": "indirect", "condition": condition, "system": "s",
         "metric": metric, "judge": "j", "score": score,
         "status": "judge_error" if score is None else "scored"}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "wanted"),
    [
        ([verdict("target_recall_verbatim", 1)], "won"),
        ([verdict("target_recall_verbatim", 1), verdict("target_recall", 0)], "lost"),
        ([verdict("target_recall_verbatim", 1), verdict("target_recall", None)], "error"),
        ([verdict("target_recall_verbatim", 1, "without_target")], "left out"),
    ],
)
def test_outcome_of_a_task(verdicts: list[InMindVerdict], wanted: str) -> None:
    assert outcome(verdicts) == wanted


@pytest.mark.parametrize(
    ("labels", "reveals", "wanted"),
    [
        ("nia", "101", "won"),
        ("nia", "100", "won"),
        ("nia", "110", "lost"),
        ("nia", "000", "lost"),
        ("nia", "x1x", "lost"),
        ("nia", "x0x", "error"),
        ("naa", "100", "left out"),
        ("iaa", "000", "left out"),
    ],
)
def test_outcome_of_a_message(labels: str, reveals: str, wanted: str) -> None:
    assert message_outcome(labels, reveals) == wanted


def test_a_context_marks_the_target_and_its_pieces() -> None:
    texts = [
        "other words of mine",
        "my HOB is an\ninduction one. it is NEW.",
        "It is new.",
        "Noted",
    ]
    found = context(texts, TASK, Shared())
    assert found == {"n": 4, "shown": [0, 1, 2, 3], "target": [1, 2]}


def test_of_a_long_context_the_targets_neighbourhood_is_left() -> None:
    """Target at 20 of 0 … 39: 17 before, three to each side shown, 16 after."""
    texts = [f"turn {number}" for number in range(40)]
    texts[20] = TASK.user_message
    turns = Shared()
    found = context(texts, TASK, turns)
    assert found["shown"] == [-17, 0, 1, 2, 3, 4, 5, 6, -16] and found["target"] == [3]
    assert turns.values()[3] == TASK.user_message
    without = context([f"turn {number}" for number in range(40)], TASK, Shared())
    assert without["shown"] == [0, 1, 2, 3, 4, 5, 6, -33] and "target" not in without


def test_zero_is_not_empty() -> None:
    row: dict[str, Any] = {"a": 0, "b": None, "c": False, "d": "", "e": [], "f": 1, "g": "x"}
    assert without_empty(row) == {"a": 0, "f": 1, "g": "x"}


def test_clusters_count_what_is_scored(tmp_path: Path) -> None:
    rows = [
        InMindScore(
            system="a", task_id=task, domain="d", condition="with_target", metric="target_recall",
            status="judge_error" if score is None else "scored", score=score, raised_cap=False,
        )
        for task, score in enumerate((1, 0, None, 1))
    ]  # fmt: skip
    write_records(tmp_path / "a.jsonl", rows)
    found = clusters("inmind", ItemFiles([tmp_path / "a.jsonl"]))["a/target_recall"]
    assert found == [(None, 2.0, 3, 4)]
