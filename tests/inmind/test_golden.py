"""The released file formats, held to the digests of what the released scripts write."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from memrepro.benchmarks.inmind.payloads import METRICS, judge_payloads
from memrepro.benchmarks.inmind.submission import validate_submission
from memrepro.benchmarks.inmind.timeline import dump_timeline, timeline
from memrepro.errors import InputError
from memrepro.files import iter_json_lines

pytestmark = pytest.mark.full


def folder(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set")
    return Path(value) / "inmind"


@pytest.fixture(scope="module")
def upstream() -> Path:
    return folder("MEMREPRO_MIRROR")


@pytest.fixture(scope="module")
def golden() -> Path:
    return folder("MEMREPRO_GOLDEN")


@pytest.fixture(scope="module")
def tasks(upstream: Path) -> list[Any]:
    return rows(upstream / "benchmark/dataset/inmind.jsonl")


def rows(path: Path) -> list[Any]:
    return [row for _, row in iter_json_lines(path)]


def digests(path: Path) -> dict[str, str]:
    """Name to digest, from lines of digest and name."""
    pairs = (line.split() for line in path.read_text("utf-8").splitlines())
    return {name: digest for digest, name in pairs}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def test_timelines_have_the_released_bytes(upstream: Path, golden: Path, tasks: list[Any]) -> None:
    background = rows(upstream / "evaluation/background/lme_s_background.jsonl")
    manifest = json.loads((upstream / "evaluation/background/manifest.json").read_text("utf-8"))
    expected = digests(golden / "timelines.sha256")
    found = {
        str(task["task_id"]): sha256(
            dump_timeline(timeline(task, background, manifest), compact=True)
        )
        for task in tasks
    }
    assert len(found) == 125
    assert found == expected


def test_the_indented_form_holds_the_same_value_in_two_space_steps(
    upstream: Path, tasks: list[Any]
) -> None:
    background = rows(upstream / "evaluation/background/lme_s_background.jsonl")
    manifest = json.loads((upstream / "evaluation/background/manifest.json").read_text("utf-8"))
    value = timeline(tasks[0], background, manifest)
    text = dump_timeline(value, compact=False)
    assert json.loads(text) == value
    assert text.startswith('{\n  "task_id": 0,\n  "protocol": {\n    "name": ')
    assert text.endswith("\n}\n")


@pytest.mark.parametrize("metric", METRICS)
def test_payloads_have_the_released_bytes(
    metric: str, upstream: Path, golden: Path, tasks: list[Any]
) -> None:
    expected = digests(golden / "judge_payloads.sha256")
    prompt = (upstream / f"evaluation/prompts/{METRICS[metric][0]}.txt").read_text("utf-8")
    found = "".join(judge_payloads(metric, prompt, tasks, rows(golden / "results.jsonl")))
    assert sha256(found) == expected[metric]


@pytest.mark.parametrize("mode", ["full", "partial"])
@pytest.mark.parametrize(
    "name",
    [
        "full_ok",
        "partial",
        "duplicate",
        "unknown_id",
        "string_id",
        "missing_answer",
        "null_context",
        "config_list",
        "truncated",
        "bool_id",
    ],
)
def test_submissions_get_the_released_verdict(
    name: str, mode: str, golden: Path, tasks: list[Any]
) -> None:
    file = golden / "submissions" / f"{name}.jsonl"
    expected = json.loads((golden / "submissions/expected.json").read_text())[file.name]
    if expected[mode]["errors"] is None:
        with pytest.raises(InputError, match=f"line {expected['names_line']}"):
            list(iter_json_lines(file))
        return
    result = validate_submission(
        iter_json_lines(file),
        {task["task_id"] for task in tasks},
        allow_partial=mode == "partial",
    )
    assert len(result.errors) == expected[mode]["errors"]
    assert bool(result.errors) == bool(expected[mode]["exit"])
    if "coverage" in expected:
        assert f"{result.covered}/{result.total}" == expected["coverage"]
