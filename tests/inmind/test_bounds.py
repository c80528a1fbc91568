"""Metrics under failures: the truth lies between low and high, and a failure never narrows them."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memrepro.files import write_records
from memrepro.records import Condition, InMindScore, Status
from memrepro.store import inmind_diagnosis, inmind_metrics

# Two judged scores an item, and whether each was lost; the truth is known to the test alone.
ITEMS = st.lists(
    st.tuples(
        st.integers(0, 1), st.integers(0, 1), st.booleans(), st.booleans()
    ),
    min_size=1,
    max_size=8,
)  # fmt: skip
METRICS = ("target_recall", "application")


def rows(items: list[tuple[int, int, bool, bool]]) -> list[InMindScore]:
    return [
        row("bm25", task, metric, None if lost else score)
        for task, (recall, applied, no_recall, no_applied) in enumerate(items)
        for metric, score, lost in zip(
            METRICS, (recall, applied), (no_recall, no_applied), strict=True
        )
    ]


def row(
    system: str,
    task: int,
    metric: str,
    score: int | None,
    condition: Condition = "with_target",
) -> InMindScore:
    status: Status = "judge_error" if score is None else "scored"
    return InMindScore(
        system=system, task_id=task, domain="other", condition=condition, metric=metric,
        status=status, score=score, raised_cap=False,
    )  # fmt: skip


def bounds(items: list[tuple[int, int, bool, bool]]) -> dict[str, tuple[float, float]]:
    """Low and high of each metric, from a file as the score stage writes it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bm25.jsonl"
        write_records(file, rows(items))
        found = inmind_metrics([file])["bm25"]
    return {
        name: (found[name], found[name])
        if name in found
        else (found[f"{name}_low"], found[f"{name}_high"])
        for name in (*METRICS, "application_gated")
    }


@settings(max_examples=20, deadline=None)
@given(ITEMS, st.data())
def test_the_truth_is_within_and_a_failure_never_narrows(
    items: list[tuple[int, int, bool, bool]], data: st.DataObject
) -> None:
    n = len(items)
    truth = {
        "target_recall": sum(recall for recall, *_ in items) / n,
        "application": sum(applied for _, applied, *_ in items) / n,
        "application_gated": sum(recall * applied for recall, applied, *_ in items) / n,
    }
    found = bounds(items)
    for name, true in truth.items():
        low, high = found[name]
        assert low <= true <= high, name
    # One more failure, anywhere.
    place = data.draw(st.integers(0, n - 1))
    recall, applied, _, _ = items[place]
    worse = bounds([*items[:place], (recall, applied, True, True), *items[place + 1 :]])
    for name, (low, high) in found.items():
        assert worse[name][0] <= low
        assert worse[name][1] >= high


def test_a_metric_with_a_failure_is_bounds_and_counts(tmp_path: Path) -> None:
    """Four tasks by hand: scores 1, 0, 1 and a failure: 2/4 to 3/4, three of four scored."""
    scores = [1, 0, 1, None]
    write_records(
        tmp_path / "a.jsonl",
        [row("a", task, "answer_only", score) for task, score in enumerate(scores)],
    )
    assert inmind_metrics([tmp_path / "a.jsonl"])["a"] == {
        "answer_only_low": 0.5,
        "answer_only_high": 0.75,
        "answer_only_n_scored": 3,
        "answer_only_n_total": 4,
    }


def test_a_gated_item_is_known_as_soon_as_one_factor_is_0(tmp_path: Path) -> None:
    """Task 0: 1×1. Task 1: recall 0, application lost: 0 whatever it was. Task 2: 1×lost."""
    pairs = [(1, 1), (0, None), (1, None)]
    write_records(
        tmp_path / "a.jsonl",
        [
            row("a", task, metric, score)
            for task, pair in enumerate(pairs)
            for metric, score in zip(METRICS, pair, strict=True)
        ],
    )
    found = inmind_metrics([tmp_path / "a.jsonl"])["a"]
    assert found["application_gated_low"] == 1 / 3
    assert found["application_gated_high"] == 2 / 3
    assert (found["application_gated_n_scored"], found["application_gated_n_total"]) == (2, 3)


def test_each_tasks_diagnosis(tmp_path: Path) -> None:
    """By hand: (naive verbatim, naive judged, target recall, answer-only) → where it was lost."""
    cases: dict[str, tuple[int | None, int | None, int | None, int | None]] = {
        "not stored": (0, 0, 0, 0),
        "stored, not surfaced": (1, 0, 0, 0),
        "surfaced, not applied": (1, 1, 1, 0),
        "applied": (1, 1, 1, 1),
        "applied without the fact": (0, 0, 0, 1),
        "not judged": (1, 1, None, 1),
    }
    metrics = ("naive_recall_verbatim", "naive_recall", "target_recall", "answer_only")
    write_records(
        tmp_path / "a.jsonl",
        [
            row("a", task, metric, score)
            for task, scores in enumerate(cases.values())
            for metric, score in zip(metrics, scores, strict=True)
        ],
    )
    found = inmind_diagnosis([tmp_path / "a.jsonl"])
    assert [one["diagnosis"] for one in found] == list(cases)
