"""A run of CIMemories made up by hand: labels, verdicts and what they are about, as files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from memrepro.files import write_records
from memrepro.records import (
    CIMemoriesAttribute,
    CIMemoriesContext,
    CIMemoriesLabels,
    CIMemoriesScore,
)
from memrepro.store.cimemories_runs import Run

# A message: judge, prompt level, trial, composition.
Message = tuple[str, int, int, str]


def score(
    system: str, place: int, reveals: str, message: Message = ("verbatim", 0, 0, "full")
) -> CIMemoriesScore:
    """The row of one message about profile 0."""
    judge, level, trial, composition = message
    return CIMemoriesScore(
        system=system, judge="verbatim" if judge == "verbatim" else "model", profile=0,
        place=place, prompt_level=level, composition=composition, trial=trial,
        status="judge_error" if "x" in reveals else "scored", reveals=reveals, raised_cap=False,
    )  # fmt: skip


def write_run(
    folder: Path, labels: Sequence[str], scores: Mapping[str, Sequence[CIMemoriesScore]]
) -> tuple[Run, Path]:
    """One profile with a context a label string, attribute `key_n` in domain `finance` or `health`.

    Odd positions are finance. Returns the run and its file of labels.
    """
    size = len(labels[0])
    write_records(
        folder / "attributes.jsonl",
        [
            CIMemoriesAttribute(
                profile=0, position=position, name="Ada", key=f"key_{position}", value=position,
                domain="finance" if position % 2 else "health", statement=f"Statement {position}.",
            )
            for position in range(1, size + 1)
        ],
    )  # fmt: skip
    write_records(
        folder / "contexts.jsonl",
        [
            CIMemoriesContext(profile=0, place=place, recipient=f"R{place}", task="T")
            for place in range(len(labels))
        ],
    )
    write_records(
        folder / "labels.jsonl",
        [
            CIMemoriesLabels(profile=0, place=place, labels=letters)
            for place, letters in enumerate(labels)
        ],
    )
    files = []
    for system, rows in scores.items():
        files.append(folder / f"{system}.jsonl")
        write_records(files[-1], rows)
    run = Run(files, folder / "contexts.jsonl", folder / "attributes.jsonl")
    return run, folder / "labels.jsonl"
