"""A model that fails leaves a fact undecided: it follows the setting, and is never a score."""

import tempfile
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepro.benchmarks.retention.build import POLICY_CHANGE, STANDARD
from memrepro.files import write_records
from memrepro.policy import Governance, OnUndecided
from memrepro.records import RetentionScore
from memrepro.store.retention import retention_metrics, retention_table
from tests.retention.corpus import CATEGORY, ROWS, guarded, scores

CATEGORY_OF = {row.text: row.category for row in ROWS}
# Two policies over sixteen facts: small enough to run often.
SMALL = [row for row in ROWS if row.policy_id in ("RP-03", "RP-04")
         and row.category in ("pet", "finance")]  # fmt: skip


def run_with(
    errors: set[int], lost: set[int], setting: OnUndecided, edition: str
) -> list[RetentionScore]:
    """Scores of a model that errs on some rows and fails on others, counted among `SMALL`."""
    number = {(row.text, row.policy): place for place, row in enumerate(SMALL)}

    def ask(text: str, statement: str) -> int | None:
        place = number[text, statement]
        right = int(CATEGORY_OF[text] == CATEGORY[statement])
        return None if place in lost else 1 - right if place in errors else right

    governance = Governance("llm", on_undecided=setting)
    return scores(guarded(governance, ask), SMALL, edition=edition, governance=governance)


def bounds(found: list[RetentionScore]) -> dict[str, tuple[float, float]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.jsonl"
        write_records(file, found)
        (values,) = next(iter(retention_metrics([file]).values()))["exact"].values()
    names = ("accuracy", "leak_rate", "allowed_rate", "forgetting_rate", "policies_passed")
    return {
        name: (values[name],) * 2
        if name in values
        else (values[f"{name}_low"], values[f"{name}_high"])
        for name in names
        if name in values or f"{name}_low" in values
    }


PLACES = st.sets(st.integers(0, len(SMALL) - 1))


@settings(max_examples=25, deadline=None)
@given(
    PLACES, PLACES, st.data(), st.sampled_from(get_args(OnUndecided)),
    st.sampled_from([STANDARD, POLICY_CHANGE]),
)  # fmt: skip
def test_the_truth_is_within_and_a_failure_never_narrows(
    errors: set[int], lost: set[int], data: st.DataObject, setting: OnUndecided, edition: str
) -> None:
    truth = bounds(run_with(errors, set(), setting, edition))
    found = bounds(run_with(errors, lost, setting, edition))
    assert set(found) == set(truth)
    for name, (true, same) in truth.items():
        assert true == same
        assert found[name][0] <= true <= found[name][1], name
    more = lost | data.draw(PLACES)
    wider = bounds(run_with(errors, more, setting, edition))
    for name, (low, high) in found.items():
        assert wider[name][0] <= low and high <= wider[name][1], name


@pytest.mark.parametrize(("setting", "blocked"), [("block", 3), ("store", 0)])
def test_counted_and_following_the_setting(
    setting: OnUndecided, blocked: int, tmp_path: Path
) -> None:
    lost = {0, 5, 20}
    found = run_with(set(), lost, setting, STANDARD)
    rows = [found[place] for place in sorted(lost)]
    assert {(row.status, row.score, row.reason) for row in rows} == {
        ("undecided", None, "undecided")
    }
    assert {row.blocked for row in rows} == {setting == "block"}
    assert all(row.score == 1 for place, row in enumerate(found) if place not in lost)
    file = tmp_path / "scores.jsonl"
    write_records(file, found)
    (counted,) = retention_table([file], "undecided")
    assert (counted["n"], counted["n_blocked"]) == (3, blocked)
    values = retention_metrics([file])[STANDARD]["exact"]["llm"]
    # 32 cells, three of them open; both policies have one at least.
    assert values["accuracy_low"] == 29 / 32 and values["accuracy_high"] == 1.0
    assert (values["accuracy_n_scored"], values["accuracy_n_total"]) == (29, 32)
    assert (values["policies_passed_low"], values["policies_passed_high"]) == (0, 2)
    assert "accuracy" not in values


def test_a_model_that_never_answers_scores_nothing() -> None:
    for setting in get_args(OnUndecided):
        found = bounds(run_with(set(), set(range(len(SMALL))), setting, STANDARD))
        for name in ("accuracy", "leak_rate", "allowed_rate"):
            assert found[name] == (0.0, 1.0)
