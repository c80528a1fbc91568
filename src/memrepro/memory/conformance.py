"""What every memory system must do, as checks that any package can run on its own.

A check takes a factory, which gives a system in its empty state, and raises AssertionError where
the system breaks the protocol of `memory.base`. The checks across processes also take an executor
of other processes (a spawn pool of two workers, best under another PYTHONHASHSEED); for them the
factory must be picklable.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor

from memrepro.memory.base import MemorySystem, Oracle
from memrepro.records import Recalled, Session, Turn

Factory = Callable[[], MemorySystem]
Results = list[list[tuple[str, str]]]

K = 5
LONG_QUERY = ("I moved to Lisbon with my cello; which wine goes with walnuts? " * 1700)[:100_000]
QUERIES = (
    "Which instrument do I play?",
    "walnuts",
    "the of and",
    "zzyzx qwxv",
    "",
    "\n---TIMESTAMP: 2023/01/01 (Sun) 10:00",
    LONG_QUERY,
)


def sample_sessions() -> tuple[Session, ...]:
    """Sessions that hold what systems stumble over: equal, empty and token-free texts."""
    texts = (
        (
            "I play the cello in my spare time.\n---TIMESTAMP: 2023/01/01 (Sun) 10:00",
            "A fine instrument!",
        ),
        ("We moved to Lisbon last year. Is it hot there?", "It is.", "I am allergic to walnuts."),
        ("", "the of and", "I play the cello in my spare time.", "?!"),
        ("My sister visits us in May.", "A fine instrument!"),
        ("I am allergic to walnuts.", "Good to know."),
    )
    return tuple(_session(f"s{number}", group) for number, group in enumerate(texts))


def _session(name: str, texts: Sequence[str]) -> Session:
    return Session(
        id=name,
        turns=tuple(
            Turn(id=f"{name}-{number}", role="assistant" if number % 2 else "user", text=text)
            for number, text in enumerate(texts)
        ),
    )


EXTRA = _session("extra", ("I keep bees behind my house and play the cello.", "Lovely."))


def build(factory: Factory, sessions: Sequence[Session]) -> MemorySystem:
    """A system that took in these sessions; an oracle is shown the last turn of the last one."""
    system = factory()
    for session in sessions:
        system.ingest(session)
    if isinstance(system, Oracle) and sessions:
        system.reveal(sessions[-1].turns[-1:])
    return system


def observe(system: MemorySystem) -> Results:
    """Everything that recalls show: id and text of each item, for each query."""
    return [[(item.id, item.text) for item in system.recall(query, K)] for query in QUERIES]


def check_fork_independence(factory: Factory) -> None:
    """What one side takes in changes neither digest nor recall of the other, in both ways."""
    origin = build(factory, sample_sessions()[:3])
    for warm in (False, True):
        before = origin.digest()
        if warm:  # a shared cache filled before the fork must not tie the two together
            observe(origin)
        fork = origin.fork()
        assert type(fork) is type(origin), "a fork is of another type"
        assert fork.digest() == before, "a fork differs from its origin before any change"
        seen = observe(origin.fork())
        fork.ingest(EXTRA)
        if isinstance(fork, Oracle):
            fork.reveal(EXTRA.turns[:1])
        assert origin.digest() == before, "ingest into a fork changed the origin's digest"
        assert observe(origin) == seen, "ingest into a fork changed what the origin recalls"
    fork = origin.fork()
    digest, seen = fork.digest(), observe(fork)
    origin.ingest(EXTRA)
    origin.retain(Turn(id="fact", role="user", text="I sold my cello."))
    assert fork.digest() == digest, "ingest into the origin changed a fork's digest"
    assert observe(fork) == seen, "ingest into the origin changed what a fork recalls"


def check_recall_purity(factory: Factory) -> None:
    """Recalls, in any order and number, change neither the digest nor later recalls."""
    system = build(factory, sample_sessions())
    digest = system.digest()
    alone = {query: build(factory, sample_sessions()).recall(query, K) for query in QUERIES}
    for query in (*QUERIES, *reversed(QUERIES), *QUERIES[::2], QUERIES[0], QUERIES[0]):
        assert system.recall(query, K) == alone[query], f"an earlier recall changed {query[:40]!r}"
        assert system.digest() == digest, f"recall of {query[:40]!r} changed the digest"
    assert system.fork().digest() == digest, "a fork after recalls has another digest"


def check_digest(factory: Factory) -> None:
    """Equal histories give equal digests; one changed, moved or added thing gives another."""
    sessions = sample_sessions()
    digest = build(factory, sessions).digest()
    assert digest == build(factory, sessions).digest(), "two systems built alike differ in digest"
    seen = {digest: "the history itself"}
    for name, changed in _variants(sessions):
        other = build(factory, changed).digest()
        assert other not in seen, f"{name} has the digest of {seen[other]}"
        seen[other] = name
    retained = build(factory, sessions)
    if retained.retain(EXTRA.turns[0]):
        assert retained.digest() not in seen, "a retained fact did not change the digest"


def _variants(sessions: tuple[Session, ...]) -> list[tuple[str, tuple[Session, ...]]]:
    first, *_, last = sessions
    turns = last.turns
    edited = turns[0].model_copy(update={"text": "I am allergic to almonds."})
    renamed = turns[0].model_copy(update={"id": "another"})
    spoken = turns[0].model_copy(update={"role": "assistant"})
    return [
        ("nothing taken in", ()),
        ("one session less", sessions[:-1]),
        ("one session more", (*sessions, EXTRA)),
        ("one turn less", (*sessions[:-1], _with(last, turns[:1]))),
        ("one changed text", (*sessions[:-1], _with(last, (edited, *turns[1:])))),
        ("one changed id", (*sessions[:-1], _with(last, (renamed, *turns[1:])))),
        ("one changed role", (*sessions[:-1], _with(last, (spoken, *turns[1:])))),
        ("two turns in another order", (*sessions[:-1], _with(last, turns[::-1]))),
        ("two sessions in another order", (*sessions[1:], first)),
        (
            "another session boundary",
            (*sessions[:-2], _with(sessions[-2], sessions[-2].turns + turns)),
        ),
    ]


def _with(session: Session, turns: tuple[Turn, ...]) -> Session:
    return Session(id=session.id, turns=turns)


def check_items(factory: Factory) -> None:
    """Items are unique and held; at most k of them; equal texts come in order of ingestion."""
    sessions = sample_sessions()
    system = build(factory, sessions)
    place = {turn.id: number for number, turn in enumerate(_turns(sessions))}
    for query in QUERIES:
        every = system.recall(query, len(place))
        ids = [item.id for item in every]
        assert len(set(ids)) == len(ids), f"an item comes twice for {query[:40]!r}"
        _assert_equal_texts_in_order(every, place)
        for k in (0, 1, K):
            some = system.recall(query, k)
            if system.ignores_k:
                assert some == every, "a system that ignores k depends on it"
            else:
                assert len(some) <= k, f"{len(some)} items for k={k}"
                assert some == every[:k], f"the first {k} of more are others than those for k={k}"


def _turns(sessions: Sequence[Session]) -> list[Turn]:
    return [turn for session in sessions for turn in session.turns]


def _assert_equal_texts_in_order(items: Sequence[Recalled], place: dict[str, int]) -> None:
    last: dict[str, int] = {}
    for item in items:
        # An item that is part of a turn carries an id that begins with the turn's.
        number = place.get(item.id, place.get(item.id.partition("#")[0], -1))
        if number >= 0:
            assert last.get(item.text, -1) <= number, f"{item.text!r} is not in order of ingestion"
            last[item.text] = number


def check_empty_history(factory: Factory) -> None:
    """Nothing taken in: every recall gives nothing, and an empty session is no error."""
    system = factory()
    assert observe(system) == [[] for _ in QUERIES], "an empty system recalls something"
    system.ingest(Session(id="empty", turns=()))
    assert observe(system) == [[] for _ in QUERIES], "an empty session made something appear"


def check_view(factory: Factory) -> None:
    """A system is shown opaque id, role and text of a turn, id and turns of a session: no more."""
    assert set(Turn.model_fields) == {"id", "role", "text"}, "a turn tells more than it may"
    assert set(Session.model_fields) == {"id", "turns"}, "a session tells more than it may"
    assert factory().kind in ("memory", "oracle"), "a system is a memory or an oracle"


def check_other_process(factory: Factory, pool: Executor) -> None:
    """Another process, under another hash seed, builds the same digest and recalls the same."""
    sessions = sample_sessions()
    system = build(factory, sessions)
    here = (system.digest(), observe(system))
    there = pool.submit(_state, factory, len(sessions)).result()
    assert there[0] == here[0], "the digest differs in another process"
    assert there[1] == here[1], "recalls differ in another process"


def check_order_of_work(factory: Factory, pool: Executor) -> None:
    """States built one after another, shuffled, or by several workers are the same states."""
    sizes = range(len(sample_sessions()) + 1)
    serial = {size: _state(factory, size) for size in sizes}
    shuffled = sorted(sizes, key=lambda size: size * 5 % 7)
    assert {size: _state(factory, size) for size in shuffled} == serial, (
        "states depend on the order in which they are built"
    )
    jobs = {size: pool.submit(_state, factory, size) for size in shuffled}
    assert {size: job.result() for size, job in jobs.items()} == serial, (
        "states depend on the worker that builds them"
    )


def _state(factory: Factory, size: int) -> tuple[str, Results]:
    system = build(factory, sample_sessions()[:size])
    return system.digest(), observe(system)


CHECKS: tuple[Callable[[Factory], None], ...] = (
    check_fork_independence,
    check_recall_purity,
    check_digest,
    check_items,
    check_empty_history,
    check_view,
)
PROCESS_CHECKS: tuple[Callable[[Factory, Executor], None], ...] = (
    check_other_process,
    check_order_of_work,
)


def failures(factory: Factory, pool: Executor) -> dict[str, str]:
    """Names of the checks that a system fails, each with what it said; empty is conformant."""
    found: dict[str, str] = {}
    for check in CHECKS:
        try:
            check(factory)
        except AssertionError as error:
            found[check.__name__] = str(error)
    for process_check in PROCESS_CHECKS:
        try:
            process_check(factory, pool)
        except AssertionError as error:
            found[process_check.__name__] = str(error)
    return found
