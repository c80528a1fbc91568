"""Runs whose scores are known beforehand, by counting."""

from collections import Counter
from pathlib import Path

import pytest

from memrepro.benchmarks.retention.build import POLICY_CHANGE, STRESS
from memrepro.memory.guard import Guard
from memrepro.policy import Governance
from memrepro.records import Recalled, RetentionScore, Turn
from tests.memory.fakes import RESOURCES
from tests.retention.corpus import (
    CATEGORY,
    NONE,
    POLICIES,
    ROWS,
    SUBSTRING,
    WORD,
    facts,
    guarded,
    metrics,
    new,
    rows_of,
    scores,
)

LLM = Governance("llm")
CATEGORY_OF = {row.text: row.category for row in ROWS}
KEYWORD_FREE = {fact.id for fact in facts() if fact.keyword is None}


def cells(found: list[RetentionScore], reason: str) -> set[tuple[str, str]]:
    return {(row.policy_id, row.fact_id) for row in found if row.reason == reason}


def oracle(text: str, statement: str) -> int:
    """A model that looks the category up."""
    return int(CATEGORY_OF[text] == CATEGORY[statement])


@pytest.mark.parametrize("system", ["exact", "bm25", "sqlite_fts", "dense_int8", "hybrid"])
def test_ungoverned_leaks_everything_and_keeps_everything(system: str, tmp_path: Path) -> None:
    found = scores(guarded(NONE, system=system))
    assert metrics(tmp_path, found) == {
        "accuracy": 1056 / 1152, "leak_rate": 1.0, "allowed_rate": 1.0, "policies_passed": 0,
    }  # fmt: skip
    assert Counter(row.reason for row in found) == {"not_blocked": 96, None: 1056}


def test_a_deterministic_guard_without_a_table_is_the_ungoverned_baseline() -> None:
    without = scores(guarded(Governance("deterministic")))
    assert [row.score for row in without] == [row.score for row in scores(guarded(NONE))]
    assert {row.decided_by for row in without} == {"nothing"}


@pytest.mark.parametrize("system", ["exact", "bm25", "sqlite_fts"])
@pytest.mark.parametrize("governance", [WORD, SUBSTRING], ids=["word", "substring"])
def test_rules_miss_exactly_the_sentences_without_a_keyword(
    governance: Governance, system: str
) -> None:
    found = scores(guarded(governance, system=system))
    missed = cells(found, "not_blocked")
    assert {fact_id for _, fact_id in missed} == KEYWORD_FREE and len(missed) == 32


def test_rules_over_block_exactly_what_was_planted_and_only_as_substrings(tmp_path: Path) -> None:
    policy_of = {policy.category: policy.id for policy in POLICIES}
    planted = {(policy_of[f.planted.category], f.id) for f in facts() if f.planted}
    assert cells(scores(guarded(WORD)), "over_blocked") == set()
    found = scores(guarded(SUBSTRING))
    assert cells(found, "over_blocked") == planted and len(planted) == 12
    # 96 - 32 blocked rightly of 96; 12 of 1,056 blocked wrongly.
    assert metrics(tmp_path, found) == {
        "accuracy": (64 + 1044) / 1152, "leak_rate": 32 / 96, "allowed_rate": 1044 / 1056,
        "policies_passed": 0,
    }  # fmt: skip


def test_a_guard_that_blocks_everything(tmp_path: Path) -> None:
    found = scores(guarded(LLM, lambda *_: 1))
    assert metrics(tmp_path, found) == {
        "accuracy": 96 / 1152, "leak_rate": 0.0, "allowed_rate": 0.0, "policies_passed": 0,
    }  # fmt: skip
    assert Counter(row.reason for row in found) == {"over_blocked": 1056, None: 96}


