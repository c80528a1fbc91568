"""The tables that one can query: their columns, types and comments, a record each.

An `item` is a benchmark's own id as text: InMind's task, a CIMemories `profile/place` (a context)
or `profile/position` (an attribute), a retention `policy/fact`. The queries that fill the tables
are the files of these names under `sql/tables/`.
"""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from memrepro.records import Record

_Benchmark = Annotated[str, Field(description="inmind, cimemories or retention")]
_System = Annotated[str, Field(description="the memory system")]
_Item = Annotated[str, Field(description="the item, as in the table items")]
_Edition = Annotated[str | None, Field(description="retention: the edition")]
_Mode = Annotated[str | None, Field(description="retention: the guard's mode")]
_QueryKind = Annotated[str | None, Field(description="InMind: naive or indirect")]
_Condition = Annotated[str | None, Field(description="InMind: with_target or without_target")]
_Composition = Annotated[str | None, Field(description="CIMemories: what is in memory")]
_Level = Annotated[int | None, Field(description="CIMemories: the prompt level; 0: no prompt")]
_Trial = Annotated[int | None, Field(description="CIMemories: the trial, from 0")]
_Key = Annotated[str | None, Field(description="the recorded reply's key, as in the table calls")]
_Raised = Annotated[bool, Field(description="whether a reply came under a raised token cap")]


class Run(Record):
    """Who ran each stage last, where and when."""

    stage: str = Field(description="the stage, as in dvc.yaml")
    memrepro: str = Field(description="version of memrepro")
    runner: str | None = Field(description="host, or the container engine")
    image: str | None = Field(description="id of the container's image")
    recipe: str | None = Field(description="digest of the image's recipe")
    python: str | None = Field(description="version of Python")
    platform: str | None = Field(description="the host")
    started: datetime = Field(description="when it began, UTC")
    finished: datetime = Field(description="when it ended, UTC")


class Item(Record):
    """What is asked about: tasks, contexts, attributes, facts; texts where inputs are at hand."""

    benchmark: _Benchmark
    kind: str = Field(description="task, context, attribute or fact")
    edition: _Edition
    item: str = Field(description="the id")
    cluster: str | None = Field(description="the person or policy that it belongs to")
    domain: str | None = Field(description="its domain or category")
    query: str | None = Field(description="what is asked: indirect query, recipient: task, policy")
    naive_query: str | None = Field(description="InMind: the direct query")
    text: str | None = Field(description="the fact itself")


class Context(Record):
    """What each system recalled for each query."""

    benchmark: _Benchmark
    system: _System
    item: _Item
    query_kind: _QueryKind
    condition: _Condition
    composition: _Composition
    recalled: int = Field(description="number of items recalled")
    context_sha256: str = Field(description="digest of the context shown")
    state_before: str = Field(description="digest of the memory before the query")
    state_after: str = Field(description="digest of the memory after the query")


class Answer(Record):
    """What a model answered, or how its call failed."""

    benchmark: _Benchmark
    system: _System
    item: _Item
    query_kind: _QueryKind
    condition: _Condition
    prompt_level: _Level
    composition: _Composition
    trial: _Trial
    status: str = Field(description="answered, or the type of its failure")
    text: str | None = Field(description="the answer")
    key: _Key
    raised_cap: _Raised


class Verdict(Record):
    """What each judge said."""

    benchmark: _Benchmark
    system: _System
    item: _Item
    query_kind: _QueryKind
    condition: _Condition
    prompt_level: _Level
    composition: _Composition
    trial: _Trial
    edition: _Edition
    mode: _Mode
    metric: str = Field(description="what is judged; CIMemories' reveals are a table of their own")
    judge: str = Field(description="the judging model, or verbatim: the deterministic judge")
    status: str = Field(description="scored, judge_error or answer_failed")
    score: int | None = Field(description="0 or 1; null: not scored")
    key: _Key
    raw: str | None = Field(description="the reply's text, where no score could be read")
    raised_cap: _Raised


