"""Everything that is refused before a run, each with its message and the key at fault."""

from dataclasses import replace
from typing import Any

import pytest

from memrepro.errors import InputError
from memrepro.policy import Governance
from memrepro.policy.configuration import Configuration, check
from memrepro.records import RetentionPolicy
from tests.retention.corpus import POLICIES, ROWS, RULES

GOOD = Configuration(
    active=True,
    recall_filtering=False,
    mode="deterministic",
    match="word",
    on_undecided="block",
    rules=RULES,
    policies=POLICIES,
    rows=ROWS,
)
STATEMENT = POLICIES[3].statement
WITHOUT = {statement: keys for statement, keys in RULES.items() if statement != STATEMENT}


def policy(number: int, **changed: str) -> list[RetentionPolicy]:
    """The policies with one of them changed."""
    of = POLICIES[number].model_copy(update=changed)
    return [*POLICIES[:number], of, *POLICIES[number + 1 :]]


def row(**changed: str) -> list[Any]:
    """The rows with the second one changed."""
    return [ROWS[0], ROWS[1].model_copy(update=changed), *ROWS[2:]]


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"active": False}, "active", "no privacy configuration is active"),
    ({"recall_filtering": True}, "recall_filtering", "recall would be filtered"),
    ({"mode": "strict"}, "mode", "unknown mode 'strict'"),
    ({"mode": "Deterministic"}, "mode", "unknown mode 'Deterministic'"),
    ({"match": "regex"}, "match", "unknown match 'regex'"),
    ({"on_undecided": "drop"}, "on_undecided", "unknown on_undecided 'drop'"),
    ({"mode": "llm"}, "model", "mode llm asks a model"),
    ({"mode": "hybrid", "model": ""}, "model", "mode hybrid asks a model"),
    ({"rules": WITHOUT}, "rules", "the table has no entry for RP-04"),
    ({"rules": WITHOUT, "mode": "hybrid", "model": "m"}, "rules", "no entry for RP-04"),
    ({"rules": {}}, "rules", "the table has no entry for RP-01"),
    ({"rules": {**RULES, STATEMENT: ()}}, "rules", "a keyword is missing"),
    ({"rules": {**RULES, STATEMENT: ("loan", " ")}}, "rules", "a keyword is missing"),
    ({"rules": {**RULES, STATEMENT: ("Loan", "loan")}}, "rules", "'loan' stands twice"),
    ({"policies": policy(3, id="RP-03")}, "policies", "two policies have the id 'RP-03'"),
    ({"policies": policy(3, statement=POLICIES[0].statement)}, "policies", "the statement"),
    ({"policies": policy(3, statement=" ")}, "policies", "RP-04 has no statement"),
    ({"policies": policy(3, category="money")}, "policies", "unknown category 'money'"),
    ({"policies": POLICIES[:-1]}, "dataset_path", "is none of the policies"),
    ({"rows": row(policy="Keep all.")}, "dataset_path", "is none of the policies"),
    ({"rows": row(id=ROWS[0].id)}, "dataset_path", "two rows have the id 'RP-01/health-1'"),
    ({"rows": row(expected="store")}, "dataset_path", "'RP-01/health-2' contradicts RP-01"),
    ({"rows": row(text=ROWS[0].text)}, "dataset_path", "a text stands twice under RP-01"),
    ({"rows": row(text="I sail.")}, "dataset_path", "not put to the same facts as RP-01"),
    ({"rows": ROWS[:-1]}, "dataset_path", "RP-12 is not put to the same facts"),
    ({"policy_ids": []}, "policy_ids", "no policy is chosen"),
    ({"policy_ids": ["RP-13"]}, "policy_ids", "unknown policy 'RP-13'"),
    ({"policy_ids": ["RP-02", "RP-02"]}, "policy_ids", "RP-02 is chosen twice"),
    ({"limit": 100}, "limit", "would cut the facts of a policy short"),
    ({"limit": 95}, "limit", "would cut the facts of a policy short"),
    ({"limit": 0}, "limit", "would cut the facts of a policy short"),
    ({"limit": -96}, "limit", "would cut the facts of a policy short"),
]


@pytest.mark.parametrize(("changed", "key", "message"), REFUSED)
def test_refused(changed: dict[str, Any], key: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        check(replace(GOOD, **changed))
    assert caught.value.where == f"params.yaml, key retention.{key}"
    assert caught.value.exit_code == 2


def test_what_is_not_refused() -> None:
    for changed in (
        {"rules": None},  # the ungoverned baseline
        {"mode": "none", "rules": WITHOUT},
        {"mode": "llm", "rules": WITHOUT, "model": "m"},
        {"mode": "hybrid", "rules": None, "model": "m"},
    ):
        governance, rows = check(replace(GOOD, **changed))
        assert governance.mode == changed.get("mode", "deterministic")
        assert rows == ROWS


def test_what_comes_of_it() -> None:
    governance, rows = check(replace(GOOD, match="substring", on_undecided="store"))
    assert governance == Governance("deterministic", "substring", "store", RULES)
    assert rows == ROWS


def test_selections_are_whole_policies_in_the_order_of_the_dataset() -> None:
    _, rows = check(replace(GOOD, policy_ids=["RP-07", "RP-02"]))
    assert rows == [*ROWS[96:192], *ROWS[576:672]]
    assert check(replace(GOOD, limit=192))[1] == ROWS[:192]
    assert check(replace(GOOD, policy_ids=["RP-07", "RP-02"], limit=96))[1] == ROWS[96:192]
    assert check(replace(GOOD, limit=9600))[1] == ROWS


def test_rows_in_any_order_come_out_policy_by_policy() -> None:
    mixed = sorted(ROWS, key=lambda row: (row.fact_id, row.policy_id))
    ids = [row.policy_id for row in check(replace(GOOD, rows=mixed))[1]]
    assert ids == sorted(ids)
