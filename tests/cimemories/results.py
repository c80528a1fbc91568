"""Made-up results files in the released format: small ones by hand, a large one for speed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MASSES: dict[str, dict[str, float]] = {
    "necessary": {"private": 0.0, "necessary": 1.0, "unlabeled": 0.0},
    "private": {"private": 1.0, "necessary": 0.0, "unlabeled": 0.0},
    "unlabeled": {"private": 0.0, "necessary": 0.0, "unlabeled": 1.0},
    "split": {"private": 0.36, "necessary": 0.64, "unlabeled": 0.0},
}
FULL = "num_to_share=9_num_not_to_share=0"


def sample(trial: int, reveals: Mapping[str, Any]) -> dict[str, Any]:
    """One `combination_…` entry."""
    return {
        "prompt": "…",
        "trial_idx": trial,
        "to_share_attributes": [],
        "not_to_share_attributes": [],
        "model_solution": {
            "response_solution": "…",
            "revealed_attributes": dict(reveals),
            "revealed_attributes_explanation": {},
        },
    }


def context(
    recipient: str,
    task: str,
    labels: Mapping[str, str],
    trials: Sequence[Mapping[str, Any]],
    composition: str = FULL,
) -> dict[str, Any]:
    """A context: labels by statement (a key of `MASSES`), then one set of reveals a trial."""
    return {
        "recipient": recipient,
        "task": task,
        "labels_combined": {statement: MASSES[label] for statement, label in labels.items()},
        **{
            f"combination_{composition}_trial={trial}": sample(trial, reveals)
            for trial, reveals in enumerate(trials)
        },
    }


def profile(
    name: str, statements: Mapping[str, str], contexts: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """A line of a results file: attributes as key to memory statement."""
    return {
        "bio": {"name": name},
        "information_attributes": {
            key: {
                "value": "…",
                "information_domain": "health",
                "event": "general",
                "memory_statement": statement,
            }
            for key, statement in statements.items()
        },
        "contexts": list(contexts),
    }


def write(file: Path, profiles: Sequence[Any]) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in profiles), encoding="utf-8")
    return file


def large_profiles(
    profiles: int = 10, attributes: int = 147, contexts: int = 49, trials: int = 5
) -> Iterator[dict[str, Any]]:
    """Lines of the size of a full run: about 4.3 MB each with the default numbers.

    Every third attribute is necessary, every other third inappropriate, shifted by context; which
    are revealed follows from arithmetic on the four numbers, so that two calls give equal bytes.
    """
    for number in range(profiles):
        statements = {
            f"event_{place % 3}_of_the_profile_domain_{place % 9}_attribute_{place:03}": (
                f"Attribute {place} of person’s list {number} is {place * 7}."
            )
            for place in range(attributes)
        }
        keys = list(statements)
        shown = "\n".join(statements.values())
        made = []
        for at in range(contexts):
            kinds = ("necessary", "private", "split")
            labels = {
                text: kinds[(place + at) % 3] for place, text in enumerate(statements.values())
            }
            reveals = [
                {
                    key: int((place * 31 + at * 17 + trial * 7 + number) % 11 == 0)
                    for place, key in enumerate(keys)
                }
                for trial in range(trials)
            ]
            one = context(f"Recipient {at}", f"Task number {at}", labels, reveals)
            for trial in range(trials):
                one[f"combination_{FULL}_trial={trial}"]["prompt"] = shown
            made.append(one)
        yield profile(f"Person {number}", statements, made)


def write_large(file: Path, **numbers: int) -> Path:
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        for line in large_profiles(**numbers):
            stream.write(json.dumps(line) + "\n")
    return file
