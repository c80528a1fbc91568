"""Limits on calls, each a client round a client: `Retry(Budget(Rates(client)))`."""

import asyncio
import json
from collections.abc import Callable
from fractions import Fraction

from aiolimiter import AsyncLimiter
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential_jitter,
)
from tenacity.wait import wait_base

from memrepro.errors import MemreproError, Stopped
from memrepro.llm.call import Call, Client, Reply, TransientError, failed

Estimate = Callable[[Call], int]

# The longest that a server's Retry-After is waited for.
RETRY_AFTER_SECONDS = 120.0
_BACK_OFF = wait_exponential_jitter(max=60)
# Roughly what a chat format puts round every message, and round all of them.
_MESSAGE_TOKENS = 8
_BYTES_PER_TOKEN = 3
# Requests that were turned down; any other failure may have been paid for.
_UNPAID = frozenset({"rate_limited", "server", "parameter"})


def estimate_tokens(call: Call) -> int:
    """Tokens of a call's prompt, rather too many: English text has four bytes a token, not three.

    Scripts that a tokenizer hardly knows can have more.
    """
    size = sum(len(content.encode("utf-8")) for _, content in call.messages)
    if call.response_format is not None:
        size += len(json.dumps(call.response_format))
    return -(-size // _BYTES_PER_TOKEN) + _MESSAGE_TOKENS * (len(call.messages) + 1)


class Rates:
    """Holds calls back to so many requests and tokens a minute; None is no limit.

    A call counts its estimated prompt and its whole cap, as vendors count it. After a pause a
    minute's worth may go at once.

    Args:
        client: what sends.
        requests_per_minute: how many calls a minute.
        tokens_per_minute: how many tokens a minute; a larger call counts as so many.
        estimate: the tokens of a call's prompt.
    """

    def __init__(
        self,
        client: Client,
        requests_per_minute: int | None,
        tokens_per_minute: int | None,
        estimate: Estimate = estimate_tokens,
    ) -> None:
        self._client = client
        self._requests = AsyncLimiter(requests_per_minute) if requests_per_minute else None
        self._tokens = AsyncLimiter(tokens_per_minute) if tokens_per_minute else None
        self._estimate = estimate

    async def send(self, call: Call) -> Reply:
        """Send when both rates allow it; raises what the client raises."""
        if self._tokens:
            # The limiter refuses more than it ever holds: such a call waits for all of it.
            tokens = min(self._estimate(call) + call.cap, self._tokens.max_rate)
            await self._tokens.acquire(tokens)
        if self._requests:
            await self._requests.acquire()
        return await self._client.send(call)


class Budget:
    """Sends only what cannot pass a limit in money, even if every call in flight costs its most.

    A call's most is its estimated prompt and its whole cap. What it cost replaces that once the
    usage is known; without usage it stays, unless the server turned the request down. The limit
    holds as far as no prompt has more tokens than estimated.

    Args:
        client: what sends.
        limit: US dollars, or None for no limit.
        price_input: US dollars a million prompt tokens.
        price_output: US dollars a million completion tokens.
        estimate: the tokens of a call's prompt.
    """

    def __init__(
        self,
        client: Client,
        limit: float | None,
        price_input: float,
        price_output: float,
        estimate: Estimate = estimate_tokens,
    ) -> None:
        self._client = client
        self._limit = None if limit is None else _exact(limit)
        self._price_input = _exact(price_input) / 1_000_000
        self._price_output = _exact(price_output) / 1_000_000
        self._estimate = estimate
        self._spent = self._reserved = Fraction(0)
        self._settled = asyncio.Event()

    @property
    def spent(self) -> float:
        """US dollars so far, without calls in flight."""
        return float(self._spent)

    async def send(self, call: Call) -> Reply:
        """Send, after waiting for calls in flight if only they are in the way.

        Raises:
            Stopped: this call could pass the limit; nothing was sent.
            TransientError: as the client.
            MemreproError: as the client.
        """
        most = self._cost(self._estimate(call), call.cap)
        await self._reserve(most)
        cost = most
        try:
            reply = await self._client.send(call)
            cost = self._cost_of(reply, most)
        except TransientError as error:
            cost = Fraction(0) if error.failure in _UNPAID else most
            raise
        except MemreproError:
            cost = Fraction(0)
            raise
        finally:
            self._settle(most, cost)
        return reply

    async def _reserve(self, most: Fraction) -> None:
        while self._limit is not None and self._spent + self._reserved + most > self._limit:
            if self._spent + most > self._limit:
                raise self._stopped(most, self._limit)
            await self._settled.wait()
        self._reserved += most

    def _settle(self, most: Fraction, cost: Fraction) -> None:
        self._reserved -= most
        self._spent += cost
        self._settled.set()
        self._settled = asyncio.Event()

    def _cost(self, prompt_tokens: int, completion_tokens: int) -> Fraction:
        return prompt_tokens * self._price_input + completion_tokens * self._price_output

    def _cost_of(self, reply: Reply, most: Fraction) -> Fraction:
        if reply.prompt_tokens is not None and reply.completion_tokens is not None:
            return self._cost(reply.prompt_tokens, reply.completion_tokens)
        return Fraction(0) if reply.failure in _UNPAID else most

    def _stopped(self, most: Fraction, limit: Fraction) -> Stopped:
        return Stopped(
            "the next call could pass the budget; it was not sent",
            where="budget",
            expected=f"at most {_dollars(limit)}",
            found=f"{_dollars(self._spent)} spent, and up to {_dollars(most)} for the next call",
            hint="raise the budget and run the same command again: what is recorded is not resent",
        )


def _exact(dollars: float) -> Fraction:
    """An amount as it is written: sums of 0.1 must not pass 0.3 by a rounding."""
    return Fraction(str(dollars))


def _dollars(amount: Fraction) -> str:
    return f"{float(amount):.6f} US dollars"


class Retry:
    """Sends again what may succeed a moment later, and turns what never does into failed replies.

    Args:
        client: what sends.
        attempts: how often a call is sent at most.
        wait: how long to back off; a server that asks for more gets it, up to
            `RETRY_AFTER_SECONDS`.
    """

    def __init__(self, client: Client, attempts: int, wait: wait_base = _BACK_OFF) -> None:
        self._client = client
        self._attempts = attempts
        self._wait = wait

    async def send(self, call: Call) -> Reply:
        """The reply; after the last attempt a failed one of the last failure's kind.

        Raises:
            MemreproError: as the client; nothing is sent again after one.
        """
        # One for each call: it keeps state while it runs.
        retrying = AsyncRetrying(
            sleep=asyncio.sleep,
            stop=stop_after_attempt(self._attempts),
            wait=self._pause,
            retry=retry_if_exception_type(TransientError),
            reraise=True,
        )
        try:
            return await retrying(self._client.send, call)
        except TransientError as error:
            return failed(call.key(), error.failure, error.detail)

    def _pause(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, TransientError) else None
        return max(self._wait(state), min(asked or 0.0, RETRY_AFTER_SECONDS))
