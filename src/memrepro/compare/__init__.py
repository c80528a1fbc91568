"""The difference between two Git revisions, or one and the working tree.

Everything is read from what is committed, so that any clone can compare.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from memrepro.compare.dataset import DatasetDiff, Metric, compare_dataset
from memrepro.compare.revision import open_tree
from memrepro.compare.surroundings import Surroundings, compare_surroundings
from memrepro.errors import InputError
from memrepro.params import Dataset, load_params

__all__ = ["DatasetDiff", "Difference", "Metric", "compare"]


@dataclass(frozen=True)
class Difference:
    """Two sides: their names and commits (None: the working tree), and all that differs."""

    names: tuple[str, str]
    commits: tuple[str | None, str | None]
    datasets: tuple[DatasetDiff, ...]
    surroundings: Surroundings

    @property
    def same_commit(self) -> bool:
        """Whether both sides name one commit, so that nothing can differ."""
        return self.commits[0] is not None and self.commits[0] == self.commits[1]


def compare(root: Path, first: str, second: str | None, datasets: Sequence[Dataset]) -> Difference:
    """Compare two revisions of a project; nothing in it is touched.

    Args:
        root: the project.
        first: a revision.
        second: another, or None for the working tree.
        datasets: which to compare; the settings are those of the working tree's params.

    Raises:
        InputError: a revision cannot be found, a file cannot be read, or there is nothing to
            compare.
    """
    with ExitStack() as stack:
        a, b = (stack.enter_context(open_tree(root, name)) for name in (first, second))
        around = compare_surroundings(a, b)
        found = tuple(
            compare_dataset(root, (a, b), dataset, load_params(root, dataset).diff, around.prompts)
            for dataset in datasets
        )
        if not any(one.metrics for one in found):
            raise InputError(
                "no metrics on either side",
                where=", ".join(f"metrics/{dataset}.json" for dataset in datasets),
                hint="make repro",
            )
        return Difference((a.name, b.name), (a.commit, b.commit), found, around)
