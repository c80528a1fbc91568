"""The stateful protocol: replay the history through a memory system, freeze it, ask both queries.

Source of the protocol: the paper's section on middle injection, and `inmind-middle-injection-v1` in
the released timeline files. Sessions before the injection session form a prefix that tasks share;
the target pair is appended at the end of the injection session; the rest follows; then the state is
frozen and both queries read it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memrepro.benchmarks.base import Memory
from memrepro.digest import sha256_text
from memrepro.errors import ProtocolError
from memrepro.records import (
    Condition,
    InMindSession,
    InMindTask,
    QueryKind,
    Recalled,
    Role,
    Session,
    Turn,
)


@dataclass(frozen=True)
class Observation:
    """What one query brought back, and the state's digest on both sides of it."""

    task_id: int
    query_kind: QueryKind
    condition: Condition
    recalled: tuple[Recalled, ...]
    context_sha256: str
    state_before: str
    state_after: str


Render = Callable[[Sequence[Recalled]], str]


class Reveal(Protocol):
    """How an oracle is given the target; a no-op for every other system."""

    def __call__(self, memory: Memory, turns: Sequence[Turn]) -> None:
        """Hand the target turns to the memory, if it is an oracle."""


def number_history(sessions: Sequence[InMindSession], task: InMindTask | None) -> list[Session]:
    """The history as a memory system sees it: opaque ids by place, the same with any target.

    With a task, its pair stands at the end of the injection session. Ids are running numbers, so
    that neither an id nor a gap between ids marks the pair.
    """
    history: list[Session] = []
    number = 0
    for session in sessions:
        spoken: list[tuple[Role, str]] = [(turn.role, turn.text) for turn in session.turns]
        if task is not None and session.session_index == task.injection_session_index:
            spoken += [("user", task.user_message), ("assistant", task.assistant_message)]
        turns = tuple(
            Turn(id=f"t{number + offset:05d}", role=role, text=text)
            for offset, (role, text) in enumerate(spoken)
        )
        number += len(turns)
        history.append(Session(id=f"s{session.session_index:04d}", turns=turns))
    return history


def chunk_history(sessions: Sequence[InMindSession], task: InMindTask | None) -> list[Session]:
    """The control's history: every background turn is a chunk, the target pair one more at the end.

    As in the paper's retrieval baselines: 486 turns and, as the 487th chunk, the pair as two lines
    that begin `User: ` and `Assistant: `; nothing is stateful about it.
    """
    chunks: list[tuple[Role, str]] = [
        (turn.role, turn.text) for session in sessions for turn in session.turns
    ]
    if task is not None:
        chunks.append(("user", f"User: {task.user_message}\nAssistant: {task.assistant_message}"))
    turns = tuple(
        Turn(id=f"t{number:05d}", role=role, text=text)
        for number, (role, text) in enumerate(chunks)
    )
    return [Session(id="s0000", turns=turns)]


def _ask(
    memory: Memory, task: InMindTask, condition: Condition, k: int, render: Render
) -> Iterator[Observation]:
    queries: Mapping[QueryKind, str] = {"indirect": task.query, "naive": task.naive_query}
    for kind, query in queries.items():
        before = memory.digest()
        recalled = tuple(memory.recall(query, k))
        after = memory.digest()
        if before != after:
            raise ProtocolError(
                f"the {kind} query of task {task.task_id} changed the memory's state",
                expected=f"state {before}",
                found=f"state {after}",
                hint="recall must only read; keep caches out of digest()",
            )
        yield Observation(
            task_id=task.task_id,
            query_kind=kind,
            condition=condition,
            recalled=recalled,
            context_sha256=sha256_text(render(recalled)),
            state_before=before,
            state_after=after,
        )


def remember(
    create: Callable[[], Memory],
    reveal: Reveal,
    sessions: Sequence[InMindSession],
    tasks: Sequence[InMindTask],
    k: int,
    *,
    render: Render,
    control: bool,
) -> Iterator[list[Observation]]:
    """Yield, task by task in the order given, the observations of both queries and conditions.

    The history without a target is the same for every task, so its state is built once and asked
    often; with a target, each task forks the state after the shared prefix.

    Args:
        create: makes an empty memory system.
        reveal: hands the target pair to an oracle.
        sessions: the background, in order.
        tasks: the tasks to run.
        k: items to recall for a query.
        render: turns recalled items into the context shown.
        control: replay as single chunks instead of sessions.

    Raises:
        ProtocolError: a query changed the state.
    """
    if not tasks:
        return
    arrange = chunk_history if control else number_history
    shared = 0 if control else tasks[0].injection_session_index
    without = arrange(sessions, None)
    prefix = create()
    for session in without[:shared]:
        prefix.ingest(session)
    untold = prefix.fork()
    for session in without[shared:]:
        untold.ingest(session)
    for task in tasks:
        told = prefix.fork()
        history = arrange(sessions, task)
        for session in history[shared:]:
            told.ingest(session)
        reveal(told, history[shared].turns[-2:])
        yield [
            *_ask(told, task, "with_target", k, render),
            *_ask(untold, task, "without_target", k, render),
        ]
