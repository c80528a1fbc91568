"""Records one shard: sends the calls that have no reply, stores each reply as it comes, packs."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from memrepro.errors import InputError, MemreproError, ServiceError
from memrepro.llm.call import Call, Client, Reply
from memrepro.llm.ledger import Store, read_shard, write_shard
from memrepro.llm.limits import Budget, Rates, Retry, estimate_tokens
from memrepro.llm.openai import OpenAIClient
from memrepro.params import Model

Find = Callable[[str], Reply | None]


@dataclass
class Progress:
    """What a recording has come to so far; `show` is called after every reply.

    Of `total` calls of a step, `found` had a reply before; `done` were sent, some of them failed.
    """

    show: Callable[["Progress"], None]
    step: str = ""
    total: int = 0
    found: int = 0
    done: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    last: str = ""
    cost: float = 0.0

    def begin(self, step: str, *, total: int, missing: int) -> None:
        """Start counting a step."""
        self.step, self.total, self.found = step, total, total - missing
        self.done, self.failures = 0, Counter()
        self.show(self)

    def count(self, reply: Reply) -> None:
        """Count a call that has its last reply."""
        self.done += 1
        if reply.failure is not None:
            self.failures[reply.failure] += 1
            self.last = reply.detail or reply.failure
        self.show(self)


@dataclass(frozen=True)
class Terms:
    """On what terms calls are sent.

    Args:
        name: the model's row in `models`.
        model: that row.
        api_key: its server's key.
        budget: US dollars that may be spent, or None.
        retry_failed: send recorded failures again.
    """

    name: str
    model: Model
    api_key: str
    budget: float | None
    retry_failed: bool


class Pending(NamedTuple):
    """A call to send; one that is `final` is not sent again with a raised cap."""

    call: Call
    final: bool


def finder(store: Store, shard: Path) -> Find:
    """Looks a recorded reply up, in the working store first.

    The store is newer: the outcome of a failure that was sent again is only there.
    """
    packed = read_shard(shard) if shard.is_file() else {}
    return lambda key: store.get(key) or packed.get(key)


def pending(calls: Iterable[Call], find: Find, *, retry_failed: bool) -> Iterator[Pending]:
    """Each call without a good reply once: itself, or the one with a raised cap that it needs."""
    seen = set()
    for call in calls:
        key = call.key()
        if key in seen:
            continue
        seen.add(key)
        reply = find(key)
        if reply is None or (retry_failed and reply.failure is not None):
            yield Pending(call, final=False)
        elif reply.failure == "length" and find(call.with_raised_cap().key()) is None:
            yield Pending(call.with_raised_cap(), final=True)


def record_shard(
    shard: Path,
    step: str,
    calls: Callable[[Find], Iterator[Call]],
    store: Store,
    terms: Terms,
    progress: Progress,
) -> None:
    """Send every call that has no reply yet, and write the shard once all have one.

    Args:
        shard: the shard's file; what it holds already is not sent again.
        step: the step's name, for the progress shown.
        calls: makes the calls anew each time, given a look-up of recorded replies.
        store: the working store.
        terms: see there.
        progress: counts; its cost goes on from what it is.

    Raises:
        InputError: the server rejects the key, or the request before any call succeeded.
        Stopped: the budget would be passed; what came is stored.
        ServiceError: every call failed, or the disk refuses.
    """
    find = finder(store, shard)
    send_missing(step, calls, find, store, terms, progress)
    write_shard(shard, _packed(calls(find), find))


def send_missing(
    step: str,
    calls: Callable[[Find], Iterator[Call]],
    find: Find,
    store: Store,
    terms: Terms,
    progress: Progress,
    *,
    all_may_fail: bool = False,
) -> None:
    """Send every call that has no reply yet, and store each reply as it comes.

    Args:
        step: the step's name, for the progress shown.
        calls: makes the calls anew each time, given a look-up of recorded replies.
        find: that look-up; it must see what the store holds.
        store: the working store.
        terms: see there.
        progress: counts; its cost goes on from what it is.
        all_may_fail: that every call fails is no error, as where they are a few that failed before.

    Raises:
        InputError: the server rejects the key, or the request before any call succeeded.
        Stopped: the budget would be passed; what came is stored.
        ServiceError: every call failed, or the disk refuses.
    """

    def unsent() -> Iterator[Pending]:
        return pending(calls(find), find, retry_failed=terms.retry_failed)

    total = len({call.key() for call in calls(find)})
    progress.begin(step, total=total, missing=sum(1 for _ in unsent()))
    if progress.found < progress.total:
        asyncio.run(_Sender(store, terms, progress).run(unsent()))
        if not all_may_fail:
            _refuse_hopeless(terms, progress, ended=True)


def _packed(calls: Iterable[Call], find: Find) -> Iterable[Reply]:
    """What the calls came to, and nothing else."""
    replies: dict[str, Reply] = {}
    for call in calls:
        for one in (call, call.with_raised_cap()):
            key = one.key()
            reply = find(key)
            if reply is not None:
                replies[key] = reply
            if reply is None or reply.failure != "length":
                break
    return replies.values()


class _Sender:
    """Sends calls, so many at a time; the first error that no call gets past ends it."""

    def __init__(self, store: Store, terms: Terms, progress: Progress) -> None:
        self._store, self._terms, self._progress = store, terms, progress
        self._base = progress.cost
        self._error: MemreproError | None = None
        self._unwritten: list[Reply] = []
        self._writing = asyncio.Lock()

    async def run(self, unsent: Iterator[Pending]) -> None:
        terms, model = self._terms, self._terms.model
        network = OpenAIClient(terms.name, model, terms.api_key)
        rates = Rates(network, model.requests_per_minute, model.tokens_per_minute, estimate_tokens)
        budget = Budget(rates, terms.budget, model.price_input, model.price_output, estimate_tokens)
        client = Retry(budget, model.attempts)
        try:
            workers = (self._work(unsent, client, budget) for _ in range(model.concurrency))
            await asyncio.gather(*workers)
        finally:
            await network.close()
        if self._error is not None:
            raise self._error

    async def _work(self, unsent: Iterator[Pending], client: Client, budget: Budget) -> None:
        """Take calls until there are none, or a worker met an error; those in flight finish."""
        for call, final in unsent:
            if self._error is not None:
                return
            try:
                reply = await self._send(call, client, budget)
                if reply.failure == "length" and not final:
                    reply = await self._send(call.with_raised_cap(), client, budget)
                self._progress.count(reply)
                _refuse_hopeless(self._terms, self._progress)
            except MemreproError as error:
                self._error = self._error or error
                return

    async def _send(self, call: Call, client: Client, budget: Budget) -> Reply:
        reply = await client.send(call)
        await self._put(reply)
        self._progress.cost = self._base + budget.spent
        return reply

    async def _put(self, reply: Reply) -> None:
        """Have a reply on disk; replies that come during a commit share the next one."""
        self._unwritten.append(reply)
        async with self._writing:
            if self._unwritten:
                batch, self._unwritten = self._unwritten, []
                await asyncio.to_thread(self._store.put, batch)


def _refuse_hopeless(terms: Terms, progress: Progress, *, ended: bool = False) -> None:
    """Stop where every call so far failed alike: the rest would too, or all did.

    Raises:
        InputError: the server rejects a parameter of every call.
        ServiceError: all calls were sent, and all failed.
    """
    every = progress.failures.total() == progress.done > 0
    rejected = progress.failures["parameter"] == progress.done
    where = f"models.{terms.name} at {terms.model.base_url}"
    if every and rejected and (ended or progress.done >= terms.model.concurrency):
        raise InputError(
            "the model's server rejects the requests",
            where=where,
            found=progress.last,
            hint="correct the params, then run the same command with --retry-failed",
        )
    if every and ended:
        raise ServiceError(
            f"every one of {progress.done} calls failed",
            where=where,
            found=progress.last,
            hint="mend it, then run the same command with --retry-failed",
        )
