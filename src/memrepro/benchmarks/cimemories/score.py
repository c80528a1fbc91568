"""Verdicts to score rows: numbers only."""

from collections.abc import Iterable, Iterator

from memrepro.records import CIMemoriesScore, CIMemoriesVerdict


def score(verdicts: Iterable[CIMemoriesVerdict]) -> Iterator[CIMemoriesScore]:
    """One score row a verdict."""
    for one in verdicts:
        yield CIMemoriesScore(
            system=one.system,
            judge="verbatim" if one.judge == "verbatim" else "model",
            profile=one.profile,
            place=one.place,
            prompt_level=one.prompt_level,
            composition=one.composition,
            trial=one.trial,
            status=one.status,
            reveals=one.reveals,
            raised_cap=one.raised_cap,
        )
