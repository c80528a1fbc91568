"""What a run of the retention benchmark refuses, before anything of it runs.

The first three checks are the source's (no active privacy configuration, filtering at recall, a
statement without a rule); the others catch what would make a run measure something else than said.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memrepro.errors import InputError
from memrepro.policy import MATCHES, MODES, ON_UNDECIDED, Governance, Rules, normalise
from memrepro.records import RetentionPolicy, RetentionRow


@dataclass(frozen=True)
class Configuration:
    """What a run is asked to do, as the params say it. Every field is a key at fault.

    Args:
        active: whether the privacy configuration is in force.
        recall_filtering: whether recall is to be filtered, which would hide what ingest let in.
        mode, match, on_undecided: as in `Governance`, not yet held to their values.
        rules: keywords by policy statement, or None.
        policies: the policies there are.
        rows: the dataset's rows.
        policy_ids: the policies to run; None runs all.
        limit: at most so many rows, whole policies only; None is no limit.
        model: the model of hybrid and llm.
        where: the params file and the block's key, for errors.
        keys: where a field stands in the block, if not under its own name.
    """

    active: bool
    recall_filtering: bool
    mode: str
    match: str
    on_undecided: str
    rules: Rules | None
    policies: Sequence[RetentionPolicy]
    rows: Sequence[RetentionRow]
    policy_ids: Sequence[str] | None = None
    limit: int | None = None
    model: str | None = None
    where: str = "params.yaml, key retention"
    keys: Mapping[str, str] = field(default_factory=dict)

    def error(self, key: str, what: str, **told: str) -> InputError:
        """An error that names a key of the block."""
        return InputError(what, where=f"{self.where}.{self.keys.get(key, key)}", **told)


def check(configuration: Configuration) -> tuple[Governance, list[RetentionRow]]:
    """Hold a configuration to everything that a run takes for granted.

    Returns:
        How policies are enforced, and the rows to run: whole policies, in the dataset's order.

    Raises:
        InputError: names the key at fault.
    """
    for refuse in _CHECKS:
        refuse(configuration)
    mode = next(one for one in MODES if one == configuration.mode)
    match = next(one for one in MATCHES if one == configuration.match)
    otherwise = next(one for one in ON_UNDECIDED if one == configuration.on_undecided)
    return Governance(mode, match, otherwise, configuration.rules), _selected(configuration)


def _check_privacy(configuration: Configuration) -> None:
    if not configuration.active:
        raise configuration.error(
            "active",
            "no privacy configuration is active: there is nothing to measure",
            expected="true",
            hint="set it to true; mode none is the ungoverned baseline",
        )
    if configuration.recall_filtering:
        raise configuration.error(
            "recall_filtering",
            "recall would be filtered, which hides what ingest let in",
            expected="false",
            hint="set it to false: this benchmark measures what is kept",
        )


def _check_names(configuration: Configuration) -> None:
    known: dict[str, Sequence[str]] = {
        "mode": MODES, "match": MATCHES, "on_undecided": ON_UNDECIDED,
    }  # fmt: skip
    for key, names in known.items():
        value = getattr(configuration, key)
        if value not in names:
            raise configuration.error(
                key, f"unknown {key} {value!r}", expected=", ".join(names), found=repr(value)
            )
    if configuration.mode in ("hybrid", "llm") and not configuration.model:
        raise configuration.error(
            "model",
            f"mode {configuration.mode} asks a model, and none is named",
            expected="a name in models",
        )


def _check_policies(configuration: Configuration) -> None:
    policies = configuration.policies
    for name in ("id", "statement"):
        twice = _twice(getattr(policy, name) for policy in policies)
        if twice is not None:
            raise configuration.error("policies", f"two policies have the {name} {twice!r}")
    categories = {row.category for row in configuration.rows}
    for policy in policies:
        if not policy.statement.strip():
            raise configuration.error("policies", f"{policy.id} has no statement")
        if policy.category not in categories:
            raise configuration.error(
                "policies",
                f"{policy.id} prohibits the unknown category {policy.category!r}",
                expected=", ".join(sorted(categories)),
            )


def _check_rules(configuration: Configuration) -> None:
    if configuration.rules is None or configuration.mode not in ("deterministic", "hybrid"):
        return
    for policy in configuration.policies:
        if policy.statement not in configuration.rules:
            raise configuration.error(
                "rules",
                f"the table has no entry for {policy.id}, so nothing would enforce it",
                expected=f"an entry for {policy.statement!r}",
                hint="add the entry, or take the table away for the ungoverned baseline",
            )
    for statement, keywords in configuration.rules.items():
        given = [normalise(keyword) for keyword in keywords]
        if not given or "" in given:
            raise configuration.error("rules", f"a keyword is missing for {statement!r}")
        twice = _twice(given)
        if twice is not None:
            raise configuration.error("rules", f"{twice!r} stands twice for {statement!r}")


def _check_rows(configuration: Configuration) -> None:
    policies = {policy.id: policy for policy in configuration.policies}
    twice = _twice(row.id for row in configuration.rows)
    if twice is not None:
        raise configuration.error("dataset_path", f"two rows have the id {twice!r}")
    for row in configuration.rows:
        policy = policies.get(row.policy_id)
        if policy is None or policy.statement != row.policy:
            raise configuration.error(
                "dataset_path",
                f"the policy of row {row.id!r} is none of the policies",
                found=f"{row.policy_id}: {row.policy}",
                hint="memrepro retention build",
            )
        wanted = "drop" if row.category == policy.category else "store"
        if row.expected != wanted:
            raise configuration.error(
                "dataset_path",
                f"row {row.id!r} contradicts {policy.id}, which prohibits {policy.category}",
                expected=wanted,
                found=row.expected,
                hint="memrepro retention build",
            )
    _check_whole(configuration)


def _check_whole(configuration: Configuration) -> None:
    """The same facts under every policy, and no text twice under one."""
    texts = _by_policy(configuration.rows)
    whole = Counter(next(iter(texts.values()), []))
    for policy_id, given in texts.items():
        twice = _twice(given)
        if twice is not None:
            raise configuration.error(
                "dataset_path", f"a text stands twice under {policy_id}", found=repr(twice)
            )
        if Counter(given) != whole:
            raise configuration.error(
                "dataset_path",
                f"{policy_id} is not put to the same facts as {next(iter(texts))}",
                expected=f"{whole.total()} facts",
                found=f"{len(given)} facts",
                hint="memrepro retention build",
            )


def _check_selection(configuration: Configuration) -> None:
    chosen = configuration.policy_ids
    known = _by_policy(configuration.rows)
    if chosen is not None:
        if not chosen:
            raise configuration.error("policy_ids", "no policy is chosen", expected="null for all")
        twice = _twice(chosen)
        if twice is not None:
            raise configuration.error("policy_ids", f"{twice} is chosen twice")
        for policy_id in chosen:
            if policy_id not in known:
                raise configuration.error(
                    "policy_ids", f"unknown policy {policy_id!r}", expected=", ".join(known)
                )
    limit = configuration.limit
    size = len(next(iter(known.values()), []))
    if limit is not None and (limit < 1 or not size or limit % size):
        raise configuration.error(
            "limit",
            "the limit would cut the facts of a policy short",
            expected=f"a multiple of {size}, the facts of one policy",
            found=str(limit),
        )


_CHECKS: tuple[Callable[[Configuration], None], ...] = (
    _check_privacy,
    _check_names,
    _check_policies,
    _check_rules,
    _check_rows,
    _check_selection,
)


def _selected(configuration: Configuration) -> list[RetentionRow]:
    chosen = configuration.policy_ids
    rows = [row for row in configuration.rows if chosen is None or row.policy_id in chosen]
    by_policy: dict[str, list[RetentionRow]] = {}
    for row in rows:
        by_policy.setdefault(row.policy_id, []).append(row)
    whole = [row for group in by_policy.values() for row in group]
    return whole[: configuration.limit]


def _by_policy(rows: Iterable[RetentionRow]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for row in rows:
        texts.setdefault(row.policy_id, []).append(row.text)
    return texts


def _twice(values: Iterable[Hashable]) -> Hashable | None:
    """The first value that stands twice."""
    seen: set[Hashable] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None
