"""Generated pairs of 125 items: what fails a check, with p by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from tests.commands import Ran
from tests.compare.project import (
    Scores,
    binary,
    commit,
    flipped,
    new_project,
    set_params,
    two_commits,
    write_inmind,
)

Diff = Callable[..., Ran]
BASE = binary(60)
# 12 of the sixty ones lost, one of the zeros won.
WORSE = flipped(BASE, *range(12), 100)
PATH = "inmind/bm25/target_recall_verbatim"


def moved(ran: Ran, path: str = PATH) -> dict[str, Any]:
    rows = json.loads(ran.out)["datasets"]["sample"]["moved"]
    return next(row for row in rows if row["path"] == path)


def pair(folder: Path, scores: Scores) -> Path:
    """Of two systems, one moves: a family of two."""
    return two_commits(folder, {"bm25": BASE, "none": BASE}, {"bm25": scores, "none": BASE})


def test_a_significant_regression_fails(tmp_path: Path, diff: Diff) -> None:
    """12 lost, 1 won: 2 · (1 + 13) / 2^13 = 28 / 8192; Holm over two: 56 / 8192 = 0.0068."""
    project = pair(tmp_path, WORSE)
    ran = diff(project, "HEAD~1", "HEAD", "--format", "json", "--fail-on", "regression")
    assert ran.code == 1
    assert f"sample: {PATH} got worse by 0.0880 (p 0.006836 after Holm)" in ran.err
    items = moved(ran)["items"]
    assert items["p"] == pytest.approx(28 / 8192, abs=1e-12)
    assert items["p"] == pytest.approx(binomtest(1, 13).pvalue, abs=1e-12)
    assert items["p_holm"] == pytest.approx(56 / 8192, abs=1e-12)
    assert items["lost"] == [str(place) for place in range(12)]
    assert items["won"] == ["100"]
    assert moved(ran)["difference"] == pytest.approx(-11 / 125)
    low, high = items["interval"]
    assert low < -11 / 125 < high < 0


def test_one_that_is_not_significant_passes_and_says_what_it_would_take(
    tmp_path: Path, diff: Diff
) -> None:
    """5 lost, 1 won: 2 · (1 + 6) / 64. Of two systems, 7 flips: 2 / 2^7 ≤ 0.05 / 2 < 2 / 2^6."""
    project = pair(tmp_path, flipped(BASE, *range(5), 100))
    ran = diff(project, "HEAD~1", "HEAD", "--fail-on", "regression")
    assert ran.code == 0
    assert (
        f"{PATH}: not significant; it would take 7 items all flipping one way, "
        "a difference of 0.0560 of 125 items"
    ) in ran.out
    values = moved(diff(project, "HEAD~1", "HEAD", "--format", "json"))
    assert values["items"]["p"] == pytest.approx(14 / 64, abs=1e-12)
    assert values["items"]["p_holm"] == pytest.approx(28 / 64, abs=1e-12)
    assert values["items"]["smallest_difference"] == 7 / 125


def test_six_lost_are_significant_alone_and_not_in_a_family_of_two(
    tmp_path: Path, diff: Diff
) -> None:
    """2 / 2^6 = 0.03125; Holm over two: 0.0625."""
    project = pair(tmp_path / "two", flipped(BASE, *range(6)))
    assert diff(project, "HEAD~1", "HEAD", "--fail-on", "regression").code == 0
    scores = {"bm25": flipped(BASE, *range(6))}
    alone = two_commits(tmp_path / "one", {"bm25": BASE}, scores)
    ran = diff(alone, "HEAD~1", "HEAD", "--fail-on", "regression", "--format", "json")
    assert ran.code == 1
    assert moved(ran)["items"]["p_holm"] == pytest.approx(0.03125, abs=1e-12)


@pytest.mark.parametrize(
    ("settings", "code"),
    [({}, 1), ({"alpha": 0.005}, 0), ({"tolerance": 0.1}, 0), ({"tolerance": 0.08}, 1)],
)
def test_the_params_hold_alpha_and_tolerance(
    tmp_path: Path, diff: Diff, settings: dict[str, float], code: int
) -> None:
    project = pair(tmp_path, WORSE)
    set_params(project, **settings)
    assert diff(project, "HEAD~1", "HEAD", "--fail-on", "regression").code == code


def test_an_improvement_is_no_regression_and_any_fails_on_it(tmp_path: Path, diff: Diff) -> None:
    project = pair(tmp_path, flipped(BASE, *range(100, 120)))
    assert diff(project, "HEAD~1", "HEAD", "--fail-on", "regression").code == 0
    ran = diff(project, "HEAD~1", "HEAD", "--fail-on", "any")
    assert ran.code == 1
    assert f"sample: {PATH} moved by +0.1600" in ran.err
    assert diff(project, "HEAD", "HEAD", "--fail-on", "any").code == 0


def test_unprompted_warnings_are_worse_when_they_grow(tmp_path: Path, diff: Diff) -> None:
    """No primary metric: it counts in the family of all, and is lower the better."""
    project = new_project(tmp_path)
    for scores in (binary(10), binary(30)):
        write_inmind(project, {"bm25": scores}, "unprompted_warning")
        commit(project)
    assert diff(project, "HEAD~1", "HEAD", "--fail-on", "regression").code == 0
    set_params(project, family="all")
    ran = diff(project, "HEAD~1", "HEAD", "--fail-on", "regression", "--format", "json")
    assert ran.code == 1
    items = moved(ran, "inmind/bm25/unprompted_warning")["items"]
    assert len(items["lost"]) == 20 and items["won"] == []


def test_failures_are_left_out_of_the_pairs_and_told(tmp_path: Path, diff: Diff) -> None:
    """Of 125, three failed in the second run: 122 pairs, and bounds in the value's place."""
    failed = [None if place in (1, 2, 3) else x for place, x in enumerate(BASE)]
    project = pair(tmp_path, flipped(failed, *range(50, 58)))
    ran = diff(project, "HEAD~1", "HEAD", "--fail-on", "regression", "--format", "json")
    items = moved(ran)["items"]
    assert (items["pairs"], items["open_a"], items["open_b"]) == (122, 0, 3)
    assert items["difference"] == pytest.approx(-8 / 122)
    assert moved(ran)["difference"] is None
    assert ran.code == 1  # 8 lost, none won: 2 / 2^8, twice that after Holm
    text = diff(project, "HEAD~1", "HEAD").out
    assert "0.3920 to 0.4160 (122 of 125 scored)" in text
    assert f"{PATH}: 122 items paired; left out: 3 not scored on the second side" in text


