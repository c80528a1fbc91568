"""The retention-policy benchmark's rows."""

from typing import ClassVar, Literal

from pydantic import Field

from memrepro.records.base import Recalled, Record

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


class RetentionInput(Record):
    """What a memory and its guard see of a cell; `fact_id` is a number and says nothing."""

    identity: ClassVar[tuple[str, ...]] = ("policy_id", "fact_id")
    policy_id: str
    fact_id: str
    policy: str
    text: str


class RetentionJudgeOnly(Record):
    """What only the scoring sees of a cell; `name` is the fact's id in the dataset."""

    identity: ClassVar[tuple[str, ...]] = ("policy_id", "fact_id")
    policy_id: str
    fact_id: str
    name: str
    category: str
    expected: Expected


class RetentionObservation(Record):
    """What became of one fact under one policy, in one system.

    `blocked`: it was not kept, or was forgotten when the policy was set. `rule` is the keyword
    that matched, `guard_key` that of the model call that decided or failed, `raised_cap` whether
    that one came under a raised token cap. Its own text brought back `n_recalled` items, in the
    memory of digest `state`; `recalled` are those with that very text, or all where none has it.
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
    raised_cap: bool
    n_recalled: int = Field(ge=0)
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

    `recalled` is None where the judge failed; `reason` is None where the cell passed. `raised_cap`:
    the guard's or the judge's reply came under a raised token cap.
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
