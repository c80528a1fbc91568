"""The dataset from its parts: every sentence of the corpus under every policy."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memrepro.errors import InputError
from memrepro.files import validate
from memrepro.records import RetentionFact, RetentionPolicy, RetentionRow

STANDARD = "standard"
# Own files of facts under the same policies, scored alike and reported apart.
STRESS = ("paraphrase", "compound", "evasion")
# The standard facts, kept before the policy is set.
POLICY_CHANGE = "policy_change"
EDITIONS = (STANDARD, *STRESS, POLICY_CHANGE)


def parse_corpus(value: Any, *, where: str) -> list[RetentionFact]:
    """The facts of a corpus file: an object from category to a list of sentences.

    Raises:
        InputError: the file is of another form, or an id or a text stands twice.
    """
    if not isinstance(value, dict):
        raise InputError("no corpus", where=where, expected="an object of categories")
    facts = [
        validate(RetentionFact, {**one, "category": category}, where=f"{where}, {category}")
        for category, sentences in value.items()
        for one in _objects(sentences, f"{where}, {category}")
    ]
    _refuse_twice(facts, where)
    return facts


def parse_policies(value: Any, *, where: str) -> list[RetentionPolicy]:
    """The policies of a policy file: a list, in its order.

    Raises:
        InputError: the file is of another form.
    """
    return [validate(RetentionPolicy, one, where=where) for one in _objects(value, where)]


def parse_rules(value: Any, *, where: str) -> dict[str, tuple[str, ...]]:
    """The keywords of a rules file: an object from policy statement to a list of keywords.

    Raises:
        InputError: the file is of another form.
    """
    if not isinstance(value, dict):
        raise InputError("no rules", where=where, expected="an object of policy statements")
    for statement, keywords in value.items():
        if not (isinstance(keywords, list) and all(isinstance(key, str) for key in keywords)):
            raise InputError(
                "the rule is no list of keywords", where=f"{where}, {statement!r}",
                expected="a list of strings", found=repr(keywords)[:80],
            )  # fmt: skip
    return {statement: tuple(keywords) for statement, keywords in value.items()}


def parse_dataset(value: Any, *, where: str) -> list[RetentionRow]:
    """The rows of a dataset file: a list, or an object that has it under `rows`.

    Raises:
        InputError: the file is of another form; names the row and field.
    """
    rows = value.get("rows") if isinstance(value, dict) else value
    return [
        validate(RetentionRow, one, where=f"{where}, row {number}")
        for number, one in enumerate(_objects(rows, where))
    ]


def build_rows(
    facts: Iterable[RetentionFact], policies: Iterable[RetentionPolicy]
) -> list[RetentionRow]:
    """Every fact under every policy, policy by policy: dropped where its category is prohibited."""
    whole = list(facts)
    return [
        RetentionRow(
            id=f"{policy.id}/{fact.id}",
            policy_id=policy.id,
            policy=policy.statement,
            text=fact.text,
            category=fact.category,
            expected="drop" if fact.category == policy.category else "store",
        )
        for policy in policies
        for fact in whole
    ]


def dump_dataset(rows: Iterable[RetentionRow]) -> str:
    """The dataset file's text: one JSON list, a row a line."""
    lines = ",\n".join(json.dumps(row.model_dump(), ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]\n"


def _objects(value: Any, where: str) -> Sequence[Mapping[str, Any]]:
    if not (isinstance(value, list) and all(isinstance(one, dict) for one in value)):
        raise InputError("wrong type", where=where, expected="a list of objects")
    return value


def _refuse_twice(facts: Iterable[RetentionFact], where: str) -> None:
    seen: set[tuple[str, str]] = set()
    for fact in facts:
        for field, value in (("id", fact.id), ("text", fact.text)):
            if (field, value) in seen:
                raise InputError(f"the {field} {value!r} stands twice", where=where)
            seen.add((field, value))
