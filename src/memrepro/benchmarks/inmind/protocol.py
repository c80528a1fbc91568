"""InMind's protocol, checked over parsed rows: what the released manifest and paper promise.

A session is the part of a turn's id before the last `-turn-`; sessions are contiguous and number
their turns from 0. Pure: rows in, problems out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

PROMPTS = (
    "answer_system",
    "judge_naive",
    "judge_target_recall",
    "judge_application",
    "judge_answer_only",
)
_CONTEXT = "{context}"


class Expected(NamedTuple):
    """What an edition must have beside agreeing with its own manifest."""

    domains: Mapping[str, int]
    counts: Mapping[str, int]


FULL = Expected(
    domains={
        "health_and_wellness": 46,
        "professional_and_career": 26,
        "relationships": 16,
        "financial": 8,
        "legal": 7,
        "spirituality": 7,
        "consumer": 5,
        "parenting": 4,
        "personal_development": 3,
        "other": 3,
    },
    counts={
        "turns": 486,
        "sessions": 47,
        "user_turns": 240,
        "assistant_turns": 246,
        "injection_session_index": 8,
        "injection_session_number": 9,
        "phase_a_sessions": 8,
        "prefix_user_turns": 35,
        "injection_user_turn_locator": 40,
        "background_user_turns_before_target": 41,
        "post_injection_sessions": 38,
    },
)


def check_protocol(
    tasks: Sequence[Any],
    background: Sequence[Any],
    manifest: Mapping[str, Any],
    expected: Expected | None = None,
) -> list[str]:
    """All problems of an edition, none if it keeps the protocol."""
    return check_tasks(tasks, expected) + check_background(background, manifest, expected)


def check_tasks(tasks: Sequence[Any], expected: Expected | None = None) -> list[str]:
    """Task ids are unique integers (a boolean is none); the domains have the expected counts."""
    problems = []
    seen: set[int] = set()
    for number, task in enumerate(tasks, start=1):
        task_id = task.get("task_id") if isinstance(task, dict) else None
        if type(task_id) is not int:
            problems.append(f"line {number}, field task_id: expected an integer, found {task_id!r}")
        elif task_id in seen:
            problems.append(f"line {number}, field task_id: {task_id} stands twice")
        else:
            seen.add(task_id)
    if expected:
        domains = Counter(str(t.get("domain")) for t in tasks if isinstance(t, dict))
        problems += [
            f"domain {name}: expected {expected.domains.get(name, 0)} tasks, found {domains[name]}"
            for name in sorted({*expected.domains, *domains})
            if domains[name] != expected.domains.get(name, 0)
        ]
    return problems


def check_background(
    background: Sequence[Any], manifest: Mapping[str, Any], expected: Expected | None = None
) -> list[str]:
    """Sessions are whole, contiguous and distinct; every count agrees with the manifest."""
    problems = _turn_faults(background)
    if problems:
        return problems
    problems = _session_faults(background)
    index = manifest.get("injection_session_index")
    if type(index) is not int or index < 0:
        return [*problems, f"manifest, injection_session_index: no index: {index!r}"]
    counts = count_background(background, index)
    if index >= counts["sessions"]:
        problems.append(f"injection_session_index {index}: only {counts['sessions']} sessions")
    for name, found in counts.items():
        wanted = manifest.get(name)
        if type(wanted) is not int or wanted != found:
            problems.append(f"{name}: the manifest says {wanted!r}, found {found}")
        elif expected and expected.counts[name] != found:
            problems.append(f"{name}: expected {expected.counts[name]}, found {found}")
    return problems


def count_background(background: Sequence[Mapping[str, Any]], index: int) -> dict[str, int]:
    """The counts of the manifest's keys, with the target injected at the end of session `index`."""
    sessions = [list(turns) for _, turns in groupby(background, key=_session_id)]
    users = [sum(turn["role"] == "user" for turn in turns) for turns in sessions]
    before = sum(users[: index + 1])
    return {
        "turns": len(background),
        "sessions": len(sessions),
        "user_turns": sum(users),
        "assistant_turns": len(background) - sum(users),
        "injection_session_index": index,
        "injection_session_number": index + 1,
        "phase_a_sessions": index,
        "prefix_user_turns": sum(users[:index]),
        "injection_user_turn_locator": before - 1,
        "background_user_turns_before_target": before,
        "post_injection_sessions": len(sessions) - index - 1,
    }


def _session_id(turn: Mapping[str, Any]) -> str:
    return str(turn["id"]).rpartition("-turn-")[0]


