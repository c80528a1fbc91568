"""Whether a metric of two sides was measured alike, and what of its system was set otherwise."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from memrepro.compare.revision import Tree
from memrepro.errors import InputError
from memrepro.files import iter_json_lines

# What a change is about: it may differ between two sides, and their numbers be compared. All else
# in a signature is how and on what the number was measured.
_TREATMENT = frozenset(
    ("k", "kind", "implementation", "settings", "answer_model", "answer_cap", "version",
     "raised_caps")
)  # fmt: skip
# What a signature says about itself and about the paper.
_ABOUT = frozenset(("path", "digest", "comparable", "deviations"))
# Prompts that a judge is asked with, by how their file's name begins.
_JUDGES = ("judge_", "reveal")

Values = dict[str, Any]
Change = tuple[Any, Any]


@dataclass(frozen=True)
class Comparability:
    """Whether two sides' numbers may be compared: None if a signature is missing.

    `reasons` says why not; `settings` holds what of the system itself differs, by field.
    """

    comparable: bool | None
    reasons: tuple[str, ...]
    settings: dict[str, Change]


def read_signatures(tree: Tree, dataset: str) -> dict[str, Values]:
    """A side's signatures by the metric's path, whatever fields its version gave them.

    Raises:
        InputError: the file is not strict JSONL or a line lacks what tells metrics apart.
    """
    path = tree.path(f"data/runs/{dataset}/signatures.jsonl")
    if path is None:
        return {}
    found = {}
    for number, row in iter_json_lines(path):
        try:
            own = row.get("path") or "/".join((row["benchmark"], row["system"], row["metric"]))
            found[own] = {**row, **row.get("protocol", {})}
        except (AttributeError, KeyError, TypeError):
            raise InputError("not a signature", where=f"{path}, line {number}") from None
    return found


def compare_signatures(a: Values | None, b: Values | None, changed: Iterable[str]) -> Comparability:
    """Hold one metric's signatures together.

    Args:
        a: the first side's, None if it has none.
        b: the second's.
        changed: the committed prompts that differ, and the labels, as `<benchmark>/labels/…`.
    """
    if a is None or b is None:
        side = "either side" if a is b else "the first side" if a is None else "the second side"
        return Comparability(None, (f"no signature on {side}",), {})
    fields = sorted({*a, *b} - _ABOUT - {"protocol"})
    differing = {
        field: (a.get(field), b.get(field)) for field in fields if a.get(field) != b.get(field)
    }
    settings = {field: change for field, change in differing.items() if field in _TREATMENT}
    reasons = [
        f"{field}: {before} and {after}"
        for field, (before, after) in differing.items()
        if field not in _TREATMENT
    ]
    reasons += [f"{file} differs" for file in changed if _measures(file, b)]
    return Comparability(not reasons, tuple(reasons), settings)


def _measures(file: str, signed: Values) -> bool:
    """Whether a committed file has a part in how a metric is measured."""
    folder, _, name = file.rpartition("/")
    if folder == f"{signed['benchmark']}/labels":
        return True
    judged = signed.get("judge") != "verbatim" and signed.get("prompts") == "own"
    return judged and folder == f"prompts/{signed['benchmark']}" and name.startswith(_JUDGES)
