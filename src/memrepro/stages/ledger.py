"""Every call of a dataset's pipeline beside its recorded reply."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memrepro.errors import ReplayMiss
from memrepro.llm.call import Call, Reply
from memrepro.llm.ledger import read_shard
from memrepro.params import Params
from memrepro.stages.declarations.base import shard_path
from memrepro.stages.steps import BENCHMARKS, recorded_names, step_calls, steps


class Use(NamedTuple):
    """A call, who makes it, and its recorded reply, if there is one."""

    benchmark: str
    step: str
    system: str
    call: Call
    reply: Reply | None


def recorded_calls(root: Path, params: Params) -> Iterator[Use]:
    """The calls of every system with recorded replies, calls with a raised cap among them.

    A step is left out where replies are missing that its calls hold.

    Raises:
        InputError: a stage output or a shard cannot be read.
    """
    for benchmark in BENCHMARKS:
        for system in recorded_names(params, benchmark):
            yield from _uses(root, params, benchmark, system)


def _uses(root: Path, params: Params, benchmark: str, system: str) -> Iterator[Use]:
    found: dict[str, Reply] = {}
    for step in steps(params, benchmark, system):
        path = root / shard_path(params, benchmark, step.name, system)
        if path.is_file():
            found |= read_shard(path)
        seen = set()
        try:
            for call in step_calls(root, params, step, system, found.get):
                key = call.key()
                if key in seen:
                    continue
                seen.add(key)
                reply = found.get(key)
                yield Use(benchmark, step.name, system, call, reply)
                if reply is not None and reply.failure == "length":
                    raised = call.with_raised_cap()
                    if raised.key() in found:
                        yield Use(benchmark, step.name, system, raised, found[raised.key()])
        except ReplayMiss:
            return
