"""Frozen rows that cross stages, and the JSON Schemas made from them.

Every record lists its identity fields first; files hold rows sorted by them (see `files`).
"""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from memrepro.records.base import (
    Recalled,
    RecalledItem,
    Record,
    Role,
    Session,
    Status,
    SystemKind,
    Turn,
    VerifiedFile,
)
from memrepro.records.cimemories import (
    CIMemoriesAnswer,
    CIMemoriesAttribute,
    CIMemoriesComposition,
    CIMemoriesContext,
    CIMemoriesCounts,
    CIMemoriesDomain,
    CIMemoriesLabels,
    CIMemoriesScore,
    CIMemoriesSelection,
    CIMemoriesStatement,
    CIMemoriesVerdict,
)
from memrepro.records.inmind import (
    CONDITIONS,
    QUERY_KINDS,
    Condition,
    InMindAnswer,
    InMindContext,
    InMindJudgeOnly,
    InMindScore,
    InMindSession,
    InMindTask,
    InMindVerdict,
    QueryKind,
)
from memrepro.records.retention import (
    DecidedBy,
    Expected,
    PlantedWord,
    RetentionFact,
    RetentionInput,
    RetentionJudgeOnly,
    RetentionMode,
    RetentionObservation,
    RetentionPolicy,
    RetentionReason,
    RetentionRow,
    RetentionScore,
    RetentionStatus,
    RetentionVerdict,
)

__all__ = [
    "CONDITIONS",
    "CROSSING",
    "QUERY_KINDS",
    "CIMemoriesAnswer",
    "CIMemoriesAttribute",
    "CIMemoriesComposition",
    "CIMemoriesContext",
    "CIMemoriesCounts",
    "CIMemoriesDomain",
    "CIMemoriesLabels",
    "CIMemoriesScore",
    "CIMemoriesSelection",
    "CIMemoriesStatement",
    "CIMemoriesVerdict",
    "Condition",
    "DecidedBy",
    "Expected",
    "InMindAnswer",
    "InMindContext",
    "InMindJudgeOnly",
    "InMindScore",
    "InMindSession",
    "InMindTask",
    "InMindVerdict",
    "PlantedWord",
    "QueryKind",
    "Recalled",
    "RecalledItem",
    "Record",
    "RetentionFact",
    "RetentionInput",
    "RetentionJudgeOnly",
    "RetentionMode",
    "RetentionObservation",
    "RetentionPolicy",
    "RetentionReason",
    "RetentionRow",
    "RetentionScore",
    "RetentionStatus",
    "RetentionVerdict",
    "Role",
    "Session",
    "Status",
    "SystemKind",
    "Turn",
    "VerifiedFile",
    "schemas",
]

CROSSING: tuple[type[Record], ...] = (
    VerifiedFile,
    InMindSession,
    InMindTask,
    InMindJudgeOnly,
    InMindContext,
    RecalledItem,
    InMindAnswer,
    InMindVerdict,
    InMindScore,
    CIMemoriesStatement,
    CIMemoriesContext,
    CIMemoriesComposition,
    CIMemoriesDomain,
    CIMemoriesAttribute,
    CIMemoriesLabels,
    CIMemoriesCounts,
    CIMemoriesSelection,
    CIMemoriesAnswer,
    CIMemoriesVerdict,
    CIMemoriesScore,
    RetentionInput,
    RetentionJudgeOnly,
    RetentionObservation,
    RetentionVerdict,
    RetentionScore,
)


def schemas(kinds: Iterable[type[BaseModel]]) -> dict[str, dict[str, Any]]:
    """JSON Schema of each kind of record, or of a file of them, by its name."""
    return {
        record.__name__: {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **record.model_json_schema(),
        }
        for record in kinds
    }
