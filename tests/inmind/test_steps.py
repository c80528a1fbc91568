"""InMind's steps on a small hand-made history."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from memrepro.benchmarks.inmind.build import build_sessions, build_tasks, session_id
from memrepro.benchmarks.inmind.judge import judge_verbatim, normalise
from memrepro.benchmarks.inmind.remember import chunk_history, number_history, remember
from memrepro.benchmarks.inmind.score import score
from memrepro.errors import ProtocolError
from memrepro.memory.base import MemorySystem, Resources, render
from memrepro.memory.full_context import FullContext
from memrepro.records import (
    InMindContext,
    InMindJudgeOnly,
    InMindSession,
    InMindTask,
    Recalled,
    RecalledItem,
    Session,
    Turn,
)


def session(index: int, *texts: str) -> InMindSession:
    turns = tuple(Turn(id=f"x{index}-{n}", role="user", text=text) for n, text in enumerate(texts))
    return InMindSession(session_index=index, session_id=f"x{index}", turns=turns)


SESSIONS = [session(0, "zero a", "zero b"), session(1, "one a"), session(2, "two a", "two b")]
TASK = InMindTask(
    task_id=7,
    injection_session_index=1,
    user_message="I keep bees.",
    assistant_message="Noted.",
    naive_query="What do I keep?",
    query="Where should the neighbour spray?",
)


def test_session_id_is_what_stands_before_the_last_turn_mark() -> None:
    assert session_id("session-a-turn-b_2-turn-13") == "session-a-turn-b_2"


def test_the_target_stands_at_the_end_of_the_injection_session() -> None:
    history = number_history(SESSIONS, TASK)
    assert [[turn.text for turn in one.turns] for one in history] == [
        ["zero a", "zero b"],
        ["one a", "I keep bees.", "Noted."],
        ["two a", "two b"],
    ]


def test_ids_are_running_numbers_with_and_without_a_target() -> None:
    for task, count in ((TASK, 7), (None, 5)):
        ids = [turn.id for one in number_history(SESSIONS, task) for turn in one.turns]
        assert ids == [f"t{number:05d}" for number in range(count)]


def test_the_control_adds_the_pair_as_one_chunk_at_the_end() -> None:
    (chunks,) = chunk_history(SESSIONS, TASK)
    assert [turn.text for turn in chunks.turns] == [
        "zero a",
        "zero b",
        "one a",
        "two a",
        "two b",
        "User: I keep bees.\nAssistant: Noted.",
    ]


def no_reveal(memory: object, turns: Sequence[Turn]) -> None:
    del memory, turns


def test_both_queries_read_one_frozen_state_and_conditions_differ(tmp_path: Path) -> None:
    ((*seen,),) = remember(
        lambda: FullContext(Resources(tmp_path)),
        no_reveal,
        SESSIONS,
        [TASK],
        5,
        render=render,
        control=False,
    )
    states = {
        (one.condition, digest) for one in seen for digest in (one.state_before, one.state_after)
    }
    assert len(seen) == 4
    assert len(states) == 2
    assert len({digest for _, digest in states}) == 2
    told = next(one for one in seen if one.condition == "with_target")
    assert render(told.recalled) == (
        "zero a\n\nzero b\n\none a\n\nI keep bees.\n\nNoted.\n\ntwo a\n\ntwo b"
    )


class Remembering(FullContext):
    """A system that takes its queries in: what the protocol forbids."""

    def recall(self, query: str, k: int) -> list[Recalled]:
        turn = Turn(id=f"q{len(self.history.turns)}", role="user", text=query)
        self.ingest(Session(id="q", turns=(turn,)))
        return super().recall(query, k)


def test_a_query_that_changes_the_state_is_refused(tmp_path: Path) -> None:
    def create() -> MemorySystem:
        return Remembering(Resources(tmp_path))

    with pytest.raises(ProtocolError, match="indirect query of task 7 changed"):
        list(remember(create, no_reveal, SESSIONS, [TASK], 5, render=render, control=False))


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (["so: I KEEP\u2028bees."], 1),  # case and white space do not count
        (["I keep", "bees."], 1),  # the blank line between items is white space too
        (["I keep bee"], 0),
        (["Ikeep bees."], 0),
        ([], 0),
    ],
)
def test_verbatim_judge(context: list[str], expected: int) -> None:
    items = [RecalledItem(item=n, id=f"t{n}", text=text) for n, text in enumerate(context)]
    row = InMindContext(
        task_id=7,
        query_kind="indirect",
        condition="with_target",
        system="s",
        items=tuple(range(len(items))),
        context_sha256="",
        state_before="",
        state_after="",
    )
    (verdict,) = judge_verbatim([row], items, [TASK])
    assert (verdict.metric, verdict.score) == ("target_recall_verbatim", expected)
    assert normalise(TASK.user_message) == "i keep bees."
    domain = InMindJudgeOnly(
        task_id=7,
        domain="other",
        user_message="",
        explanation="",
        entity_1=None,
        entity_2=None,
        relation=None,
    )
    (scored,) = score([verdict], [domain])
    assert (scored.domain, scored.score) == ("other", expected)


def test_build_keeps_judge_only_fields_apart() -> None:
    row = {
        "task_id": 7,
        "domain": "other",
        "entity_1": "bees",
        "entity_2": None,
        "relation": "r",
        "explanation": "SECRET",
        "user_message": "u",
        "assistant_message": "a",
        "naive_query": "n",
        "query": "q",
        "provenance": {"source_dataset": "SECRET"},
    }
    (visible,), (judge_only,) = build_tasks([row], 2)
    assert "SECRET" not in visible.model_dump_json()
    assert judge_only.explanation == "SECRET"
    background = [
        {"id": f"session-a_{s}-turn-{n}", "role": "user", "content": f"{s}{n}"}
        for s in (1, 2)
        for n in (0, 1)
    ]
    sessions = build_sessions(background)
    assert [(one.session_id, len(one.turns)) for one in sessions] == [
        ("session-a_1", 2),
        ("session-a_2", 2),
    ]
