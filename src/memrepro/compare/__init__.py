"""The difference between two Git revisions, or one and the working tree.

What is compared is read from what is committed, so that any clone can compare. The texts of items
are outputs of stages, which are read through DVC, and only where they are wanted.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from memrepro.compare.dataset import DatasetDiff, Metric, compare_dataset
from memrepro.compare.revision import Tree, open_tree
from memrepro.compare.surroundings import Surroundings, compare_surroundings
from memrepro.errors import InputError
from memrepro.params import Dataset, load_params

__all__ = ["DatasetDiff", "Difference", "Metric", "compare"]


@dataclass(frozen=True)
class Difference:
    """Two sides: their names and commits (None: the working tree), and all that differs.

    `not_at_hand` says in a line each what was wanted and could not be read, and what to do.
    """

    names: tuple[str, str]
    commits: tuple[str | None, str | None]
    datasets: tuple[DatasetDiff, ...]
    surroundings: Surroundings
    not_at_hand: tuple[str, ...] = ()

    @property
    def same_commit(self) -> bool:
        """Whether both sides name one commit, so that nothing can differ."""
        return self.commits[0] is not None and self.commits[0] == self.commits[1]


def compare(
    root: Path,
    first: str,
    second: str | None,
    datasets: Sequence[Dataset],
    *,
    texts: bool = False,
) -> Difference:
    """Compare two revisions of a project; nothing in it is touched.

    Args:
        root: the project.
        first: a revision.
        second: another, or None for the working tree.
        datasets: which to compare; the settings are those of the working tree's params.
        texts: whether to read the texts of flipped items too, through DVC where Git has none.

    Raises:
        InputError: a revision cannot be found, a file cannot be read, or there is nothing to
            compare.
    """
    with ExitStack() as stack:
        a, b = (stack.enter_context(open_tree(root, name)) for name in (first, second))
        around = compare_surroundings(a, b)
        found = tuple(
            compare_dataset(
                root, (a, b), dataset, load_params(root, dataset).diff, around.prompts, texts
            )
            for dataset in datasets
        )
        if not any(one.metrics for one in found):
            raise InputError(
                "no metrics on either side",
                where=", ".join(f"metrics/{dataset}.json" for dataset in datasets),
                hint="make repro",
            )
        missing = (*_not_at_hand(a), *_not_at_hand(b))
        return Difference((a.name, b.name), (a.commit, b.commit), found, around, missing)


def _not_at_hand(tree: Tree) -> Iterator[str]:
    """A line a cause: the first file, and how many more."""
    for why in dict.fromkeys(tree.missing.values()):
        first, *more = (file for file, reason in tree.missing.items() if reason == why)
        others = f" (and {len(more)} more)" if more else ""
        yield f"text not at hand: {first}{others} of {tree.name} {why}"
