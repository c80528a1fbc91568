"""InMind's rows."""

from typing import ClassVar, Literal

from pydantic import Field

from memrepro.records.base import Record, Status, Turn

QueryKind = Literal["naive", "indirect"]
Condition = Literal["with_target", "without_target"]
QUERY_KINDS: tuple[QueryKind, ...] = ("naive", "indirect")
CONDITIONS: tuple[Condition, ...] = ("with_target", "without_target")


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
