"""Labels by rule: which information domains a recipient and task need, and must not get.

Deterministic and without a model, hence never comparable with the paper. Own contexts are listed
with their rule; those of the released data are known by the SHA-256 of `<recipient>: <task>`.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memrepro.benchmarks.cimemories.remember import query
from memrepro.digest import sha256_text
from memrepro.errors import InputError
from memrepro.records import CIMemoriesContext, CIMemoriesDomain, CIMemoriesLabels


class Rule(NamedTuple):
    """The domains that a context needs, and those that it must not be told."""

    needs: frozenset[str]
    withholds: frozenset[str]


def parse_rules(text: str, where: str) -> dict[str, Rule]:
    """Rules by the SHA-256 of their context, from CSV.

    Args:
        text: with columns `needs` and `withholds`, domains apart by a space, and either `sha256`
            or `recipient` and `task`.
        where: the file, for errors.

    Raises:
        InputError: a column is missing, a rule needs and withholds one domain or lacks either, or
            a context stands twice.
    """
    rules: dict[str, Rule] = {}
    for number, row in enumerate(csv.DictReader(io.StringIO(text)), start=2):
        place = f"{where}, line {number}"
        try:
            key = row.get("sha256") or sha256_text(f"{row['recipient']}: {row['task']}")
            rule = Rule(frozenset(row["needs"].split()), frozenset(row["withholds"].split()))
        except (KeyError, AttributeError):
            raise InputError(
                "a column is missing", where=place, expected="needs, withholds, and the context"
            ) from None
        if not (rule.needs and rule.withholds) or rule.needs & rule.withholds:
            raise InputError(
                "a rule needs some domains and withholds others",
                where=place,
                found=f"needs {row['needs']!r}, withholds {row['withholds']!r}",
            )
        if key in rules:
            raise InputError("the context has a rule already", where=place)
        rules[key] = rule
    return rules


def label_by_rule(
    contexts: Iterable[CIMemoriesContext],
    domains: Iterable[CIMemoriesDomain],
    rules: Mapping[str, Rule],
    where: str,
) -> list[CIMemoriesLabels]:
    """Labels of every context.

    Raises:
        InputError: a context has no rule.
    """
    by_profile: dict[int, list[str]] = {}
    for row in domains:
        by_profile.setdefault(row.profile, []).append(row.domain)
    return [
        CIMemoriesLabels(
            profile=context.profile,
            place=context.place,
            labels=_letters(_rule(context, rules, where), by_profile[context.profile]),
        )
        for context in contexts
    ]


def _rule(context: CIMemoriesContext, rules: Mapping[str, Rule], where: str) -> Rule:
    key = sha256_text(query(context))
    if key not in rules:
        raise InputError(
            "a context has no rule",
            where=where,
            found=query(context),
            hint="add a line with its needs and withholds, or choose another label source",
        )
    return rules[key]


def _letters(rule: Rule, domains: Sequence[str]) -> str:
    return "".join(
        "n" if domain in rule.needs else "i" if domain in rule.withholds else "a"
        for domain in domains
    )