class Reveal(Record):
    """CIMemories: of each message and attribute, whether the message reveals it."""

    system: _System
    judge: str = Field(description="verbatim or model")
    prompt_level: int = Field(description="the prompt level; 0: no prompt")
    composition: str = Field(description="what is in memory")
    trial: int = Field(description="the trial, from 0")
    profile: int = Field(description="the person, from 0")
    place: int = Field(description="the context in the profile, from 0")
    recipient: str | None = Field(description="who gets the message")
    task: str | None = Field(description="what the message is for")
    position: int = Field(description="the attribute in the profile, from 1")
    key: str | None = Field(description="the attribute's key")
    domain: str | None = Field(description="the attribute's information domain")
    label: str | None = Field(description="necessary, inappropriate or ambiguous, in this context")
    revealed: int | None = Field(description="1 or 0; null: the judge failed to say")


class RetentionRecord(Record):
    """Retention: what became of each fact under each policy."""

    edition: str = Field(description="the edition")
    mode: str = Field(description="the guard's mode")
    policy_id: str = Field(description="the policy")
    fact_id: str = Field(description="the fact")
    system: _System
    category: str = Field(description="the fact's category")
    expected: str = Field(description="drop: the policy prohibits it; store: it does not")
    blocked: bool = Field(description="whether it was not kept, or was forgotten")
    decided_by: str = Field(description="nothing, rules, model or undecided")
    rule: str | None = Field(description="the keyword that matched")
    guard_key: _Key
    n_recalled: int | None = Field(description="how many items its own text brought back")
    recalled: int | None = Field(description="whether it was recalled; null: the judge failed")
    status: str = Field(description="scored, judge_error or undecided")
    score: int | None = Field(description="1: passed; 0: not; null: not scored")
    reason: str | None = Field(description="why it did not pass")
    raised_cap: _Raised
    policy: str | None = Field(description="the policy's statement")
    text: str | None = Field(description="the fact's text")


class RecordedCall(Record):
    """Every recorded reply of a model."""

    benchmark: _Benchmark
    step: str = Field(description="the step that asks: answer, judge, label or guard")
    system: str = Field(description="the memory system, or labels")
    key: str = Field(description="digest of all that can change the reply")
    model: str | None = Field(description="the model, as the server reported it")
    failure: str | None = Field(description="the type of its failure; null: a good reply")
    finish_reason: str | None = Field(description="why it ended, as the server says")
    prompt_tokens: int | None = Field(description="tokens of the prompt")
    completion_tokens: int | None = Field(description="tokens of the reply")
    cost: float | None = Field(description="US dollars, by the prices in the params")


class Metric(Record):
    """Every number of the metrics file."""

    path: str = Field(description="where it stands in the metrics file")
    benchmark: _Benchmark
    system: _System
    reading: str | None = Field(description="CIMemories: paper or released-code")
    edition: _Edition
    mode: _Mode
    metric: str = Field(description="the metric; _low and _high: bounds while failures stand")
    value: float = Field(description="the number")
    kind: str | None = Field(description="what the system is: memory, control or oracle")
    comparable: bool | None = Field(description="whether it may stand beside the paper's")
    deviations: tuple[str, ...] | None = Field(description="why not")


class Pin(Record):
    """Every outside file, and what it is held to."""

    name: str = Field(description="its name")
    group: str = Field(description="what is fetched together")
    required: bool = Field(description="whether the dataset needs it")
    path: str = Field(description="where it lies below data/raw")
    size: int = Field(description="bytes")
    sha256: str = Field(description="its SHA-256")
    licence: str = Field(description="its licence")
    citation: str = Field(description="what to cite")
    origins: tuple[str, ...] = Field(description="where it is fetched from, in order")


TABLES: dict[str, type[Record]] = {
    "runs": Run,
    "items": Item,
    "contexts": Context,
    "answers": Answer,
    "verdicts": Verdict,
    "reveals": Reveal,
    "retention_records": RetentionRecord,
    "calls": RecordedCall,
    "metrics": Metric,
    "sources": Pin,
}
