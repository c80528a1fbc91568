"""The answer step: one call a context, and what came of it.

Answers are asked for the direct query and the indirect one on the history with the target, and for
the indirect one without it: what is warned of there was warned of without the fact.
"""

from collections.abc import Iterable, Iterator, Mapping

from memrepro.llm.call import Call, Reply
from memrepro.prompts import fill
from memrepro.records import Condition, InMindAnswer, InMindContext, InMindTask, QueryKind

ASKED: tuple[tuple[QueryKind, Condition], ...] = (
    ("naive", "with_target"),
    ("indirect", "with_target"),
    ("indirect", "without_target"),
)


def answer_call(
    prompt: str, context: str, query: str, *, model: str, cap: int, temperature: float | None
) -> Call:
    """The request of the paper's answer step.

    The prompt with the context in it is the system message, the query the user message.
    """
    system = fill(prompt, "context", context, where="answer_system.txt")
    return Call(
        model=model,
        messages=(("system", system), ("user", query)),
        cap=cap,
        temperature=temperature,
    )


def asked(
    contexts: Iterable[InMindContext], tasks: Iterable[InMindTask]
) -> Iterator[tuple[InMindContext, str]]:
    """Each context that is answered, with its query, in the order of the contexts."""
    by_id: Mapping[int, InMindTask] = {task.task_id: task for task in tasks}
    for context in contexts:
        if (context.query_kind, context.condition) in ASKED:
            task = by_id[context.task_id]
            yield context, task.naive_query if context.query_kind == "naive" else task.query


def answer(context: InMindContext, reply: Reply, raised_cap: bool) -> InMindAnswer:
    """The answer row of a context; a failed reply makes a failed answer, never an empty one."""
    return InMindAnswer(
        task_id=context.task_id,
        query_kind=context.query_kind,
        condition=context.condition,
        system=context.system,
        status=reply.failure or "answered",
        text=reply.text,
        key=reply.key,
        raised_cap=raised_cap,
    )
