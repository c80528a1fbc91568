"""Labels by rule: which information domains a recipient and task need, and must not get.

Deterministic and without a model, hence never comparable with the paper. Own contexts are listed
with their rule; those of the released data are known by the SHA-256 of `<recipient>: <task>`.
"""

from collections.abc import Iterable, Mapping, Sequence

from memrepro.benchmarks.cimemories.remember import query
from memrepro.benchmarks.cimemories.tables import Context
from memrepro.digest import sha256_text
from memrepro.errors import InputError
from memrepro.records import CIMemoriesContext, CIMemoriesDomain, CIMemoriesLabels

# The domains that a context needs, and those that it must not be told.
Rule = tuple[frozenset[str], frozenset[str]]


def rules_of(contexts: Iterable[Context], pairs: Mapping[str, Rule]) -> dict[str, Rule]:
    """Rules by the SHA-256 of their context: of our own contexts, and of the released pairs."""
    own = {
        sha256_text(f"{one.recipient}: {one.task}"): (one.needs, one.withholds) for one in contexts
    }
    return {**pairs, **own}


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
    needs, withholds = rule
    return "".join(
        "n" if domain in needs else "i" if domain in withholds else "a" for domain in domains
    )
