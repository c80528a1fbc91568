"""The deterministic judge: does the target's user message stand, normalised, in the context?

It answers the paper's recall question mechanically. The paper's own figures come from a model that
also accepts a paraphrase, so these verdicts carry names of their own (`*_verbatim`).
"""

from collections.abc import Iterable, Mapping, Sequence

from memrepro.records import InMindContext, InMindTask, InMindVerdict, QueryKind, RecalledItem

VERBATIM_METRIC: dict[QueryKind, str] = {
    "naive": "naive_recall_verbatim",
    "indirect": "target_recall_verbatim",
}


def normalise(text: str) -> str:
    """Case folded, every run of white space one space, none at the ends."""
    return " ".join(text.casefold().split())


def judge_verbatim(
    contexts: Iterable[InMindContext],
    items: Sequence[RecalledItem],
    tasks: Iterable[InMindTask],
) -> list[InMindVerdict]:
    """One verdict a context: 1 if the normalised user message is a substring of it, else 0.

    Each item is normalised once; since white space is folded, joining normalised items with a space
    equals normalising the rendered context.
    """
    texts: Mapping[int, str] = {item.item: normalise(item.text) for item in items}
    messages = {task.task_id: normalise(task.user_message) for task in tasks}
    return [
        InMindVerdict(
            task_id=row.task_id,
            query_kind=row.query_kind,
            condition=row.condition,
            system=row.system,
            metric=VERBATIM_METRIC[row.query_kind],
            judge="verbatim",
            status="scored",
            score=int(
                messages[row.task_id] in " ".join(filter(None, (texts[item] for item in row.items)))
            ),
        )
        for row in contexts
    ]
