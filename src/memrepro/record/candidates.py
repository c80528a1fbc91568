"""Has a model propose new sentences for the retention corpus; the reply stays in the store."""

from collections.abc import Iterator
from pathlib import Path

from memrepro.benchmarks.retention.grow import parse_candidates
from memrepro.errors import InputError
from memrepro.llm.call import Call
from memrepro.llm.ledger import open_store, resolve
from memrepro.record import STORE
from memrepro.record.shard import Find, Progress, Terms, send_missing
from memrepro.stages.processes import hold_lock


def record_candidates(root: Path, call: Call, terms: Terms, progress: Progress) -> list[str]:
    """The sentences of a call's reply; the same call again sends nothing.

    Raises:
        InputError: the reply holds no list of sentences, or as `send_missing`.
        Stopped: the budget would be passed.
        ServiceError: the call failed, another growth runs, or the disk refuses.
    """

    def calls(_: Find) -> Iterator[Call]:
        yield call

    lock = root / ".memrepro/locks/grow.lock"
    with hold_lock(lock, "a growth of the corpus"), open_store(root / STORE) as store:
        send_missing("sentences", calls, store.get, store, terms, progress, all_may_fail=True)
        reply, _ = resolve(store.get, call)
    text = reply.text if reply is not None else None
    found = None if text is None else parse_candidates(text)
    if found is None:
        failure = reply.detail or reply.failure if reply is not None else None
        raise InputError(
            f"the reply of models.{terms.name} is no list of sentences",
            expected='{"sentences": ["…", …]}',
            found=repr(text)[:200] if text is not None else failure,
            hint="the same command with another --model or --count, or with --retry-failed",
        )
    return found
