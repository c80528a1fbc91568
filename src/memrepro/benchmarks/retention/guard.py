"""The guard's model: the call that asks whether a policy prohibits a fact, and its verdict."""

import json
from collections.abc import Callable, Iterable, Iterator

from memrepro.benchmarks.retention.run import Cell
from memrepro.llm.call import Call, Reply
from memrepro.llm.verdict import parse_verdict, verdict_format
from memrepro.params import StructuredOutput
from memrepro.policy import Ask, Governance, decide


def guard_call(
    prompt: str,
    text: str,
    statement: str,
    *,
    model: str,
    cap: int,
    temperature: float | None,
    structured_output: StructuredOutput,
) -> Call:
    """The request for one decision.

    Fact and policy stand in one JSON object, so that neither can pass for the other or for an
    instruction of ours. The policy comes first: what the calls of one policy begin with alike, a
    server reads once.
    """
    told = json.dumps({"policy": statement, "fact": text}, ensure_ascii=False)
    return Call(
        model=model,
        messages=(
            ("system", prompt),
            ("user", told),
        ),
        cap=cap,
        temperature=temperature,
        response_format=verdict_format(structured_output),
    )


def guard_verdict(reply: Reply | None) -> int | None:
    """1 where the policy prohibits the fact, 0 where not; None for a failed or unreadable reply."""
    return parse_verdict(reply.text) if reply is not None and reply.text is not None else None


def asked(rows: Iterable[Cell], governance: Governance) -> Iterator[tuple[str, str]]:
    """The (fact's text, policy statement) pairs that a run puts to the model, each once, in order.

    In hybrid mode these are the ones that no rule matches.
    """
    pairs = dict.fromkeys((row.text, row.policy) for row in rows)
    for text, statement in pairs:
        if governance.mode in ("hybrid", "llm") and _is_asked(text, statement, governance):
            yield text, statement


def _is_asked(text: str, statement: str, governance: Governance) -> bool:
    return decide(text, statement, governance, lambda *_: 0).decided_by == "model"


def replayed(call: Callable[[str, str], Call], find: Callable[[Call], Reply | None]) -> Ask:
    """An `Ask` that makes the call of a pair and reads the reply that `find` has for it."""
    return lambda text, statement: guard_verdict(find(call(text, statement)))
