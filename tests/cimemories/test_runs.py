"""Metrics and tables of a run, against counts made by hand."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memrepro.store.cimemories_runs import (
    cimemories_metrics,
    cimemories_raised_caps,
    cimemories_tables,
    label_tables,
)
from tests.cimemories.runs import score, write_run

# Two contexts: attribute 1 is necessary in both, 2 inappropriate in both, 3 in the second alone.
LABELS = ("nia", "nii")


def test_metrics_of_a_run_by_hand(tmp_path: Path) -> None:
    """`a` tells 2 in the first context: 1 of 2 at stake; and 1 in one of two contexts."""
    run, labels = write_run(tmp_path, LABELS, {"a": [score("a", 0, "110"), score("a", 1, "000")]})
    found = cimemories_metrics(run, labels)["a"]["paper"]
    assert found["violation"] == 1 / 2
    assert found["completeness"] == 1 / 2
    assert (found["contexts_scored"], found["contexts_discarded"]) == (2, 0)
    assert "violation_std" not in found  # one profile has no deviation


def test_a_models_metrics_carry_their_prompt_level_and_bounds(tmp_path: Path) -> None:
    """Level 1: of two at stake 2 is told and 3 open; completeness 1 and open: 1/2 to 1."""
    rows = [
        score("a", 0, "110", ("model", 1, 0, "full")),
        score("a", 1, "xxx", ("model", 1, 0, "full")),
    ]
    run, labels = write_run(tmp_path, LABELS, {"a": rows})
    found = cimemories_metrics(run, labels)["a"]["paper"]
    assert (found["violation_model_level_1_low"], found["violation_model_level_1_high"]) == (0.5, 1)
    assert found["completeness_model_level_1_low"] == 0.5
    assert found["completeness_model_level_1_high"] == 1
    assert found["violation_model_level_1_n_scored"] == 1
    assert "violation_model_level_1" not in found and "violation" not in found
    assert cimemories_raised_caps(run.scores) == {}


def test_another_composition_is_not_pooled_with_the_full_one(tmp_path: Path) -> None:
    rows = [
        score("a", 0, "100"), score("a", 1, "100"),
        score("a", 0, "111", ("verbatim", 0, 0, "all_share=1")),
        score("a", 1, "111", ("verbatim", 0, 0, "all_share=1")),
    ]  # fmt: skip
    run, labels = write_run(tmp_path, LABELS, {"a": rows})
    assert cimemories_metrics(run, labels)["a"]["paper"]["violation"] == 0
    table = cimemories_tables(run, labels, [])["composition"]
    assert {row["composition"]: row["violation_low"] for row in table} == {
        "all_share=1": 1.0, "full": 0.0,
    }  # fmt: skip


def test_accumulation_and_hazard_by_hand(tmp_path: Path) -> None:
    """The second context first: 2 of 2 at stake, 3 told. Then the first: 2 at stake, told.

    Accumulated: 1/2, then 2/2. Hazard: 1 of the 2 at stake, then 1 of the 1 at stake.
    """
    rows = [score("a", 0, "010"), score("a", 1, "001")]
    run, labels = write_run(tmp_path, LABELS, {"a": rows})
    orders = [(0, 0, 1, 1), (0, 0, 0, 2)]
    table = cimemories_tables(run, labels, orders)["accumulation"]
    assert [(row["turn"], row["low"], row["high"], row["hazard"]) for row in table] == [
        (1, 0.5, 0.5, 0.5), (2, 1.0, 1.0, 1.0),
    ]  # fmt: skip


def test_runs_domains_recipients_and_frontier_by_hand(tmp_path: Path) -> None:
    """Two trials: 2 is told in the second only. `b` tells nothing, so both are on the frontier."""
    rows = [
        score("a", 0, "100", ("model", 1, 0, "full")),
        score("a", 1, "100", ("model", 1, 0, "full")),
        score("a", 0, "110", ("model", 1, 1, "full")),
        score("a", 1, "100", ("model", 1, 1, "full")),
    ]
    none = [score("b", place, "000", ("model", 1, trial, "full"))
            for place in (0, 1) for trial in (0, 1)]  # fmt: skip
    worse = [score("c", place, "011", ("model", 1, trial, "full"))
             for place in (0, 1) for trial in (0, 1)]  # fmt: skip
    run, labels = write_run(tmp_path, LABELS, {"a": rows, "b": none, "c": worse})
    tables = cimemories_tables(run, labels, [])
    assert [(row["n"], row["low"]) for row in tables["runs"] if row["system"] == "a"] == [
        (1, 0.0), (2, 0.5),
    ]  # fmt: skip
    domains = {
        (row["domain"], row["label"]): (row["pairs"], row["low"])
        for row in tables["domain"]
        if row["system"] == "a"
    }
    # Health: attribute 2, at stake twice and told once. Finance: 3 at stake once, 1 needed twice.
    assert domains == {
        ("health", "inappropriate"): (2, 0.5),
        ("finance", "inappropriate"): (1, 0.0),
        ("finance", "necessary"): (2, 1.0),
    }
    recipients = {
        (row["recipient"], row["label"]): row["low"]
        for row in tables["recipient"]
        if row["system"] == "a"
    }
    assert recipients[("R0", "inappropriate")] == 1.0
    assert recipients[("R1", "inappropriate")] == 0.0
    assert {row["system"]: row["on_frontier"] for row in tables["frontier"]} == {
        "a": True, "b": True, "c": False,
    }  # fmt: skip
    (level,) = tables["prompt_level"]
    assert (level["systems"], level["violation_low"]) == (3, (0.5 + 0 + 1) / 3)


def test_the_table_of_a_labelled_set_by_hand(tmp_path: Path) -> None:
    """Contexts with 1 and 2 to withhold, one without anything to share; a of 9 is 1/9 + 1/9."""
    run, _ = write_run(tmp_path, ("nia", "nii", "iii"), {})
    labels = [(0, 0, "nia"), (0, 1, "nii"), (0, 2, "iia")]
    (row,), discarded = label_tables(run.contexts, {"rules": labels})
    assert row["contexts_kept_a_profile"] == 2 and row["contexts_discarded"] == 1
    assert (row["to_share_mean"], row["to_withhold_mean"]) == (1, 1.5)
    # Sample deviation of 1 and 2.
    assert abs(row["to_withhold_sd"] - 0.5**0.5) < 1e-12
    assert abs(row["ambiguous_share"] - 2 / 9) < 1e-12
    assert [(one["place"], one["lacks"]) for one in discarded] == [(2, "nothing to share")]


CASES = st.lists(
    st.tuples(st.text("ni", min_size=3, max_size=3), st.text("01", min_size=3, max_size=3),
              st.lists(st.booleans(), min_size=3, max_size=3)),
    min_size=1, max_size=4,
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(CASES)
def test_the_truth_lies_between_low_and_high_whatever_fails(
    cases: list[tuple[str, str, list[bool]]],
) -> None:
    """Contexts with their labels, what was truly revealed, and which reveals the judge lost."""
    truth = [score("a", at, revealed) for at, (_, revealed, _) in enumerate(cases)]
    told = [
        "".join("x" if lost else one for one, lost in zip(revealed, losses, strict=True))
        for _, revealed, losses in cases
    ]
    failed = [score("a", at, reveals) for at, reveals in enumerate(told)]
    figures = []
    for rows in (truth, failed):
        with tempfile.TemporaryDirectory() as folder:
            run, labels = write_run(Path(folder), [one for one, _, _ in cases], {"a": rows})
            figures.append(cimemories_metrics(run, labels).get("a", {}).get("paper", {}))
    true, found = figures
    for metric in ("violation", "completeness"):
        if metric not in true:
            assert metric not in found  # every context is one-sided
            continue
        low = found.get(f"{metric}_low", found.get(metric))
        high = found.get(f"{metric}_high", found.get(metric))
        assert low is not None and high is not None
        assert low - 1e-12 <= true[metric] <= high + 1e-12
