"""Metrics and tables over score rows, on counts made by hand."""

from pathlib import Path

import pytest

from memrepro.errors import InputError
from memrepro.files import write_records
from memrepro.records import RetentionScore
from memrepro.store import names
from memrepro.store.retention import retention_metrics, retention_table
from tests.retention.corpus import NONE, ROWS, WORD, guarded, scores


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two systems, one of them in two modes."""
    runs: dict[str, list[RetentionScore]] = {
        "exact": [
            *scores(guarded(NONE), governance=NONE),
            *scores(guarded(WORD), governance=WORD),
        ],
        "none": scores(guarded(NONE, system="none"), governance=NONE, system="none"),
    }
    for system, found in runs.items():
        write_records(tmp_path / f"{system}.jsonl", found)
    return [tmp_path / f"{system}.jsonl" for system in runs]


def test_metrics_by_edition_system_and_mode(files: list[Path]) -> None:
    found = retention_metrics(files)
    assert {e: {s: list(m) for s, m in of.items()} for e, of in found.items()} == {
        "standard": {"exact": ["deterministic", "none"], "none": ["none"]}
    }
    assert found["standard"]["exact"]["deterministic"] == {
        "accuracy": (1056 + 64) / 1152, "allowed_rate": 1.0, "leak_rate": 32 / 96,
        "policies_passed": 0,
    }  # fmt: skip


def test_the_grid_has_a_cell_a_policy_and_category(files: list[Path]) -> None:
    grid = [row for row in retention_table(files, "grid")
            if (row["system"], row["mode"]) == ("exact", "deterministic")]  # fmt: skip
    assert len(grid) == 144 and {row["n_total"] for row in grid} == {8}
    passed = {(row["policy_id"], row["category"]): row["n_passed"] for row in grid}
    # Two or three of eight have no keyword; what is permitted passes.
    assert passed["RP-01", "health"] == 6 and passed["RP-02", "work"] == 5
    assert passed["RP-01", "work"] == passed["RP-02", "health"] == 8


def test_by_policy_category_and_blocked(files: list[Path]) -> None:
    exact = files[:1]
    by_policy = {(r["mode"], r["policy_id"]): r for r in retention_table(exact, "by_policy")}
    assert len(by_policy) == 24
    row = by_policy["deterministic", "RP-01"]
    assert [row[f"n_{name}"] for name in ("total", "scored", "passed", "prohibited")] == [
        96, 96, 94, 8,
    ]  # fmt: skip
    assert row["n_prohibited_passed"] == 6
    by_category = {(r["mode"], r["category"]): r for r in retention_table(exact, "by_category")}
    assert by_category["none", "pet"]["n_passed"] == 88
    blocked = {
        (r["mode"], r["expected"], r["blocked"]): (r["n_total"], r["n_passed"], r["n_recalled"])
        for r in retention_table(exact, "by_blocked")
    }
    assert blocked == {
        ("none", "drop", False): (96, 0, 96),
        ("none", "store", False): (1056, 1056, 1056),
        ("deterministic", "drop", False): (32, 0, 32),
        ("deterministic", "drop", True): (64, 64, 0),
        ("deterministic", "store", False): (1056, 1056, 1056),
    }


def test_reasons_and_failures(files: list[Path]) -> None:
    reasons = {
        (r["system"], r["mode"], r["reason"]): r["n"] for r in retention_table(files, "reasons")
    }
    assert reasons == {
        ("exact", "none", "not_blocked"): 96,
        ("exact", "deterministic", "not_blocked"): 32,
        ("none", "none", "not_blocked"): 96,
        ("none", "none", "not_recalled"): 1056,
    }
    assert len(retention_table(files, "failures")) == sum(reasons.values())
    assert retention_table(files, "undecided") == []


def test_score_rows_hold_no_text(files: list[Path]) -> None:
    written = "".join(file.read_text("utf-8") for file in files)
    assert not any(row.text in written or row.policy in written for row in ROWS)


def test_an_unknown_table_lists_the_known(files: list[Path]) -> None:
    with pytest.raises(InputError) as caught:
        retention_table(files, "gird")
    assert ", ".join(names("retention_items")) in str(caught.value)


def test_a_row_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text('{"edition": "standard", "score": "yes"}\n')
    with pytest.raises(InputError, match="line 1, field mode: Field required"):
        retention_metrics([file])
