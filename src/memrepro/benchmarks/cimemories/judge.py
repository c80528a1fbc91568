"""Judging: what a message reveals, by the deterministic judge and by a model.

A failed message goes to no judge. Where a judge fails, the attributes it says nothing sure about
are neither revealed nor not: their letter is x, and every bound counts them as both.
"""

from collections.abc import Mapping, Sequence

from memrepro.benchmarks.cimemories.reveal import RevealJudge
from memrepro.llm.call import Call, Reply
from memrepro.llm.reveals import Reveals, parse_reveals, reveal_format
from memrepro.params import StructuredOutput
from memrepro.prompts import fill_all
from memrepro.records import (
    CIMemoriesAnswer,
    CIMemoriesAttribute,
    CIMemoriesSelection,
    CIMemoriesVerdict,
    Status,
)


def verbatim_verdict(
    selection: CIMemoriesSelection, message: str, keys: Sequence[str], judge: RevealJudge
) -> CIMemoriesVerdict:
    """The deterministic judge on the deterministic composer's message.

    Args:
        selection: what the system returned.
        message: which states just that.
        keys: the profile's, in order.
        judge: the profile's.
    """
    found = judge.revealed(message)
    return CIMemoriesVerdict(
        profile=selection.profile,
        place=selection.place,
        prompt_level=0,
        composition=selection.composition,
        trial=0,
        system=selection.system,
        judge="verbatim",
        status="scored",
        reveals="".join("1" if key in found else "0" for key in keys),
    )


def judge_call(
    prompt: str,
    attributes: Sequence[CIMemoriesAttribute],
    message: str,
    *,
    model: str,
    cap: int,
    temperature: float | None,
    structured_output: StructuredOutput,
) -> Call:
    """The request to the judging model, which sees `key → statement` and never a value."""
    lines = "\n".join(f"{one.key} → {one.statement}" for one in attributes)
    text = fill_all(prompt, {"attributes": lines, "solution": message}, where="reveal prompt")
    return Call(
        model=model,
        messages=(("user", text),),
        cap=cap,
        temperature=temperature,
        response_format=reveal_format(structured_output),
    )


def verdict(
    message: CIMemoriesAnswer,
    attributes: Sequence[CIMemoriesAttribute],
    reply: Reply | None,
    raised_cap: bool,
    *,
    judge: str,
) -> CIMemoriesVerdict:
    """The judging model's verdict on one message.

    Args:
        message: what was judged.
        attributes: the profile's, in order.
        reply: what came of the call; None for a message that failed.
        raised_cap: whether the reply came under a raised token cap.
        judge: the judging model's identity.
    """
    statements = {one.key: one.statement for one in attributes}
    said = parse_reveals(reply.text, statements) if reply is not None and reply.text else None
    reveals = letters(said, statements)
    status: Status = "judge_error" if "x" in reveals else "scored"
    if reply is None:
        status = "answer_failed"
    raw = None if reply is None or status == "scored" else reply.text or reply.failure
    return CIMemoriesVerdict(
        profile=message.profile,
        place=message.place,
        prompt_level=message.prompt_level,
        composition=message.composition,
        trial=message.trial,
        system=message.system,
        judge=judge,
        status=status,
        reveals=reveals,
        key=reply.key if reply is not None else None,
        raw=raw,
        raised_cap=raised_cap or message.raised_cap,
    )


def letters(said: Reveals | None, statements: Mapping[str, str]) -> str:
    """One letter an attribute: 1 revealed, 0 not, x open."""
    if said is None:
        return "x" * len(statements)
    otherwise = "x" if said.others_open else "0"
    return "".join(
        "1" if key in said.revealed else "x" if key in said.open else otherwise
        for key in statements
    )
