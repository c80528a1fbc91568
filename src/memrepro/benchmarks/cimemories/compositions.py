"""Which attributes of a profile are in memory: the composition experiments.

The paper varies how much there is to share and to withhold; ambiguous attributes stay in all of
them. The released code samples without a seed, and two of its sets with equal counts get one name,
so that one overwrites the other; here every set has a name and a generator of its own.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from memrepro.digest import seed_of
from memrepro.errors import InputError
from memrepro.records import CIMemoriesComposition, CIMemoriesLabels

COMPOSITIONS = ("full", "iid", "all_share", "all_not_share")
# Steps of the sizes in the released code: 1, 11, 21 …; 0, 10, 20 …; 0, 1, 2 …
_STEP = {"iid": 10, "all_share": 10, "all_not_share": 1}


def compose_sets(
    labels: CIMemoriesLabels, kinds: Sequence[str], seed: int
) -> Iterator[CIMemoriesComposition]:
    """The sets of attributes of one context.

    `full` holds all; `iid=n` n labelled ones, whatever their label; `all_share=n` all that are
    necessary and n inappropriate ones; `all_not_share=n` all inappropriate ones and n necessary.

    Args:
        labels: of the context.
        kinds: some of `COMPOSITIONS`.
        seed: of the params; a set's draw depends on it, the context and the set's name alone.

    Raises:
        InputError: no such composition.
    """
    for kind in kinds:
        if kind not in COMPOSITIONS:
            raise InputError(
                f"no composition {kind!r}",
                where="params, key cimemories.compositions",
                expected=", ".join(COMPOSITIONS),
            )
    every = range(1, len(labels.labels) + 1)
    for kind in kinds:
        if kind == "full":
            yield _row(labels, "full", every)
            continue
        fixed, drawn = _parts(labels.labels, kind)
        for size in range(1 if kind == "iid" else 0, len(drawn) + 1, _STEP[kind]):
            name = f"{kind}={size}"
            rng = np.random.default_rng(seed_of(seed, labels.profile, labels.place, name))
            chosen = rng.choice(len(drawn), size=size, replace=False).tolist()
            yield _row(labels, name, sorted([*fixed, *(drawn[one] for one in chosen)]))


def _parts(labels: str, kind: str) -> tuple[list[int], list[int]]:
    """The positions that every set of a kind holds, and those that it draws from."""
    drawn = {"iid": "ni", "all_share": "i", "all_not_share": "n"}[kind]
    places = list(enumerate(labels, start=1))
    return (
        [position for position, label in places if label not in drawn],
        [position for position, label in places if label in drawn],
    )


def _row(labels: CIMemoriesLabels, name: str, positions: Sequence[int]) -> CIMemoriesComposition:
    return CIMemoriesComposition(
        profile=labels.profile, place=labels.place, composition=name, positions=tuple(positions)
    )
