"""The released submission format: a row a task with the contexts and answers of a system."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class EvaluationTurn(BaseModel):
    """What a system showed and said for one query; further keys are allowed, as upstream."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    context: str
    answer: str


class Submission(BaseModel):
    """One row of a submission file; further keys are allowed, as upstream."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    task_id: int
    system: str = Field(min_length=1)
    config: dict[str, Any]
    naive: EvaluationTurn
    query: EvaluationTurn


@dataclass(frozen=True)
class Validation:
    """What a validator found: every error, and how many tasks have a valid row."""

    errors: tuple[str, ...]
    covered: int
    total: int


def validate_submission(
    rows: Iterable[tuple[int, Any]], task_ids: AbstractSet[int], *, allow_partial: bool
) -> Validation:
    """Check submission rows against the format and the edition's tasks.

    Each fault of a row is an error. A row whose task id is unknown, repeated or malformed is no
    coverage; without `allow_partial`, missing coverage is one error more.

    Args:
        rows: (line number, parsed JSON value).
        task_ids: the edition's task ids.
        allow_partial: accept rows for some of the tasks only.
    """
    errors: list[str] = []
    covered: set[int] = set()
    first_line: dict[int, int] = {}
    for line, value in rows:
        try:
            row = Submission.model_validate(value)
        except ValidationError as error:
            errors += _faults(error, line)
            continue
        if row.task_id not in task_ids:
            errors.append(f"line {line}, field task_id: {row.task_id} is no task of this edition")
        elif row.task_id in first_line:
            errors.append(
                f"line {line}, field task_id: {row.task_id} stands on line "
                f"{first_line[row.task_id]} already"
            )
        else:
            first_line[row.task_id] = line
            covered.add(row.task_id)
    missing = sorted(task_ids - covered)
    if missing and not allow_partial:
        shown = ", ".join(str(task_id) for task_id in missing[:10])
        more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
        errors.append(f"{len(missing)} of {len(task_ids)} tasks have no valid row: {shown}{more}")
    return Validation(tuple(errors), len(covered), len(task_ids))


def _faults(error: ValidationError, line: int) -> Iterator[str]:
    for fault in error.errors(include_url=False):
        field = ".".join(str(part) for part in fault["loc"]) or "row"
        yield f"line {line}, field {field}: {fault['msg']} (found {fault['input']!r:.80})"


def submission_row(
    task_id: int, system: str, config: dict[str, Any], turns: Sequence[tuple[str, str]]
) -> Submission:
    """A row from (context, answer) of the naive and of the indirect query, in this order."""
    naive, query = (EvaluationTurn(context=context, answer=answer) for context, answer in turns)
    return Submission(task_id=task_id, system=system, config=config, naive=naive, query=query)
