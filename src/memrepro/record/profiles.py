"""Has a model write the attributes of profiles: asks the working store first, sends the misses."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memrepro.benchmarks.cimemories.generate import (
    Outline,
    assemble,
    first_contexts,
    outlines,
)
from memrepro.benchmarks.cimemories.model_profiles import (
    ATTEMPTS,
    Order,
    order_call,
    orders,
    read_reply,
)
from memrepro.benchmarks.cimemories.profiles import Attribute
from memrepro.benchmarks.cimemories.tables import Tables
from memrepro.errors import InputError
from memrepro.llm.call import Call
from memrepro.llm.ledger import Store, open_store, resolve
from memrepro.record import STORE
from memrepro.record.shard import Find, Progress, Terms, send_missing
from memrepro.stages.processes import hold_lock

Told = list[tuple[str, Attribute]]


class Wanted(NamedTuple):
    """The profiles wanted: how many, with how many contexts each, from which tables and seed.

    `prompt` is what the model is told, `cap` how many tokens its replies may have.
    """

    tables: Tables
    profiles: int
    contexts: int
    seed: int
    prompt: str
    cap: int


def record_profiles(
    root: Path, wanted: Wanted, terms: Terms, progress: Progress
) -> list[dict[str, Any]]:
    """Profiles in the shape of the released file, their attributes written by a model.

    Raises:
        InputError: the tables hold too little; or as `write_attributes`.
        Stopped: as `write_attributes`.
        ServiceError: as `write_attributes`, or another generation runs.
    """
    tables, contexts = wanted.tables, wanted.contexts
    first_contexts(tables, contexts)  # before anything is paid for
    people = outlines(tables, profiles=wanted.profiles, seed=wanted.seed)
    lock = root / ".memrepro/locks/generate.lock"
    with hold_lock(lock, "a generation of profiles"), open_store(root / STORE) as store:
        told = write_attributes(people, wanted.prompt, wanted.cap, store, terms, progress)
    return [
        assemble(tables, one, attributes, contexts=contexts)
        for one, attributes in zip(people, told, strict=True)
    ]


def write_attributes(
    people: Sequence[Outline],
    prompt: str,
    cap: int,
    store: Store,
    terms: Terms,
    progress: Progress,
) -> list[Told]:
    """The attributes of every profile, each with its event, in the order of the outlines.

    Every order is asked for once; those whose reply is refused are asked again as another sample.
    With the same replies in the store the same ones are taken, and nothing is sent.

    Args:
        people: the profiles' outlines.
        prompt: what the model is told.
        cap: how many tokens a reply may have.
        store: the working store; every reply is there before it is read.
        terms: on what terms calls are sent.
        progress: counts.

    Raises:
        InputError: the last reply to an order was refused too; names the order and why. Or as
            `send_missing`.
        Stopped: the budget would be passed; what came is stored.
        ServiceError: every call failed, or the disk refuses.
    """
    every = orders(people)
    written: dict[Order, list[Attribute]] = {}
    refusals: dict[Order, InputError] = {}
    taken = defaultdict(list, {one.number: list(one.general) for one in people})
    for sample in range(ATTEMPTS):
        missing = {
            order: order_call(order, prompt, terms.model, cap=cap, sample=sample)
            for order in every
            if order not in written
        }
        if not missing:
            break
        _send(missing, sample, store, terms, progress)
        for order, call in missing.items():
            reply, _ = resolve(store.get, call)
            try:
                written[order] = read_reply(order, reply, taken[order.outline.number])
            except InputError as error:
                refusals[order] = error
                continue
            taken[order.outline.number] += written[order]
    refused = [order for order in every if order not in written]
    if refused:
        raise _refused(refused, refusals[refused[0]], terms)
    return [
        [
            (order.event, attribute)
            for order in every
            if order.outline.number == outline.number
            for attribute in written[order]
        ]
        for outline in people
    ]


def _send(
    missing: dict[Order, Call], sample: int, store: Store, terms: Terms, progress: Progress
) -> None:
    def calls(_: Find) -> Iterator[Call]:
        return iter(missing.values())

    step = "attributes" if sample == 0 else f"attributes, asked again ({sample})"
    send_missing(step, calls, store.get, store, terms, progress, all_may_fail=sample > 0)


def _refused(refused: Sequence[Order], last: InputError, terms: Terms) -> InputError:
    more = f"; {len(refused) - 1} more orders like it" if len(refused) > 1 else ""
    return InputError(
        f"{ATTEMPTS} replies of models.{terms.name} were refused, the last: {last.what}{more}",
        where=last.where,
        expected=last.expected,
        found=last.found,
        hint="the same command with another --model or --seed; or with --retry-failed, where calls "
        "failed that may now succeed",
    )
