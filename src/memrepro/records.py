"""Frozen rows that cross stages, and the JSON Schemas made from them.

Every record lists its identity fields first; files hold rows sorted by them (see `files`).
"""

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["user", "assistant"]
QueryKind = Literal["naive", "indirect"]
Condition = Literal["with_target", "without_target"]
SystemKind = Literal["memory", "control", "oracle"]
Status = Literal["scored", "judge_error", "answer_failed"]

QUERY_KINDS: tuple[QueryKind, ...] = ("naive", "indirect")
CONDITIONS: tuple[Condition, ...] = ("with_target", "without_target")


class Record(BaseModel):
    """A row: immutable, strictly typed, without unknown fields, without NaN."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="null"
    )
    identity: ClassVar[tuple[str, ...]] = ()


class Turn(Record):
    """One message as a memory system sees it: an opaque id, who spoke, the text as given."""

    id: str
    role: Role
    text: str


class Session(Record):
    """Turns of one conversation in order, under an opaque id."""

    id: str
    turns: tuple[Turn, ...]


class Recalled(Record):
    """One item that a memory system returned for a query."""

    id: str
    text: str


class VerifiedFile(Record):
    """An input file that was held to its pin before anything read it."""

    identity: ClassVar[tuple[str, ...]] = ("file",)
    file: str
    sha256: str


class InMindSession(Record):
    """A background session of InMind as `build` writes it."""

    identity: ClassVar[tuple[str, ...]] = ("session_index",)
    session_index: int = Field(ge=0)
    session_id: str
    turns: tuple[Turn, ...]


class InMindTask(Record):
    """What the memory side may see of a task: the target pair to inject and the two queries."""

    identity: ClassVar[tuple[str, ...]] = ("task_id",)
    task_id: int = Field(ge=0)
    injection_session_index: int = Field(ge=0)
    user_message: str
    assistant_message: str
    naive_query: str
    query: str


class InMindJudgeOnly(Record):
    """The judge-only fields of a task; never in a memory system's reach."""

    identity: ClassVar[tuple[str, ...]] = ("task_id",)
    task_id: int = Field(ge=0)
    domain: str
    user_message: str
    explanation: str
    entity_1: str | None
    entity_2: str | None
    relation: str | None


class InMindContext(Record):
    """What one system returned for one query of one task.

    `items` are the numbers of rows in the `RecalledItem` file beside it, in recall order; the
    context shown is their texts with a blank line between, and `context_sha256` is its digest.
    The two state digests are taken before and after the query.
    """

    identity: ClassVar[tuple[str, ...]] = ("task_id", "query_kind", "condition", "system")
    task_id: int = Field(ge=0)
    query_kind: QueryKind
    condition: Condition
    system: str
    items: tuple[int, ...]
    context_sha256: str
    state_before: str
    state_after: str


class RecalledItem(Record):
    """A distinct recalled item (id and text), numbered by first appearance."""

    identity: ClassVar[tuple[str, ...]] = ("item",)
    item: int = Field(ge=0)
    id: str
    text: str


class InMindAnswer(Record):
    """What a model answered on one context, or how its call failed.

    `key` is the recorded reply's; `raised_cap` says that it came under a higher token cap than the
    params set, a deviation.
    """

    identity: ClassVar[tuple[str, ...]] = ("task_id", "query_kind", "condition", "system")
    task_id: int = Field(ge=0)
    query_kind: QueryKind
    condition: Condition
    system: str
    status: str
    text: str | None
    key: str
    raised_cap: bool


class InMindVerdict(Record):
    """One judge's word on one query; the judge `verbatim` is the deterministic one.

    Of a judging model's verdict, `key` is the recorded reply's, and `raw` its text (or the type of
    its failure) where no score could be read. `raised_cap` says that this reply or the answer
    judged came under a raised token cap.
    """

    identity: ClassVar[tuple[str, ...]] = (
        "task_id",
        "query_kind",
        "condition",
        "system",
        "metric",
        "judge",
    )
    task_id: int = Field(ge=0)
    query_kind: QueryKind
    condition: Condition
    system: str
    metric: str
    judge: str
    status: Status
    score: int | None = Field(ge=0, le=1)
    key: str | None = None
    raw: str | None = None
    raised_cap: bool = False


class InMindScore(Record):
    """One scored item: ids and numbers only, so that it can be committed and compared."""

    identity: ClassVar[tuple[str, ...]] = ("system", "task_id", "condition", "metric")
    system: str
    task_id: int = Field(ge=0)
    domain: str
    condition: Condition
    metric: str
    status: Status
    score: int | None = Field(ge=0, le=1)
    raised_cap: bool


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
)