def test_a_metric_that_got_lost_fails_but_not_a_system_that_went(
    tmp_path: Path, diff: Diff
) -> None:
    project = new_project(tmp_path)
    write_inmind(project, {"bm25": BASE, "none": BASE})
    commit(project)
    metrics = project / "metrics/sample.json"
    values = json.loads(metrics.read_text())
    values["inmind"]["bm25"] = {"naive_recall_verbatim": 0.5}
    metrics.write_text(json.dumps(values))
    ran = diff(project, "--fail-on", "regression")
    assert ran.code == 1 and f"{PATH} is gone, and its system is not" in ran.err
    del values["inmind"]["bm25"]
    metrics.write_text(json.dumps(values))
    assert diff(project, "--fail-on", "regression").code == 0
    assert diff(project, "--fail-on", "any").code == 1
    values["inmind"]["bm25"] = {"target_recall_verbatim": None}
    metrics.write_text(json.dumps(values))
    ran = diff(project, "--fail-on", "regression")
    assert ran.code == 1 and f"{PATH} is null" in ran.err


def test_a_worse_metric_without_items_fails(tmp_path: Path, diff: Diff) -> None:
    project = pair(tmp_path, WORSE)
    for file in (project / "data/runs/sample/inmind/scores").glob("*.jsonl"):
        file.unlink()
    ran = diff(project, "HEAD~1", "--fail-on", "regression")
    assert ran.code == 1 and "no items can be paired to test it" in ran.err


def test_incomparable(tmp_path: Path, diff: Diff) -> None:
    """Other data make other numbers; another k is what one compares; no signature is unknown."""
    project = new_project(tmp_path)
    changes: list[dict[str, Any]] = [
        {}, {"k": 10, "settings": {"x": 1}}, {"k": 10, "tasks": "other"}
    ]  # fmt: skip
    for signed in changes:
        write_inmind(project, {"bm25": BASE}, **signed)
        commit(project)
    gate = ("--fail-on", "incomparable")
    assert diff(project, "HEAD~2", "HEAD~1", *gate).code == 0
    ran = diff(project, "HEAD~1", "HEAD", *gate)
    assert ran.code == 1 and f"{PATH} tasks: t and other" in ran.err
    (project / "data/runs/sample/signatures.jsonl").unlink()
    ran = diff(project, *gate)
    assert ran.code == 1 and "no signature on the second side" in ran.err


def test_a_judges_prompt_is_part_of_the_measure(tmp_path: Path, diff: Diff) -> None:
    """Of what a model judged; what is judged word for word has no prompt."""
    prompts = tmp_path / "prompts/inmind"
    project = new_project(tmp_path)
    prompts.mkdir(parents=True)
    for judge, code in (("m", 1), ("verbatim", 0)):
        signed = {"judge": judge, "prompts": "own" if judge == "m" else "none"}
        for text in ("one", "two"):
            (prompts / "judge_naive.txt").write_text(text)
            write_inmind(project, {"bm25": BASE}, **signed)
            commit(project)
        ran = diff(project, "HEAD~1", "HEAD", "--fail-on", "incomparable")
        assert ran.code == code
        assert ("prompts/inmind/judge_naive.txt differs" in ran.err) is bool(code)


def test_wrong_options_name_those_there_are(tmp_path: Path, diff: Diff) -> None:
    project = pair(tmp_path, WORSE)
    for option in ("--format", "--fail-on"):
        ran = diff(project, option, "never")
        assert ran.code == 2 and option in ran.err and "expected" in ran.err
