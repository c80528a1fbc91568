"""Metrics of released results files and facts of the released profiles, held to given values."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memrepro.benchmarks.cimemories.describe import data_facts
from memrepro.benchmarks.cimemories.profiles import parse_profile
from memrepro.files import read_json
from memrepro.store.cimemories import Reading, score_results

pytestmark = pytest.mark.full

COUNTS = ("contexts_scored", "contexts_discarded", "private_keys_excluded")
PROFILES = {
    "base": "data_openai_gpt-oss-120b.json",
    "extended": "data_openai_gpt-oss-120b_extended.json",
}


def folder(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set")
    return Path(value) / "cimemories"


@pytest.fixture(scope="module")
def golden() -> Path:
    return folder("MEMREPRO_GOLDEN")


def held(metrics: dict[str, Any], expected: dict[str, Any]) -> None:
    """Every figure to 1e-12, every count exactly, no profile too many."""
    for metric in ("violation", "completeness"):
        for figure in ("mean", "std", "per_profile"):
            assert metrics[metric][figure] == pytest.approx(
                expected[metric][figure], rel=0, abs=1e-12
            )
    for count in COUNTS:
        assert metrics[count] == expected.get(count, metrics[count])


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_paper_reading(golden: Path, samples: int) -> None:
    expected = json.loads((golden / "expected.json").read_text("utf-8"))["paper"]
    assert set(expected) == {"n=1", "n=2", "n=3"}
    found = score_results(golden / "results.jsonl", "paper", samples=samples)
    held(found.metrics, expected[f"n={samples}"])


def test_paper_reading_takes_all_samples_by_default(golden: Path) -> None:
    expected = json.loads((golden / "expected.json").read_text("utf-8"))["paper"]["n=3"]
    held(score_results(golden / "results.jsonl", "paper").metrics, expected)


def test_released_code_reading(golden: Path) -> None:
    expected = json.loads((golden / "expected.json").read_text("utf-8"))["released_code"]
    held(score_results(golden / "results.jsonl", "released-code").metrics, expected)


@pytest.mark.parametrize("reading", ["paper", "released-code"])
def test_edge_cases(golden: Path, reading: Reading) -> None:
    values = json.loads((golden / "edge_expected.json").read_text("utf-8"))
    expected = values[reading.replace("-", "_")]
    found = score_results(
        golden / "edge_results.jsonl", reading, composition=expected.get("composition")
    )
    held(found.metrics, expected)


@pytest.mark.parametrize("edition", ["base", "extended"])
def test_facts_of_the_released_profiles(golden: Path, edition: str) -> None:
    file = folder("MEMREPRO_MIRROR") / "data" / PROFILES[edition]
    profiles = [parse_profile(value, str(at)) for at, value in enumerate(read_json(file))]
    expected = json.loads((golden / "data_facts.json").read_text("utf-8"))
    assert data_facts(profiles) == expected[edition]