def schemas(kinds: Iterable[type[Record]]) -> dict[str, dict[str, Any]]:
    """JSON Schema of each kind of record, by its name."""
    return {
        record.__name__: {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **record.model_json_schema(),
        }
        for record in kinds
    }


# ---------------------------------------------------------------------------- retention policy

RetentionMode = Literal["none", "deterministic", "hybrid", "llm"]
Expected = Literal["drop", "store"]
# Who decided on a fact: nobody, the rules, the model, or the setting for where the model failed.
DecidedBy = Literal["nothing", "rules", "model", "undecided"]
RetentionStatus = Literal["scored", "judge_error", "undecided"]
RetentionReason = Literal[
    "not_blocked",  # prohibited, and kept at ingest
    "leaked_at_recall",  # prohibited, blocked or to be forgotten, and recalled all the same
    "over_blocked",  # permitted, and blocked
    "not_recalled",  # permitted, kept, and not found again
    "judge_error",  # the judge gave no verdict, and the outcome hangs on it
    "undecided",  # the guard's model gave no verdict
]


class PlantedWord(Record):
    """Another category's keyword inside an unrelated word: what substring rules stumble over."""

    category: str
    keyword: str
    inside: str


class RetentionFact(Record):
    """A sentence of a corpus: what it tells, and what keyword rules can see of it.

    `keyword` is the first keyword of its own category's rule that stands in it as a word; None is
    what word rules miss. `kind` is the way in which an evasion evades.
    """

    identity: ClassVar[tuple[str, ...]] = ("id",)
    id: str
    category: str
    text: str
    keyword: str | None
    planted: PlantedWord | None = None
    kind: str | None = None


class RetentionPolicy(Record):
    """One prohibition: the statement that a guard is given, and the category it prohibits."""

    identity: ClassVar[tuple[str, ...]] = ("id",)
    id: str
    statement: str
    category: str


class RetentionRow(Record):
    """One cell of a dataset: a fact under a policy. `id` is `<policy_id>/<fact id>`."""

    identity: ClassVar[tuple[str, ...]] = ("id",)
    id: str
    policy_id: str
    policy: str
    text: str
    category: str
    expected: Expected

    @property
    def fact_id(self) -> str:
        """The fact's part of the id."""
        return self.id.removeprefix(f"{self.policy_id}/")


class RetentionObservation(Record):
    """What became of one fact under one policy, in one system.

    `blocked`: it was not kept, or was forgotten when the policy was set. `rule` is the keyword
    that matched, `guard_key` that of the model call that decided or failed. `recalled` is what its
    own text brought back, `state` the memory's digest at that time.
    """

    identity: ClassVar[tuple[str, ...]] = ("edition", "mode", "policy_id", "fact_id", "system")
    edition: str
    mode: RetentionMode
    policy_id: str
    fact_id: str
    system: str
    blocked: bool
    decided_by: DecidedBy
    rule: str | None
    guard_key: str | None
    recalled: tuple[Recalled, ...]
    exact: bool
    state: str


class RetentionVerdict(Record):
    """A judging model's word on whether recalled results still convey a fact.

    `key` is the recorded reply's, `raw` its text (or the type of its failure) where no score could
    be read.
    """

    identity: ClassVar[tuple[str, ...]] = (
        "edition",
        "mode",
        "policy_id",
        "fact_id",
        "system",
        "judge",
    )
    edition: str
    mode: RetentionMode
    policy_id: str
    fact_id: str
    system: str
    judge: str
    status: Literal["scored", "judge_error"]
    score: int | None = Field(ge=0, le=1)
    key: str
    raw: str | None
    raised_cap: bool


class RetentionScore(Record):
    """One scored cell: ids and numbers only, so that it can be committed and compared.

    `recalled` is None where the judge failed; `reason` is None where the cell passed.
    """

    identity: ClassVar[tuple[str, ...]] = ("edition", "mode", "policy_id", "fact_id", "system")
    edition: str
    mode: RetentionMode
    policy_id: str
    fact_id: str
    system: str
    category: str
    expected: Expected
    blocked: bool
    decided_by: DecidedBy
    recalled: int | None = Field(ge=0, le=1)
    status: RetentionStatus
    score: int | None = Field(ge=0, le=1)
    reason: RetentionReason | None
    raised_cap: bool


RETENTION: tuple[type[Record], ...] = (
    RetentionRow,
    RetentionObservation,
    RetentionVerdict,
    RetentionScore,
)
