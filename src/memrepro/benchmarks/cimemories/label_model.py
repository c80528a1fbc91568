"""Labels by a model: three personas sort a profile's statements, ten times each.

Paper, section on labelling. A sample that cannot be parsed, or that failed, is dropped; see
`labels` for the counting and the binary label.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memrepro.benchmarks.cimemories.labels import PERSONAS, Counts, Label, Persona, count, unanimous
from memrepro.llm.call import Call, Reply
from memrepro.llm.labels import label_format, parse_labels
from memrepro.params import StructuredOutput
from memrepro.prompts import fill_all
from memrepro.records import (
    CIMemoriesAttribute,
    CIMemoriesContext,
    CIMemoriesCounts,
    CIMemoriesLabels,
)


class Asked(NamedTuple):
    """One persona's view of one context; asked for several times."""

    context: CIMemoriesContext
    persona: Persona


def label_calls(
    prompt: str,
    personas: Mapping[Persona, str],
    contexts: Iterable[CIMemoriesContext],
    statements: Mapping[int, Sequence[str]],
    *,
    samples: int,
    model: str,
    cap: int,
    temperature: float | None,
    structured_output: StructuredOutput,
) -> Iterator[tuple[Asked, Call]]:
    """The requests for every context, persona and sample.

    Args:
        prompt: with {statements}, {recipient}, {task} and {persona}.
        personas: the description of each.
        contexts: to label.
        statements: of each profile, in order.
        samples: of each persona.
        model: the labelling model's identity.
        cap: tokens a reply may have.
        temperature: None sends none.
        structured_output: of the model.
    """
    for context in contexts:
        for persona in PERSONAS:
            values = {
                "statements": "\n".join(statements[context.profile]),
                "recipient": context.recipient,
                "task": context.task,
                "persona": personas[persona].strip(),
            }
            text = fill_all(prompt, values, where="label prompt")
            for sample in range(samples):
                yield (
                    Asked(context, persona),
                    Call(
                        model=model,
                        messages=(("user", text),),
                        cap=cap,
                        temperature=temperature,
                        response_format=label_format(structured_output),
                        sample=sample,
                    ),
                )


def counts_of(
    replies: Iterable[tuple[Asked, Reply]], attributes: Mapping[int, Sequence[CIMemoriesAttribute]]
) -> list[CIMemoriesCounts]:
    """Where each persona's samples put each attribute; one row of zeros where none could be read.

    Args:
        replies: every sample.
        attributes: of each profile, in order.
    """
    samples: dict[tuple[int, int, Persona], list[Reply]] = {}
    for asked, reply in replies:
        view = (asked.context.profile, asked.context.place, asked.persona)
        samples.setdefault(view, []).append(reply)
    rows = []
    for (profile, place, persona), group in samples.items():
        parsed = [parse_labels(reply.text) if reply.text else None for reply in group]
        counted = count([one.statement for one in attributes[profile]], parsed)
        for one in attributes[profile]:
            counts = counted[one.statement]
            rows.append(
                CIMemoriesCounts(
                    profile=profile,
                    place=place,
                    persona=persona,
                    position=one.position,
                    necessary=counts.necessary,
                    private=counts.private,
                    unlabeled=counts.unlabeled,
                )
            )
    return rows


def labels_of(rows: Iterable[CIMemoriesCounts]) -> list[CIMemoriesLabels]:
    """Binary labels where all samples of all personas agree; everything else is ambiguous."""
    return by_context(
        {place: unanimous(by_persona) for place, by_persona in group_counts(rows).items()}
    )


def by_context(labels: Mapping[tuple[int, int, int], Label]) -> list[CIMemoriesLabels]:
    """Labels by profile, place and position as a row a context."""
    letters: dict[tuple[int, int], list[str]] = {}
    for (profile, place, _), label in sorted(labels.items()):
        letters.setdefault((profile, place), []).append(label[0])
    return [
        CIMemoriesLabels(profile=profile, place=place, labels="".join(found))
        for (profile, place), found in letters.items()
    ]


def group_counts(
    rows: Iterable[CIMemoriesCounts],
) -> dict[tuple[int, int, int], dict[Persona, Counts]]:
    """Counts of every persona by profile, place and position."""
    grouped: dict[tuple[int, int, int], dict[Persona, Counts]] = {}
    for row in rows:
        persona: Persona = next(one for one in PERSONAS if one == row.persona)
        grouped.setdefault((row.profile, row.place, row.position), {})[persona] = Counts(
            row.necessary, row.private, row.unlabeled
        )
    return grouped
