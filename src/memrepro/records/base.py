"""What all records share, and the rows of no single benchmark."""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["user", "assistant"]
SystemKind = Literal["memory", "control", "oracle"]
Status = Literal["scored", "judge_error", "answer_failed"]


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


class RecalledItem(Record):
    """A distinct recalled item (id and text), numbered by first appearance."""

    identity: ClassVar[tuple[str, ...]] = ("item",)
    item: int = Field(ge=0)
    id: str
    text: str
