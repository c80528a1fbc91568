"""A policy wrapped round any memory system: what it prohibits is never handed on.

Recall is the wrapped system's own and is not filtered. A policy that is set later also holds for
what is kept already: as no system here can delete, the wrapped one is built anew without it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Self

from memrepro.digest import sha256_value
from memrepro.memory.base import MemorySystem, Resources
from memrepro.policy import Ask, Decision, Governance, decide
from memrepro.records import Recalled, Session, Turn


class Guard(MemorySystem):
    """Decides on each fact at ingest, and on all kept facts when a policy is set.

    Args:
        resources: unused; the wrapped system has its own.
        create: makes the wrapped system in its empty state, as often as asked.
        governance: how policies are enforced.
        ask: the model, for modes that have one.

    Attributes:
        statement: the policy in force, None before the first.
        decisions: the latest decision on each fact, by the fact's id, in order of ingestion.
    """

    def __init__(
        self,
        resources: Resources,
        *,
        create: Callable[[], MemorySystem],
        governance: Governance,
        ask: Ask | None = None,
    ) -> None:
        super().__init__(resources)
        self._create = create
        self._governance = governance
        self._ask = ask
        self._system = create()
        self._kept: list[Session | Turn] = []
        self.statement: str | None = None
        self.decisions: dict[str, Decision] = {}

    def set_policy(self, statement: str | None) -> None:
        """Put a policy in force, in place of the one before; forget what it prohibits.

        What an earlier policy blocked stays lost. None lifts the policy.
        """
        self.statement = statement
        kept = list(self._still_permitted())
        if kept == self._kept:
            return
        self._kept = kept
        self._system = self._create()
        for one in kept:
            self._hand_on(one)

    def decision(self, fact_id: str) -> Decision | None:
        """The latest decision on a fact; None for one that was never handed in."""
        return self.decisions.get(fact_id)

    def ingest(self, session: Session) -> None:
        """Hand the session on without the turns that the policy prohibits."""
        permitted = self._without_blocked(session)
        self._hand_on(permitted)
        self._kept.append(permitted)

    def retain(self, fact: Turn) -> bool:
        """Hand the fact on unless the policy prohibits it; says whether it was kept."""
        if self._blocks(fact):
            return False
        kept = self._hand_on(fact)
        self._kept.append(fact)
        return kept

    def recall(self, query: str, k: int) -> list[Recalled]:
        """Whatever the wrapped system recalls."""
        return self._system.recall(query, k)

    def fork(self) -> Self:
        """A copy round a fork of the wrapped system."""
        other = copy.copy(self)
        other._system = self._system.fork()
        other._kept = self._kept.copy()
        other.decisions = self.decisions.copy()
        return other

    def digest(self) -> str:
        """SHA-256 of the wrapped system's digest, how policies are enforced, and the policy."""
        return sha256_value([self._system.digest(), self._governance.digest(), self.statement])

    def _still_permitted(self) -> Iterator[Session | Turn]:
        for one in self._kept:
            if isinstance(one, Session):
                yield self._without_blocked(one)
            elif not self._blocks(one):
                yield one

    def _without_blocked(self, session: Session) -> Session:
        turns = tuple(turn for turn in session.turns if not self._blocks(turn))
        return session if turns == session.turns else Session(id=session.id, turns=turns)

    def _blocks(self, turn: Turn) -> bool:
        decision = decide(turn.text, self.statement, self._governance, self._ask)
        self.decisions[turn.id] = decision
        return decision.blocked

    def _hand_on(self, one: Session | Turn) -> bool:
        if isinstance(one, Turn):
            return self._system.retain(one)
        self._system.ingest(one)
        return True
