import sys
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from memrepro.benchmarks.inmind.protocol import (
    PROMPTS,
    Expected,
    check_prompts,
    check_protocol,
    check_schema,
    count_background,
)

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["task_id", "domain"],
    "properties": {
        "task_id": {"type": "integer", "minimum": 0},
        "domain": {"$ref": "#/$defs/domain"},
        "note": {"type": ["string", "null"]},
        "text": {"type": "string", "minLength": 1},
    },
    "$defs": {"domain": {"type": "string", "enum": ["legal", "other"]}},
}
TASKS = [{"task_id": 0, "domain": "legal"}, {"task_id": 7, "domain": "other"}]


def turns(session: str, count: int) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [
        {"id": f"session-{session}-turn-{n}", "role": roles[n % 2], "content": "…"}
        for n in range(count)
    ]


BACKGROUND = [*turns("a", 3), *turns("b", 2), *turns("c-turn-1", 4)]
MANIFEST = count_background(BACKGROUND, 1)


def test_good_edition_has_no_problem() -> None:
    expected = Expected(domains={"legal": 1, "other": 1}, counts=MANIFEST)
    assert check_protocol(TASKS, BACKGROUND, MANIFEST, expected) == []
    assert MANIFEST["prefix_user_turns"] == 2
    assert MANIFEST["background_user_turns_before_target"] == 3
    assert MANIFEST["post_injection_sessions"] == 1


@pytest.mark.parametrize(
    ("background", "words"),
    [
        pytest.param(
            [*BACKGROUND[:3], *turns("a", 2), *BACKGROUND[3:]],
            "session session-a: two sessions with one id",
            id="two_sessions_with_one_id",
        ),
        pytest.param(
            [*BACKGROUND[:2], *BACKGROUND[3:], BACKGROUND[2]],
            "session session-a: stands in two places",
            id="session_in_two_places",
        ),
        pytest.param(
            BACKGROUND[:1] + BACKGROUND[2:],
            "session session-a: turn 1 is missing",
            id="turn_missing_within",
        ),
        pytest.param(
            BACKGROUND[:-1], "turns: the manifest says 9, found 8", id="last_turn_missing"
        ),
        pytest.param(
            [BACKGROUND[1], BACKGROUND[0], *BACKGROUND[2:]], "out of order", id="out_of_order"
        ),
        pytest.param([{**BACKGROUND[0], "id": 3}, *BACKGROUND[1:]], "field id", id="id_no_text"),
        pytest.param(["x", *BACKGROUND], "line 1: no object", id="no_object"),
    ],
)
def test_background_fault_is_named(background: list[Any], words: str) -> None:
    assert any(words in problem for problem in check_protocol(TASKS, background, MANIFEST))


@pytest.mark.parametrize("task_id", [True, "7", 7.0, None, 0])
def test_task_ids_are_unique_integers(task_id: Any) -> None:
    tasks = [TASKS[0], {"task_id": task_id, "domain": "other"}]
    problems = check_protocol(tasks, BACKGROUND, MANIFEST)
    assert len(problems) == 1 and problems[0].startswith("line 2, field task_id")


@pytest.mark.parametrize("index", [None, True, -1, 3])
def test_injection_index_must_be_a_session(index: Any) -> None:
    assert check_protocol(TASKS, BACKGROUND, {**MANIFEST, "injection_session_index": index})


def test_expected_counts_hold_beside_the_manifest() -> None:
    expected = Expected(domains={"legal": 2}, counts={**MANIFEST, "turns": 10})
    problems = check_protocol(TASKS, BACKGROUND, MANIFEST, expected)
    assert "turns: expected 10, found 9" in problems
    assert "domain legal: expected 2 tasks, found 1" in problems
    assert "domain other: expected 0 tasks, found 1" in problems


@pytest.mark.parametrize(
    "row",
    [
        *TASKS,
        {"task_id": 1, "domain": "legal", "note": None, "text": "x"},
        {"task_id": 1.0, "domain": "legal"},
        {"task_id": True, "domain": "legal"},
        {"task_id": -1, "domain": "legal"},
        {"task_id": 1, "domain": "Legal"},
        {"task_id": 1},
        {"task_id": 1, "domain": "legal", "more": 1},
        {"task_id": 1, "domain": "legal", "note": 2},
        {"task_id": 1, "domain": "legal", "text": ""},
        [],
        None,
    ],
)
def test_schema_check_says_what_jsonschema_says(row: Any) -> None:
    assert bool(check_schema([row], SCHEMA)) is not Draft202012Validator(SCHEMA).is_valid(row)


def test_unknown_schema_word_is_left_to_jsonschema() -> None:
    assert check_schema(["ab"], {"type": "string", "pattern": "^a$"})
    assert not check_schema(["a"], {"type": "string", "pattern": "^a$"})
    assert "jsonschema" in sys.modules


def test_prompt_placeholders() -> None:
    good = {role: "{context}" if role == "answer_system" else "Judge." for role in PROMPTS}
    assert check_prompts(good) == []
    assert check_prompts({**good, "answer_system": "{context}{context}"})
    assert check_prompts({**good, "judge_naive": "{context}"})
    assert check_prompts({role: good[role] for role in PROMPTS[1:]}) == ["answer_system: missing"]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/absent"},
        {"type": "strinf"},
        {"type": "string", "minLength": "x"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"additionalProperties": False, "properties": 3},
    ],
)
def test_unsound_schema_is_a_problem_and_no_crash(schema: dict[str, Any]) -> None:
    (problem,) = check_schema(["a"], schema)
    assert problem.startswith("the schema itself is unsound")
