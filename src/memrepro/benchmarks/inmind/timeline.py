"""The released timeline file format (`inmind-middle-injection-v1`), byte for byte."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from memrepro.benchmarks.inmind.build import session_id

PROTOCOL_NAME = "inmind-middle-injection-v1"
QUERY_STATE_POLICY = "naive and indirect queries read the same frozen post-history state"


def timeline(
    task: Mapping[str, Any], background: Sequence[Mapping[str, Any]], manifest: Mapping[str, Any]
) -> dict[str, Any]:
    """One task's whole history in the released layout, key order included.

    Args:
        task: a row of the released task file.
        background: rows of the released background file.
        manifest: the background's manifest.
    """
    target_id = f"inmind-task-{task['task_id']}-turn"
    target = [
        {
            "id": f"{target_id}-{number}",
            "role": role,
            "content": task[field],
            "source": "inmind_target",
        }
        for number, (role, field) in enumerate(
            [("user", "user_message"), ("assistant", "assistant_message")]
        )
    ]
    sessions = []
    for index, (name, rows) in enumerate(groupby(background, lambda row: session_id(row["id"]))):
        turns = [{**row, "source": "lme_s_background"} for row in rows]
        if index == manifest["injection_session_index"]:
            turns += target
        sessions.append({"session_id": name, "turns": turns})
    return {
        "task_id": task["task_id"],
        "protocol": _protocol(manifest),
        "sessions": sessions,
        "queries": {"naive_query": task["naive_query"], "query": task["query"]},
    }


def _protocol(manifest: Mapping[str, Any]) -> dict[str, Any]:
    same = (
        "injection_session_index",
        "injection_session_number",
        "phase_a_sessions",
        "prefix_user_turns",
        "injection_user_turn_locator",
        "background_user_turns_before_target",
        "post_injection_sessions",
    )
    return {
        "name": PROTOCOL_NAME,
        "background_sessions": manifest["sessions"],
        "background_turns": manifest["turns"],
        **{key: manifest[key] for key in same},
        "target_position": "end_of_injection_session",
        "query_state_policy": QUERY_STATE_POLICY,
    }


def dump_timeline(value: Mapping[str, Any], *, compact: bool) -> str:
    """A timeline as text: compact on one line, or indented by two spaces; final newline."""
    if compact:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
