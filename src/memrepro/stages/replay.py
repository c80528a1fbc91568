"""Recorded replies in the place of calls, for every step that a model has a part in."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from memrepro.errors import ReplayMiss
from memrepro.llm.call import Call, Reply
from memrepro.llm.ledger import read_shard, resolve
from memrepro.params import Model, ModelStep, model_of
from memrepro.stages.declarations.base import shard_path
from memrepro.stages.work import Work

Find = Callable[[str], Reply | None]
T = TypeVar("T")


def call_settings(work: Work, step: ModelStep) -> tuple[Model, dict[str, Any]]:
    """A step's model, and what of it and of the step goes into every call."""
    model = model_of(work.params, step.model)
    return model, {"model": model.identity, "cap": step.cap, "temperature": model.temperature}


def replay(
    work: Work,
    benchmark: str,
    step: str,
    system: str,
    calls: Iterable[tuple[T, Call | None]],
    find: Find,
) -> Iterator[tuple[T, Reply | None, bool]]:
    """Each row with its reply, and whether that came under a raised cap; no call, no reply.

    Raises:
        ReplayMiss: replies are not recorded; counts them, and says how to record them.
    """
    total = missing = 0
    for row, call in calls:
        if call is None:
            yield row, None, False
            continue
        total += 1
        reply, raised = resolve(find, call)
        if reply is None:
            missing += 1
            continue
        yield row, reply, raised
    if missing:
        raise ReplayMiss(
            f"{missing} of {total} calls have no recorded reply",
            where=shard_path(work.params, benchmark, step, system),
            hint=f"memrepro record --dataset {work.params.dataset} --benchmark {benchmark} "
            f"--system {system}",
        )


def shard_of(work: Work, benchmark: str, step: str, system: str) -> Find:
    """Looks replies up in one shard.

    Raises:
        InputError: the shard is missing or malformed.
    """
    return read_shard(work.root / shard_path(work.params, benchmark, step, system)).get
