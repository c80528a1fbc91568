"""Labels of attributes in a context: counted over personas and samples, binary where unanimous.

CIMemories (arXiv:2511.14937, labelling): three Westin personas, ten samples each. A statement that
a sample lists under both heads is to share; one that it lists nowhere, or reworded, is unlabeled.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple, get_args

from memrepro.llm.labels import LabelSample

Persona = Literal["fundamentalist", "pragmatic", "unconcerned"]
Label = Literal["necessary", "inappropriate", "ambiguous"]

PERSONAS: tuple[Persona, ...] = get_args(Persona)


class Counts(NamedTuple):
    """How many of a persona's parsed samples put a statement where."""

    necessary: int
    private: int
    unlabeled: int

    @property
    def total(self) -> int:
        """The parsed samples."""
        return sum(self)


def count(statements: Sequence[str], samples: Sequence[LabelSample | None]) -> dict[str, Counts]:
    """Where one persona's samples put each statement; unparsable samples (None) are dropped."""
    parsed = [sample for sample in samples if sample is not None]
    counts = {}
    for statement in statements:
        share = sum(statement in sample.share for sample in parsed)
        private = sum(
            statement in sample.private and statement not in sample.share for sample in parsed
        )
        counts[statement] = Counts(share, private, len(parsed) - share - private)
    return counts


def unanimous(by_persona: Mapping[Persona, Counts]) -> Label:
    """The binary label, given only where every sample of every persona agrees.

    Decided on counts. A persona without one parsable sample makes the statement ambiguous.
    """
    counts = [by_persona[persona] for persona in PERSONAS]
    if all(0 < one.necessary == one.total for one in counts):
        return "necessary"
    if all(0 < one.private == one.total for one in counts):
        return "inappropriate"
    return "ambiguous"


def mix(
    by_persona: Mapping[Persona, Counts], prior: Mapping[Persona, int]
) -> tuple[Fraction, Fraction, Fraction]:
    """Shares of necessary, private and unlabeled samples, weighted over the personas.

    Exact: the shares are fractions of counts. A persona without a parsed sample counts as all
    unlabeled.

    Args:
        by_persona: the counts of one statement.
        prior: the personas' weights, in any unit.
    """
    mixed = [Fraction(0)] * 3
    for persona, weight in prior.items():
        counts = by_persona[persona] if by_persona[persona].total else Counts(0, 0, 1)
        share = Fraction(weight, counts.total * sum(prior.values()))
        mixed = [before + share * one for before, one in zip(mixed, counts, strict=True)]
    return mixed[0], mixed[1], mixed[2]