def _turn_faults(background: Sequence[Any]) -> list[str]:
    problems = []
    for number, turn in enumerate(background, start=1):
        if not isinstance(turn, dict):
            problems.append(f"line {number}: no object")
            continue
        for field in ("id", "role", "content"):
            if type(turn.get(field)) is not str:
                found = turn.get(field)
                problems.append(f"line {number}, field {field}: expected a text, found {found!r}")
        session, _, turn_number = str(turn.get("id")).rpartition("-turn-")
        if not session or not (turn_number.isascii() and turn_number.isdigit()):
            problems.append(f"line {number}, field id: not <session>-turn-<n>: {turn.get('id')!r}")
        if turn.get("role") not in ("user", "assistant"):
            problems.append(f"line {number}, field role: {turn.get('role')!r}")
    return problems


def _session_faults(background: Sequence[Mapping[str, Any]]) -> list[str]:
    problems = []
    seen: set[str] = set()
    for session, turns in groupby(background, key=_session_id):
        if session in seen:
            problems.append(f"session {session}: stands in two places")
        seen.add(session)
        numbers = [int(turn["id"].rpartition("-turn-")[2]) for turn in turns]
        missing = sorted(set(range(max(numbers) + 1)) - set(numbers))
        if missing:
            problems.append(f"session {session}: turn {missing[0]} is missing")
        if len(set(numbers)) < len(numbers):
            problems.append(f"session {session}: two sessions with one id, or a turn twice")
        elif numbers != sorted(numbers):
            problems.append(f"session {session}: its turns are out of order")
    return problems


def check_prompts(prompts: Mapping[str, str]) -> list[str]:
    """`answer_system` holds `{context}` once; the judges' prompts are no templates."""
    problems = []
    for role in PROMPTS:
        if role not in prompts:
            problems.append(f"{role}: missing")
            continue
        wanted = 1 if role == "answer_system" else 0
        found = prompts[role].count(_CONTEXT)
        if found != wanted:
            problems.append(f"{role}: expected {_CONTEXT} {wanted} times, found {found}")
    return problems


def check_schema(rows: Iterable[Any], schema: Mapping[str, Any]) -> list[str]:
    """Every row against a JSON Schema (draft 2020-12).

    `jsonschema` has the word on every row that is not plainly valid; it is loaded for these only,
    because loading it takes longer than everything else that `verify` does.
    """
    doubtful = [
        (number, row) for number, row in enumerate(rows, start=1) if not _surely_valid(row, schema)
    ]
    if not doubtful:
        return []
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError, UnknownType
    from referencing.exceptions import Unresolvable

    validator = Draft202012Validator(schema)
    try:
        Draft202012Validator.check_schema(schema)
        return [
            f"line {number}, field {error.json_path.removeprefix('$.')}: {error.message[:200]}"
            for number, row in doubtful
            for error in validator.iter_errors(row)
        ]
    except (SchemaError, UnknownType, Unresolvable, RecursionError) as error:
        reason = str(error).split("\n", 1)[0][:200]
        return [f"the schema itself is unsound: {reason}"]


def _surely_valid(row: Any, schema: Mapping[str, Any]) -> bool:
    try:
        return _plainly_valid(row, schema, schema)
    except (TypeError, AttributeError, RecursionError):  # an unsound schema: not ours to judge
        return False


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "string": (str,),
    "integer": (int,),
    "null": (type(None),),
}
_SAID = {"$schema", "$id", "$defs", "title", "description"}


def _plainly_valid(value: Any, schema: Any, top: Mapping[str, Any]) -> bool:
    """Whether a value keeps a schema made of the few words below; any other word means no."""
    if not isinstance(schema, dict):
        return False
    return all(word in _SAID or _keeps(value, word, schema, top) for word in schema)


def _keeps(value: Any, word: str, schema: Mapping[str, Any], top: Mapping[str, Any]) -> bool:
    rule = schema[word]
    match word:
        case "$ref":
            name = str(rule).removeprefix("#/$defs/")
            return name in top.get("$defs", {}) and _plainly_valid(value, top["$defs"][name], top)
        case "type":
            names = rule if isinstance(rule, list) else [rule]
            return any(type(value) in _TYPES.get(name, ()) for name in names)
        case "enum":
            return type(value) is str and value in rule
        case "minLength":
            return type(value) is str and len(value) >= rule
        case "minimum":
            return type(value) is int and value >= rule
        case "required":
            return type(value) is dict and all(key in value for key in rule)
        case "additionalProperties":
            known = schema.get("properties", {}).keys()
            return rule is False and type(value) is dict and value.keys() <= known
        case "properties":
            return type(value) is dict and all(
                _plainly_valid(value[key], part, top) for key, part in rule.items() if key in value
            )
    return False
