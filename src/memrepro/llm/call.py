"""A call, its key, a reply, and the ways in which a call fails."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol

from memrepro.digest import sha256_value
from memrepro.records import Record

Failure = Literal[
    "empty",  # a reply without content
    "length",  # cut off at the token cap
    "refusal",  # the model declined
    "filtered",  # the vendor withheld it
    "parameter",  # the request was rejected as wrong
    "rate_limited",  # 429 until the retries were used up
    "server",  # 5xx until the retries were used up
    "connection",  # no connection, or one that was reset or cut in the middle of a body
    "timeout",
    "malformed",  # an answer that is no chat completion
]
# How often the cap is raised for a reply that it cut off: once, by this factor.
RAISED_CAP = 2


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model.

    Args:
        model: the model's declared identity, not its address.
        messages: (role, content) pairs in order.
        cap: how many tokens the reply may have.
        temperature: None sends none.
        response_format: the API's `response_format`, or None.
        sample: tells repeated calls of one prompt apart, from 0.
    """

    model: str
    messages: tuple[tuple[str, str], ...]
    cap: int
    temperature: float | None = None
    response_format: Mapping[str, Any] | None = None
    sample: int = 0

    def key(self) -> str:
        """SHA-256 of all that can change the reply; under it the reply is stored.

        Where the model is served and how patiently it is asked are not in it.
        """
        return sha256_value(
            {
                "model": self.model,
                "messages": self.messages,
                "parameters": {"cap": self.cap, "temperature": self.temperature},
                "response_format": self.response_format,
                "sample": self.sample,
            }
        )

    def with_raised_cap(self) -> "Call":
        """The same call with more room; a call of its own, under a key of its own."""
        return replace(self, cap=self.cap * RAISED_CAP)


class Reply(Record):
    """What came of a call: a text, or the type of its failure. A row of a shard.

    A failed reply has no text: `detail` keeps what was said or cut off.
    """

    identity: ClassVar[tuple[str, ...]] = ("key",)
    key: str
    text: str | None
    failure: Failure | None
    detail: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    model: str | None


class TransientError(Exception):
    """A failure that may pass; `retry_after` is the server's wish in seconds."""

    def __init__(self, failure: Failure, detail: str, retry_after: float | None = None) -> None:
        self.failure = failure
        self.detail = detail
        self.retry_after = retry_after
        super().__init__(f"{failure}: {detail}")


class Client(Protocol):
    """Something that sends calls; limits are clients round a client."""

    async def send(self, call: Call) -> Reply:
        """The reply, failed or not.

        Raises:
            TransientError: the same call may succeed a moment later.
            MemreproError: no call can succeed, or no more may be sent.
        """


def failed(key: str, failure: Failure, detail: str) -> Reply:
    """A reply that never came."""
    return Reply(
        key=key,
        text=None,
        failure=failure,
        detail=detail,
        finish_reason=None,
        prompt_tokens=None,
        completion_tokens=None,
        model=None,
    )
