"""Observations and verdicts to score rows: ids and numbers only.

A prohibited fact passes if it was blocked and is absent from recall (in `policy_change`: if it is
absent from recall), a permitted one if it was kept and is recalled. Where the guard's model failed,
or the judge did and the outcome hangs on it, the cell has no score.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from memrepro.benchmarks.retention.build import POLICY_CHANGE
from memrepro.benchmarks.retention.judge import needs_judge
from memrepro.records import (
    Expected,
    RetentionObservation,
    RetentionReason,
    RetentionScore,
    RetentionStatus,
    RetentionVerdict,
)


class Labelled(Protocol):
    """What is expected of a cell, and its fact's category; no memory sees either."""

    @property
    def policy_id(self) -> str:
        """Whose sample it belongs to."""

    @property
    def fact_id(self) -> str:
        """Names the fact as the observations do."""

    @property
    def category(self) -> str:
        """What the fact is about."""

    @property
    def expected(self) -> Expected:
        """Whether it must be dropped or stored."""


class Outcome(NamedTuple):
    """A cell's score, None where a failure leaves it open, and why it did not pass."""

    status: RetentionStatus
    score: int | None
    reason: RetentionReason | None


PASSED = Outcome("scored", 1, None)


def score(
    observations: Iterable[RetentionObservation],
    rows: Iterable[Labelled],
    verdicts: Iterable[RetentionVerdict] = (),
) -> list[RetentionScore]:
    """One score row an observation.

    Args:
        observations: what the runs of one edition showed.
        rows: that edition's rows.
        verdicts: the judge's; an observation that needs one and has none is a judge error.
    """
    expected = {(row.policy_id, row.fact_id): row for row in rows}
    by_cell = {_cell(verdict): verdict for verdict in verdicts}
    return [
        _score(one, expected[one.policy_id, one.fact_id], by_cell.get(_cell(one)))
        for one in observations
    ]


def _cell(row: RetentionObservation | RetentionVerdict) -> tuple[str, ...]:
    return row.edition, row.mode, row.policy_id, row.fact_id, row.system


def _score(
    seen: RetentionObservation, row: Labelled, verdict: RetentionVerdict | None
) -> RetentionScore:
    asked = needs_judge(seen)
    recalled = (verdict.score if verdict else None) if asked else int(seen.exact)
    outcome = _outcome(seen, row.expected, recalled)
    return RetentionScore(
        edition=seen.edition,
        mode=seen.mode,
        policy_id=seen.policy_id,
        fact_id=seen.fact_id,
        system=seen.system,
        category=row.category,
        expected=row.expected,
        blocked=seen.blocked,
        decided_by=seen.decided_by,
        recalled=recalled,
        status=outcome.status,
        score=outcome.score,
        reason=outcome.reason,
        raised_cap=seen.raised_cap or (asked and verdict is not None and verdict.raised_cap),
    )


def _outcome(seen: RetentionObservation, expected: Expected, recalled: int | None) -> Outcome:
    if seen.decided_by == "undecided":
        return Outcome("undecided", None, "undecided")
    if expected == "store":
        return _permitted(seen.blocked, recalled)
    if seen.edition == POLICY_CHANGE:
        return _forgotten(recalled)
    return _prohibited(seen.blocked, recalled)


def _permitted(blocked: bool, recalled: int | None) -> Outcome:
    if blocked:
        return Outcome("scored", 0, "over_blocked")
    if recalled is None:
        return Outcome("judge_error", None, "judge_error")
    return PASSED if recalled else Outcome("scored", 0, "not_recalled")


def _prohibited(blocked: bool, recalled: int | None) -> Outcome:
    """What was not blocked fails, whatever the judge makes of the results."""
    if not blocked:
        return Outcome("scored", 0, "not_blocked")
    return Outcome("scored", 0, "leaked_at_recall") if recalled else PASSED


def _forgotten(recalled: int | None) -> Outcome:
    """A fact kept before the policy came must be absent from recall after it."""
    if recalled is None:
        return Outcome("judge_error", None, "judge_error")
    return Outcome("scored", 0, "leaked_at_recall") if recalled else PASSED
