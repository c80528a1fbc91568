"""The committed metrics of the papers' data, held to counts measured with public libraries."""

import json
from pathlib import Path

import pytest

METRICS = Path(__file__).parents[2] / "metrics/full.json"


@pytest.mark.parametrize(
    ("system", "naive", "naive_within", "target", "target_within"),
    [
        ("bm25_control", 67, 1, 5, 1),  # 53.6% and 4.0% of 125
        ("dense_int8_control", 117, 2, 0, 1),  # 93.6% and 0%
        ("in_context", 125, 0, 125, 0),
        ("full_context", 125, 0, 125, 0),
        ("none", 0, 0, 0, 0),
    ],
)
def test_recall_counts_of_125(
    system: str, naive: int, naive_within: int, target: int, target_within: int
) -> None:
    found = json.loads(METRICS.read_text("utf-8"))["inmind"][system]
    assert found["naive_recall_verbatim"] * 125 == pytest.approx(naive, abs=naive_within + 1e-9)
    assert found["target_recall_verbatim"] * 125 == pytest.approx(target, abs=target_within + 1e-9)
