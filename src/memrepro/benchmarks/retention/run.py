"""One sample a policy: set the policy, retain all facts, then recall each by its own text.

Every fact is retained before any is recalled, so that each recall meets the whole memory. In the
edition `policy_change` the policy is set between the two.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, Protocol

from memrepro.benchmarks.retention.build import POLICY_CHANGE
from memrepro.errors import ProtocolError
from memrepro.policy import UNGOVERNED, Decision
from memrepro.records import Recalled, RetentionMode, RetentionObservation, Turn


class Governed(Protocol):
    """A memory behind a policy; `memory.guard` is one."""

    def set_policy(self, statement: str | None) -> None:
        """Put a policy in force, also over what is kept already."""

    def decision(self, fact_id: str) -> Decision | None:
        """Return the latest decision on a fact."""

    def retain(self, fact: Turn) -> bool:
        """Take in one fact; say whether it was kept."""

    def recall(self, query: str, k: int) -> list[Recalled]:
        """Return what the query brings back, best first."""

    def digest(self) -> str:
        """Return the digest of everything that can change a later recall."""


class Cell(Protocol):
    """A fact under a policy, as far as a memory and its guard may see it."""

    @property
    def policy_id(self) -> str:
        """Whose sample it belongs to."""

    @property
    def fact_id(self) -> str:
        """Names the fact among those of the policy."""

    @property
    def policy(self) -> str:
        """The policy's statement."""

    @property
    def text(self) -> str:
        """The fact."""


class Asked(NamedTuple):
    """The guard's model call on a fact: its key, and whether its token cap was raised."""

    key: str
    raised_cap: bool


@dataclass(frozen=True)
class Setting:
    """What the observations of a run have in common.

    Args:
        edition: which facts, and in `policy_change` when the policy is set.
        mode: the guard's mode.
        system: the wrapped system's name.
        k: items to recall for a fact.
        asked: the guard's model call on (fact's text, policy statement), to be noted where the
            model decided or failed; None in modes without one.
    """

    edition: str
    mode: RetentionMode
    system: str
    k: int
    asked: Callable[[str, str], Asked] | None = None


def run(
    create: Callable[[], Governed], rows: Sequence[Cell], setting: Setting
) -> Iterator[RetentionObservation]:
    """The observations of all policies among the rows, in their order, each in a memory of its own.

    Args:
        create: makes an empty memory without a policy.
        rows: whole policies, one after another.
        setting: the run.

    Raises:
        ProtocolError: as `run_policy`.
    """
    for _, group in groupby(rows, key=lambda row: row.policy_id):
        yield from run_policy(create(), list(group), setting)


def run_policy(
    memory: Governed, rows: Sequence[Cell], setting: Setting
) -> list[RetentionObservation]:
    """The observations of one sample, a row each.

    A fact is told under its running number: no id says what it is about.

    Raises:
        ProtocolError: recalls changed the memory's state.
    """
    facts = [Turn(id=f"f{n:05d}", role="user", text=row.text) for n, row in enumerate(rows)]
    if setting.edition != POLICY_CHANGE:
        memory.set_policy(rows[0].policy)
    kept = [memory.retain(fact) for fact in facts]
    if setting.edition == POLICY_CHANGE:
        memory.set_policy(rows[0].policy)
    decisions = [memory.decision(fact.id) or UNGOVERNED for fact in facts]
    before = memory.digest()
    found = [tuple(memory.recall(fact.text, setting.k)) for fact in facts]
    if memory.digest() != before:
        raise ProtocolError(
            f"recalls under {rows[0].policy_id} changed the memory's state",
            where=f"system {setting.system}",
            expected=f"state {before}",
            found=f"state {memory.digest()}",
            hint="recall must only read; keep caches out of digest()",
        )
    return [
        _observation(row, setting, decision, was_kept, recalled, before)
        for row, decision, was_kept, recalled in zip(rows, decisions, kept, found, strict=True)
    ]


def _observation(
    row: Cell,
    setting: Setting,
    decision: Decision,
    kept: bool,
    recalled: tuple[Recalled, ...],
    state: str,
) -> RetentionObservation:
    call = None
    if setting.asked and decision.decided_by in ("model", "undecided"):
        call = setting.asked(row.text, row.policy)
    exact = tuple(item for item in recalled if item.text == row.text)
    return RetentionObservation(
        edition=setting.edition,
        mode=setting.mode,
        policy_id=row.policy_id,
        fact_id=row.fact_id,
        system=setting.system,
        blocked=decision.blocked or not kept,
        decided_by=decision.decided_by,
        rule=decision.rule,
        guard_key=call.key if call else None,
        raised_cap=call is not None and call.raised_cap,
        n_recalled=len(recalled),
        recalled=exact or recalled,
        exact=bool(exact),
        state=state,
    )
