"""Retention's items: a fact under a policy each, by run (edition, system and mode).

There are tens of thousands, so a cell is a list and every text a number; `CELL` names its places.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memrepro.files import read_records
from memrepro.records import (
    RetentionJudgeOnly,
    RetentionObservation,
    RetentionScore,
    RetentionVerdict,
)
from memrepro.report.items import Shared
from memrepro.stages.retention import input_cells, read_rows
from memrepro.stages.work import Work

# What stands where in a cell; those at the end are missing where they are all null.
CELL = (
    "policy", "fact", "score", "expected", "blocked", "decided_by", "recalled", "reason", "n",
    "rule", "guard_key", "judge_key", "raw", "results", "raised",
)  # fmt: skip
_Cells = dict[tuple[str, str], RetentionJudgeOnly]


def retention_items(work: Work) -> dict[str, Any]:
    """Policies' statements by id, facts, words that cells number, and the runs with their cells.

    Raises:
        InputError: a stage output is missing or malformed.
    """
    policies: dict[str, str] = {}
    facts, words, texts = Shared(), Shared(), Shared()
    told: dict[str, _Cells] = {}
    wording: dict[tuple[str, str], str] = {}
    for edition in work.params.retention.editions:
        rows = read_rows(work, f"judge_only/{edition}/cells.jsonl", RetentionJudgeOnly)
        told[edition] = {(row.policy_id, row.fact_id): row for row in rows}
        for given in input_cells(work, edition):
            policies[given.policy_id] = given.policy
            wording[edition, given.fact_id] = given.text
    runs: dict[tuple[str, str, str], list[list[Any]]] = {}
    for system in work.params.systems.retention:
        scores = _scores(work, system)
        verdicts = _verdicts(work.read("retention", "observations") / system)
        for row in _observations(work.read("retention", "observations") / system):
            place = (row.edition, row.mode, row.policy_id, row.fact_id)
            cell = told[row.edition][row.policy_id, row.fact_id]
            fact = (cell.name, cell.category, wording[row.edition, row.fact_id])
            runs.setdefault((row.edition, system, row.mode), []).append(
                _cell(
                    [row.policy_id, facts.number("\n".join(fact))],
                    row,
                    scores[row.edition, row.mode, row.policy_id, cell.name],
                    verdicts.get(place),
                    (words, texts),
                )
            )
    return {
        "cell": CELL,
        "policies": policies,
        "facts": [fact.split("\n", 2) for fact in facts.values()],
        "words": words.values(),
        "texts": texts.values(),
        "runs": [
            {"edition": edition, "s": system, "mode": mode, "cells": cells}
            for (edition, system, mode), cells in sorted(runs.items())
        ],
    }


def _cell(
    start: list[Any],
    row: RetentionObservation,
    score: RetentionScore,
    verdict: RetentionVerdict | None,
    shared: tuple[Shared, Shared],
) -> list[Any]:
    words, texts = shared
    # Where the fact came back word for word, the row holds nothing else.
    results = [] if row.exact else texts.numbers(item.text for item in row.recalled)
    cell = [
        *start,
        score.score,
        words.number(score.expected),
        int(row.blocked),
        words.number(row.decided_by),
        score.recalled,
        None if score.reason is None else words.number(score.reason),
        row.n_recalled,
        row.rule and words.number(row.rule),
        row.guard_key,
        verdict and verdict.key,
        verdict and verdict.raw,
        results or None,
        1 if score.raised_cap else None,
    ]
    while cell[-1] is None:
        cell.pop()
    return cell


def _scores(work: Work, system: str) -> dict[tuple[str, str, str, str], RetentionScore]:
    rows = read_rows(work, f"scores/{system}.jsonl", RetentionScore)
    return {(row.edition, row.mode, row.policy_id, row.fact_id): row for row in rows}


def _observations(folder: Path) -> Iterator[RetentionObservation]:
    for name in ("rules", "model"):
        path = folder / f"{name}.jsonl"
        if name == "rules" or path.is_file():
            yield from read_records(path, RetentionObservation, hint="dvc repro")


def _verdicts(folder: Path) -> dict[tuple[str, str, str, str], RetentionVerdict]:
    path = folder / "verdicts.jsonl"
    rows = read_records(path, RetentionVerdict) if path.is_file() else []
    return {(row.edition, row.mode, row.policy_id, row.fact_id): row for row in rows}
