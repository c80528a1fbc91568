"""Two sides' metrics files: what moved, was added, removed or null."""

from dataclasses import dataclass
from typing import Literal

from memrepro.compare.revision import Tree
from memrepro.errors import InputError
from memrepro.files import leaves, read_json
from memrepro.store import metric_name

State = Literal["same", "changed", "added", "removed", "null_in_a", "null_in_b", "null_in_both"]
# A metric's entries in a metrics file by their key: its value alone, or the bounds and counts that
# take its place while failures stand.
Entries = dict[str, float | int | None]


@dataclass(frozen=True)
class Pair:
    """A metric on two sides; None: that side does not have it."""

    path: str
    a: Entries | None
    b: Entries | None

    @property
    def metric(self) -> str:
        """The metric's own name."""
        return self.path.rpartition("/")[2]

    @property
    def state(self) -> State:
        """What became of it from the first side to the second."""
        if self.a is None:
            return "added"
        if self.b is None:
            return "removed"
        nulls = None in self.a.values(), None in self.b.values()
        if any(nulls):
            return "null_in_both" if all(nulls) else "null_in_a" if nulls[0] else "null_in_b"
        return "same" if self.a == self.b else "changed"

    @property
    def difference(self) -> float | None:
        """The second value less the first; None where one side has no value."""
        a, b = (entries.get(self.metric) if entries else None for entries in (self.a, self.b))
        return None if a is None or b is None else b - a


def read_metrics(tree: Tree, dataset: str) -> dict[str, Entries] | None:
    """A side's metrics by path; None if it has no metrics file of the dataset.

    Raises:
        InputError: the file is unreadable, no strict JSON (as one with NaN), or holds what is
            neither a number nor null.
    """
    path = tree.path(f"metrics/{dataset}.json")
    if path is None:
        return None
    value = read_json(path)
    if not isinstance(value, dict):
        raise InputError("not a metrics file", where=str(path), expected="a JSON object")
    found: dict[str, Entries] = {}
    for place, leaf in leaves(value):
        if isinstance(leaf, bool) or not isinstance(leaf, int | float | None):
            raise InputError(
                "not a metric", where=f"{path}, key {'/'.join(place)}",
                expected="a number", found=repr(leaf)[:200],
            )  # fmt: skip
        *before, key = place
        found.setdefault("/".join((*before, metric_name(key))), {})[key] = leaf
    return found


def pair_metrics(a: dict[str, Entries] | None, b: dict[str, Entries] | None) -> list[Pair]:
    """Every metric that a side has, by path."""
    left, right = a or {}, b or {}
    return [Pair(path, left.get(path), right.get(path)) for path in sorted({*left, *right})]
