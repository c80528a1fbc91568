"""Limits: retries, budgets and rates, over clients in memory and over a real server."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tenacity import wait_none
from tenacity.wait import wait_fixed

from memrepro.errors import InputError, MemreproError, ServiceError, Stopped
from memrepro.llm.call import Call, Client, Failure, Reply, TransientError, failed
from memrepro.llm.limits import RETRY_AFTER_SECONDS, Budget, Rates, Retry, estimate_tokens
from memrepro.llm.openai import OpenAIClient
from memrepro.params import Model

from .fault_server import (
    CUT,
    HTML,
    OK,
    RESET,
    SILENT,
    Answer,
    Behaviour,
    completion,
    error,
    in_turn,
    serving,
)

CALL = Call("m", (("user", "Hello?"),), cap=10)
NOW = wait_none()


def reply(prompt_tokens: int | None, completion_tokens: int | None, text: str = "Yes.") -> Reply:
    return Reply(
        key="k",
        text=text,
        failure=None,
        detail=None,
        finish_reason="stop",
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        model=None,
    )


class Fake:
    """Answers with what it was given, in turn, the last for good; counts what is in flight."""

    def __init__(self, *outcomes: Reply | Exception, turns: int = 3) -> None:
        self.outcomes = outcomes
        self.turns = turns
        self.calls: list[Call] = []
        self.now = self.most = 0

    async def send(self, call: Call) -> Reply:
        outcome = self.outcomes[min(len(self.calls), len(self.outcomes) - 1)]
        self.calls.append(call)
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(self.turns):
            await asyncio.sleep(0)
        self.now -= 1
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


async def all_of(client: Client, calls: list[Call]) -> list[Reply | BaseException]:
    return await asyncio.gather(*(client.send(call) for call in calls), return_exceptions=True)


def samples(count: int, call: Call = CALL) -> list[Call]:
    return [replace(call, sample=sample) for sample in range(count)]


def one(_: Call) -> int:
    return 1


def none(_: Call) -> int:
    return 0


def over_server(
    behaviour: Behaviour | Answer,
    wrap: Callable[[Client], Client],
    calls: list[Call],
    timeout: float = 30.0,
) -> tuple[list[Reply | BaseException], Any]:
    async def ask(url: str) -> list[Reply | BaseException]:
        row = Model(identity="m", name="served", base_url=url, timeout=timeout)
        client = OpenAIClient("m", row, "")
        try:
            return await all_of(wrap(client), calls)
        finally:
            await client.close()

    with serving(behaviour) as server:
        outcomes = asyncio.run(ask(server.url))
    return outcomes, server


# ---------------------------------------------------------------------------- retry

FAULTS: dict[str, tuple[Answer, Failure]] = {
    "rate_limited": (error(429, "Slow down.", Retry_After="0"), "rate_limited"),
    "server_500": (error(500, "Oops."), "server"),
    "server_503": (error(503, "Overloaded."), "server"),
    "reset": (RESET, "connection"),
    "silent": (SILENT, "timeout"),
    "cut": (CUT, "connection"),
    "html": (HTML, "malformed"),
}


@pytest.mark.parametrize(("fault", "failure"), FAULTS.values(), ids=FAULTS)
def test_what_passes_is_sent_again_and_then_given_up(fault: Answer, failure: Failure) -> None:
    def behaviour(body: dict[str, Any], before: int) -> Answer:
        lasting = body["messages"][0]["content"] == "lasting"
        return fault if lasting or before < 2 else OK

    calls = [Call("m", (("user", name),), cap=9) for name in ("lasting", "passing", "also passing")]
    outcomes, server = over_server(
        behaviour, lambda client: Retry(client, 3, wait=NOW), calls, timeout=0.3
    )
    lasting, *passing = outcomes
    assert isinstance(lasting, Reply) and lasting.detail
    assert (lasting.key, lasting.failure, lasting.text) == (calls[0].key(), failure, None)
    # The other rows go on.
    assert [getattr(outcome, "text", outcome) for outcome in passing] == ["All good."] * 2
    assert server.prompts == {"lasting": 3, "passing": 3, "also passing": 3}


def test_only_what_may_pass_is_sent_again() -> None:
    for outcome in (InputError("no key"), ServiceError("no funds"), Stopped("no budget")):
        fake = Fake(outcome)
        with pytest.raises(type(outcome)):
            asyncio.run(Retry(fake, 5, wait=NOW).send(CALL))
        assert len(fake.calls) == 1
    rejected = Fake(failed("k", "parameter", "no"), reply(1, 1))
    assert asyncio.run(Retry(rejected, 5, wait=NOW).send(CALL)).failure == "parameter"
    assert len(rejected.calls) == 1


def test_the_last_failure_is_the_one_kept() -> None:
    fake = Fake(TransientError("server", "first"), TransientError("timeout", "last"))
    found = asyncio.run(Retry(fake, 2, wait=NOW).send(CALL))
    assert found == failed(CALL.key(), "timeout", "last")


def test_one_attempt_is_one_attempt() -> None:
    fake = Fake(TransientError("server", "no"), reply(1, 1))
    assert asyncio.run(Retry(fake, 1, wait=NOW).send(CALL)).failure == "server"
    assert len(fake.calls) == 1


@pytest.mark.parametrize(
    ("asked", "back_off", "slept"),
    [
        (None, 3.0, 3.0),
        (7.0, 3.0, 7.0),
        (2.0, 3.0, 3.0),
        (0.0, 0.0, 0.0),
        (3_600.0, 3.0, 120.0),
    ],
)
def test_how_long_it_waits(
    monkeypatch: pytest.MonkeyPatch, asked: float | None, back_off: float, slept: float
) -> None:
    naps: list[float] = []
    doze = asyncio.sleep

    async def sleep(seconds: float) -> None:
        naps.append(seconds)
        await doze(0)

    monkeypatch.setattr("memrepro.llm.limits.asyncio.sleep", sleep)
    fake = Fake(TransientError("rate_limited", "wait", asked), reply(1, 1), turns=0)
    asyncio.run(Retry(fake, 2, wait=wait_fixed(back_off)).send(CALL))
    assert naps == [slept]
    assert RETRY_AFTER_SECONDS == 120


def test_the_back_off_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    naps: list[float] = []
    doze = asyncio.sleep

    async def sleep(seconds: float) -> None:
        naps.append(seconds)
        await doze(0)

    monkeypatch.setattr("memrepro.llm.limits.asyncio.sleep", sleep)
    found = asyncio.run(Retry(Fake(TransientError("server", "no"), turns=0), 9).send(CALL))
    assert found.failure == "server"
    assert len(naps) == 8
    # 1, 2, 4 … seconds and up to one more, and never more than a minute.
    for nap, least in zip(naps, (1, 2, 4, 8, 16, 32, 60, 60), strict=True):
        assert least <= nap <= min(least + 1, 60)


def test_a_server_that_asks_for_time_gets_it() -> None:
    # Asked for 0.4 s, the first call comes back after one that began later and took 0.1 s.
    def behaviour(body: dict[str, Any], before: int) -> Answer:
        if body["messages"][0]["content"] == "limited" and before == 0:
            return error(429, "Wait.", Retry_After="0.4")
        return OK.after(0.1)

    done: list[str] = []

    class Noting:
        def __init__(self, client: Client) -> None:
            self._client = client

        async def send(self, call: Call) -> Reply:
            found = await self._client.send(call)
            done.append(call.messages[0][1])
            return found

    calls = [Call("m", (("user", name),), cap=9) for name in ("limited", "free")]
    outcomes, server = over_server(
        behaviour, lambda client: Noting(Retry(client, 2, wait=NOW)), calls
    )
    assert all(isinstance(outcome, Reply) and outcome.text for outcome in outcomes)
    assert server.prompts == {"limited": 2, "free": 1}
    assert done == ["free", "limited"]


# ---------------------------------------------------------------------------- budget


def test_what_is_spent_comes_from_the_usage() -> None:
    budget = Budget(Fake(reply(1_000, 500), reply(2_000, 0)), 1.0, 2.0, 8.0, one)
    asyncio.run(budget.send(CALL))
    assert budget.spent == 0.006  # 1,000 · 2 + 500 · 8 dollars a million
    asyncio.run(budget.send(CALL))
    assert budget.spent == 0.01


def test_the_limit_itself_may_be_spent() -> None:
    # Three times 0.1 is more than 0.3 in binary floating point.
    fake = Fake(reply(0, 1))
    budget = Budget(fake, 0.3, 0.0, 100_000.0, none)
    calls = samples(4, replace(CALL, cap=1))
    outcomes = asyncio.run(all_of(budget, calls))
    assert [type(outcome) for outcome in outcomes] == [Reply] * 3 + [Stopped]
    assert budget.spent == 0.3
    assert len(fake.calls) == 3


def test_stopped_says_what_to_do_and_sends_nothing() -> None:
    fake = Fake(reply(1, 1))
    with pytest.raises(Stopped) as caught:
        asyncio.run(Budget(fake, 0.000_001, 1.0, 1.0, one).send(CALL))
    assert fake.calls == []
    stopped = caught.value
    assert stopped.exit_code == 3
    assert stopped.where and stopped.hint
    assert "0.000001" in str(stopped.expected) and "0.000011" in str(stopped.found)


def test_calls_in_flight_are_waited_for_and_not_stopped() -> None:
    # Each may cost 11 and does cost 2 (millionths): 30 allow two at once, and all ten in the end.
    fake = Fake(reply(1, 1))
    budget = Budget(fake, 0.000_030, 1.0, 1.0, one)
    outcomes = asyncio.run(all_of(budget, samples(10)))
    assert all(isinstance(outcome, Reply) for outcome in outcomes)
    assert fake.most == 2
    assert budget.spent == 0.000_020


@pytest.mark.parametrize("limit", [0.0, 0.000_010, 0.000_011, 0.000_1, 0.000_557, 0.001])
def test_fifty_calls_in_flight_never_pass_the_limit(limit: float) -> None:
    costs = [reply(1, used) for used in (10, 0, 7, 10, 10, 3)] * 20
    fake = Fake(*costs)
    budget = Budget(fake, limit, 1.0, 1.0, one)
    outcomes = asyncio.run(all_of(budget, samples(50)))
    sent = [o for o in outcomes if isinstance(o, Reply)]
    assert all(isinstance(outcome, Reply | Stopped) for outcome in outcomes)
    paid = sum((o.prompt_tokens or 0) + (o.completion_tokens or 0) for o in sent)
    assert paid <= round(limit * 1_000_000)
    assert budget.spent == pytest.approx(paid / 1_000_000, abs=1e-12)
    assert len(fake.calls) == len(sent)
    # No call was stopped that still had room: each may cost 11.
    assert len(sent) == 50 or paid + 11 > round(limit * 1_000_000)


def test_fifty_calls_in_flight_over_a_server() -> None:
    def behaviour(body: dict[str, Any], before: int) -> Answer:
        used = 5 + int(body["messages"][0]["content"]) % 6
        done = completion("Yes.", prompt_tokens=20, completion_tokens=used).after(0.01)
        return error(500, "Oops.") if used == 7 and before == 0 else done

    calls = [Call("m", (("user", str(number)),), cap=10) for number in range(50)]
    made: list[Budget] = []

    def wrap(client: Client) -> Client:
        made.append(Budget(client, 0.000_700, 1.0, 1.0, lambda _: 20))
        return Retry(made[0], 3, wait=NOW)

    outcomes, server = over_server(behaviour, wrap, calls)
    replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
    stopped = [outcome for outcome in outcomes if isinstance(outcome, Stopped)]
    assert len(replies) + len(stopped) == 50 and replies and stopped
    paid = sum((r.prompt_tokens or 0) + (r.completion_tokens or 0) for r in replies)
    # Within the limit, and as close to it as one call's worst case.
    assert 700 - 30 < paid <= 700
    assert made[0].spent == pytest.approx(paid / 1_000_000, abs=1e-12)
    assert 1 < server.most <= 700 // 30


@pytest.mark.parametrize(
    ("outcome", "spent"),
    [
        (reply(None, None), 11),
        (reply(5, None), 11),
        (failed("k", "parameter", "no"), 0),
        (failed("k", "filtered", "no"), 11),
        (reply(1, 3).model_copy(update={"text": None, "failure": "length"}), 4),
        (TransientError("rate_limited", "no"), 0),
        (TransientError("server", "no"), 0),
        # These may have been answered, and paid for, all the same.
        (TransientError("timeout", "no"), 11),
        (TransientError("connection", "no"), 11),
        (TransientError("malformed", "no"), 11),
        (InputError("no key"), 0),
        (RuntimeError("a bug"), 11),
    ],
)
def test_what_a_call_without_usage_costs(outcome: Reply | Exception, spent: int) -> None:
    budget = Budget(Fake(outcome), 1.0, 1.0, 1.0, one)
    (found,) = asyncio.run(all_of(budget, [CALL]))
    assert found == outcome
    assert budget.spent == spent / 1_000_000


def test_a_call_that_is_cancelled_counts_and_lets_others_go() -> None:
    async def run() -> float:
        fake = Fake(reply(1, 1), turns=10_000)
        budget = Budget(fake, 0.000_022, 1.0, 1.0, one)
        first = [asyncio.create_task(budget.send(call)) for call in samples(3)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first[0].cancel()
        first[2].cancel()
        await asyncio.gather(*first, return_exceptions=True)
        return budget.spent

    # 11 for the one in flight, 2 for the one answered; the one that only waited costs nothing.
    assert asyncio.run(run()) == 0.000_013


def test_a_reservation_that_comes_free_lets_a_waiting_call_go() -> None:
    fake = Fake(TransientError("rate_limited", "no"), reply(1, 10))
    budget = Budget(fake, 0.000_011, 1.0, 1.0, one)
    first, second = asyncio.run(all_of(budget, samples(2)))
    assert isinstance(first, TransientError) and isinstance(second, Reply)
    assert fake.most == 1


def test_no_limit_still_counts() -> None:
    budget = Budget(Fake(reply(1, 1)), None, 1.0, 1.0, one)
    asyncio.run(all_of(budget, samples(20)))
    assert budget.spent == 0.000_040


# ---------------------------------------------------------------------------- rates


def test_no_rates_hold_nothing_back() -> None:
    fake = Fake(reply(1, 1))
    asyncio.run(all_of(Rates(fake, None, None, one), samples(30)))
    assert fake.most == 30


async def within(client: Client, calls: list[Call], seconds: float) -> int:
    """How many of the calls come back in so many seconds."""
    tasks = [asyncio.create_task(client.send(call)) for call in calls]
    done, pending = await asyncio.wait(tasks, timeout=seconds)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    return len([task.result() for task in done])  # raises what a call raised


def test_requests_a_minute() -> None:
    # Five at once; the sixth would take 12 s more.
    fake = Fake(reply(1, 1))
    assert asyncio.run(within(Rates(fake, 5, None, one), samples(20), 0.2)) == 5
    assert len(fake.calls) == 5


def test_tokens_a_minute_count_prompt_and_cap() -> None:
    # 11 tokens each: nine of them are 99.
    fake = Fake(reply(1, 1))
    assert asyncio.run(within(Rates(fake, None, 100, one), samples(20), 0.2)) == 9
    assert len(fake.calls) == 9


def test_a_call_larger_than_the_rate_is_sent_all_the_same() -> None:
    fake = Fake(reply(1, 1))
    huge = replace(CALL, cap=1_000_000)
    assert asyncio.run(within(Rates(fake, 10, 100, one), [huge], 10.0)) == 1


def test_a_held_back_call_is_sent_later() -> None:
    # 6,000 a minute are 100 a second: the bucket is emptied, then refills.
    fake = Fake(reply(1, 1))
    sent = asyncio.run(within(Rates(fake, 6_000, None, one), samples(6_020), 60.0))
    assert sent == 6_020


# ---------------------------------------------------------------------------- the estimate


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # Counts of cl100k_base in OpenAI's cookbook, "How to count tokens with tiktoken".
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
    ],
)
def test_the_estimate_is_not_below_a_tokenizer(text: str, tokens: int) -> None:
    # A chat format adds 3 or 4 tokens a message, and 3 for the reply.
    assert estimate_tokens(Call("m", (("user", text),), cap=1)) >= tokens + 7


def test_the_estimate_grows_with_all_that_is_sent() -> None:
    base = estimate_tokens(CALL)
    assert base == 18  # 6 bytes are 2 tokens, and 8 for the message and the whole
    assert estimate_tokens(replace(CALL, messages=(("user", "é" * 6),))) == 20
    assert estimate_tokens(replace(CALL, messages=CALL.messages * 2)) == 28
    assert estimate_tokens(replace(CALL, response_format={"type": "json_object"})) > base
    assert estimate_tokens(replace(CALL, cap=10_000)) == base


# ---------------------------------------------------------------------------- all together


def test_the_whole_stack_over_a_server() -> None:
    faults = [error(429, "Wait.", Retry_After="0"), RESET, error(503, "Busy."), CUT]

    def behaviour(body: dict[str, Any], before: int) -> Answer:
        number = int(body["messages"][0]["content"])
        return in_turn(faults[number % 4], OK)(body, before) if number % 3 == 0 else OK

    calls = [Call("m", (("user", str(number)),), cap=10) for number in range(60)]
    outcomes, server = over_server(
        behaviour,
        lambda client: Retry(Budget(Rates(client, 1_000, 100_000), 1.0, 1.0, 1.0), 4, wait=NOW),
        calls,
    )
    assert [o.key for o in outcomes if isinstance(o, Reply)] == [call.key() for call in calls]
    assert Counter(o.text for o in outcomes if isinstance(o, Reply)) == {"All good.": 60}
    assert server.total == 60 + 20


def test_every_limit_is_a_client() -> None:
    fake: Client = Fake(reply(1, 1))
    stack: Client = Retry(Budget(Rates(fake, None, None), None, 0.0, 0.0), 1)
    assert asyncio.run(stack.send(CALL)).text == "Yes."
    assert issubclass(Stopped, MemreproError)
