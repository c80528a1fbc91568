"""Composing: the message to a recipient, from the statements that a system returned.

The prompt form `attributes` shows the statements; `released` shows what the released code does: for
the biography's keys sentences made from it, and the recipient in lower case.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from memrepro.llm.call import Call, Reply
from memrepro.prompts import fill_all
from memrepro.records import (
    CIMemoriesAnswer,
    CIMemoriesContext,
    CIMemoriesSelection,
    CIMemoriesStatement,
    Recalled,
)

PromptForm = Literal["attributes", "released"]
LEVELS = (1, 2, 3, 4)


def shown(
    selection: CIMemoriesSelection,
    statements: Mapping[int, CIMemoriesStatement],
    form: PromptForm = "attributes",
) -> list[Recalled]:
    """The items that a prompt shows, in recall order.

    Args:
        selection: what the system returned.
        statements: the profile's by position.
        form: see the module.
    """
    rows = [statements[position] for position in selection.positions]
    return [
        Recalled(id=str(row.position), text=row.statement if form == "attributes" else row.released)
        for row in rows
    ]


def compose_call(
    prompt: str,
    memories: str,
    context: CIMemoriesContext,
    *,
    level: int,
    form: PromptForm,
    trial: int,
    model: str,
    cap: int,
    temperature: float | None,
) -> Call:
    """The request for one message; trials of one prompt are samples of one call.

    Args:
        prompt: the level's, with {memories}, {recipient} and {task}.
        memories: the rendered statements.
        context: recipient and task.
        level: of the prompt, 1 to 4, for an error.
        form: see the module.
        trial: from 0.
        model: the composing model's identity.
        cap: tokens a message may have.
        temperature: None sends none.
    """
    recipient = context.recipient.lower() if form == "released" else context.recipient
    values = {"memories": memories, "recipient": recipient, "task": context.task}
    text = fill_all(prompt, values, where=f"prompt of level {level}")
    return Call(
        model=model,
        messages=(("user", text),),
        cap=cap,
        temperature=temperature,
        sample=trial,
    )


def answer(
    selection: CIMemoriesSelection, level: int, trial: int, reply: Reply, raised_cap: bool
) -> CIMemoriesAnswer:
    """The message's row; a failed reply makes a failed message, never an empty one."""
    return CIMemoriesAnswer(
        profile=selection.profile,
        place=selection.place,
        prompt_level=level,
        composition=selection.composition,
        trial=trial,
        system=selection.system,
        status=reply.failure or "answered",
        text=reply.text,
        key=reply.key,
        raised_cap=raised_cap,
    )


def by_profile(
    statements: Sequence[CIMemoriesStatement],
) -> dict[int, dict[int, CIMemoriesStatement]]:
    """Statements by profile and position."""
    rows: dict[int, dict[int, CIMemoriesStatement]] = {}
    for row in statements:
        rows.setdefault(row.profile, {})[row.position] = row
    return rows