@pytest.mark.parametrize("system", ["exact", "bm25", "sqlite_fts"])
def test_a_guard_that_looks_the_category_up(system: str, tmp_path: Path) -> None:
    found = scores(guarded(LLM, oracle, system))
    assert metrics(tmp_path, found) == {
        "accuracy": 1.0, "leak_rate": 0.0, "allowed_rate": 1.0, "policies_passed": 12,
    }  # fmt: skip


class Remembers(Guard):
    """Blocks at ingest, and recalls what it was asked for all the same."""

    def recall(self, query: str, k: int) -> list[Recalled]:
        return [Recalled(id="anything", text=query)]


def test_blocked_at_ingest_and_recalled_all_the_same_fails(tmp_path: Path) -> None:
    found = scores(lambda: Remembers(RESOURCES, create=new, governance=LLM, ask=oracle))
    assert Counter(row.reason for row in found) == {"leaked_at_recall": 96, None: 1056}
    assert metrics(tmp_path, found)["leak_rate"] == 1.0


class Claims(Guard):
    """Says that it blocks, and keeps everything."""

    def retain(self, fact: Turn) -> bool:
        super().retain(fact)
        self._system.retain(fact.model_copy(update={"id": f"again-{fact.id}"}))
        return False


def test_a_blocked_fact_that_was_kept_all_the_same_fails() -> None:
    found = scores(lambda: Claims(RESOURCES, create=new, governance=LLM, ask=oracle))
    assert Counter(row.reason for row in found) == {"leaked_at_recall": 96, "over_blocked": 1056}


def test_a_system_that_keeps_and_never_recalls(tmp_path: Path) -> None:
    found = scores(guarded(NONE, system="none"))
    assert Counter(row.reason for row in found) == {"not_blocked": 96, "not_recalled": 1056}
    assert metrics(tmp_path, found)["accuracy"] == 0.0


@pytest.mark.parametrize("edition", STRESS)
def test_stress_editions_ungoverned_and_by_oracle(edition: str, tmp_path: Path) -> None:
    rows = rows_of(edition)
    category = {row.text: row.category for row in rows}
    found = metrics(tmp_path, scores(guarded(NONE), rows, edition=edition))
    assert found["accuracy"] == 528 / 576 and found["leak_rate"] == 1.0
    known = guarded(LLM, lambda text, statement: int(category[text] == CATEGORY[statement]))
    found = metrics(tmp_path, scores(known, rows, edition=edition))
    assert found["accuracy"] == 1.0 and found["policies_passed"] == 12


@pytest.mark.parametrize(
    ("edition", "leaks"),
    # Without a keyword: all of paraphrase, half of compound, three of four kinds of evasion.
    [("paraphrase", 48 / 48), ("compound", 24 / 48), ("evasion", 36 / 48)],
)
def test_what_rules_make_of_the_stress_editions(edition: str, leaks: float, tmp_path: Path) -> None:
    found = scores(guarded(WORD), rows_of(edition), edition=edition)
    values = metrics(tmp_path, found)
    assert values["leak_rate"] == leaks and values["allowed_rate"] == 1.0
    if edition == "evasion":
        kind = {fact.id: fact.kind for fact in facts(edition)}
        missed = Counter(kind[row.fact_id] for row in found if row.reason == "not_blocked")
        assert missed == {"spelling": 12, "spacing": 12, "language": 12}


@pytest.mark.parametrize("system", ["exact", "bm25", "sqlite_fts"])
def test_a_policy_that_comes_later_makes_a_governed_memory_forget(
    system: str, tmp_path: Path
) -> None:
    expected = ((NONE, None, 0.0, 0), (WORD, None, 64 / 96, 0), (LLM, oracle, 1.0, 12))
    for governance, ask, rate, passed in expected:
        found = scores(guarded(governance, ask, system), edition=POLICY_CHANGE)
        values = metrics(tmp_path, found)
        assert values == {
            "accuracy": (1056 + rate * 96) / 1152, "allowed_rate": 1.0, "forgetting_rate": rate,
            "policies_passed": passed,
        }  # fmt: skip
