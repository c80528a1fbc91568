"""Selection: the statements of a profile that a memory system returns for a recipient and a task.

Every attribute's statement is retained as a fact of its own, in the profile's order; the query is
`<recipient>: <task>`. The state is built once for every set of attributes and asked for each of its
contexts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from memrepro.benchmarks.base import FactMemory
from memrepro.digest import sha256_text
from memrepro.errors import ProtocolError
from memrepro.records import (
    CIMemoriesComposition,
    CIMemoriesContext,
    CIMemoriesSelection,
    CIMemoriesStatement,
    Recalled,
    Turn,
)

Render = Callable[[Sequence[Recalled]], str]
# Hands a system its input of its own for a context, if it has one, and gives back what is asked:
# the system itself, or a fork of it. The facts are given by position.
Prepare = Callable[[FactMemory, CIMemoriesContext, Mapping[int, Turn]], FactMemory]


def query(context: CIMemoriesContext) -> str:
    """What a memory system is asked for a context."""
    return f"{context.recipient}: {context.task}"


def select(
    create: Callable[[], FactMemory],
    prepare: Prepare,
    statements: Sequence[CIMemoriesStatement],
    contexts: Sequence[CIMemoriesContext],
    compositions: Sequence[CIMemoriesComposition],
    k: int,
    *,
    system: str,
    render: Render,
) -> Iterator[CIMemoriesSelection]:
    """Ask a system for every context and composition of one profile.

    Args:
        create: makes an empty memory system.
        prepare: see there.
        statements: the profile's, in order.
        contexts: the profile's.
        compositions: which statements are in memory for each context.
        k: statements to recall.
        system: the system's name, for the rows.
        render: turns recalled statements into the context shown.

    Raises:
        ProtocolError: a query changed the state, or an item came back that was never taken in.
    """
    places = {context.place: context for context in contexts}
    texts = {row.position: row.statement for row in statements}
    sets: dict[tuple[int, ...], list[CIMemoriesComposition]] = {}
    for row in compositions:
        sets.setdefault(row.positions, []).append(row)
    for positions, rows in sets.items():
        # Running numbers: a gap would tell which attributes were left out.
        facts = {
            position: Turn(id=f"m{number:04d}", role="user", text=texts[position])
            for number, position in enumerate(positions)
        }
        memory = create()
        for fact in facts.values():
            memory.retain(fact)
        numbers = {fact.id: position for position, fact in facts.items()}
        for row in rows:
            context = places[row.place]
            asked = prepare(memory, context, facts)
            before = asked.digest()
            recalled = asked.recall(query(context), k)
            after = asked.digest()
            if before != after or not {item.id for item in recalled} <= numbers.keys():
                raise _fault(context, before == after)
            yield CIMemoriesSelection(
                profile=row.profile,
                place=row.place,
                composition=row.composition,
                system=system,
                positions=tuple(numbers[item.id] for item in recalled),
                context_sha256=sha256_text(render(recalled)),
                state_before=before,
                state_after=after,
            )


def _fault(context: CIMemoriesContext, same_state: bool) -> ProtocolError:
    what = "an item came back that was never retained" if same_state else "the state changed"
    return ProtocolError(
        f"{what} at context {context.place} of profile {context.profile}",
        hint="recall must only read, and return retained facts under their ids",
    )
