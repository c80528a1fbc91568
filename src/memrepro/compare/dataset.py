"""One dataset of two sides: its metrics, each with its items and whether it may be compared."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memrepro.compare.items import Items, adjust, summarize
from memrepro.compare.measures import Direction, direction, primary
from memrepro.compare.metrics import Entries, Pair, State, pair_metrics, read_metrics
from memrepro.compare.revision import WORKING_TREE, Tree, naming
from memrepro.compare.signatures import (
    Comparability,
    Values,
    compare_signatures,
    read_signatures,
)
from memrepro.compare.surroundings import Changes, read_yaml
from memrepro.compare.texts import Text, item_texts
from memrepro.digest import sha256_file
from memrepro.errors import InputError
from memrepro.params import Dataset, Diff, params_path
from memrepro.store.items import BENCHMARKS, ItemFiles, pair_items

_LABELS = "cimemories/labels"
# What CIMemories' items are about: contexts and attributes.
_ABOUT = ("inputs/contexts.jsonl", "judge_only/attributes.jsonl")

About = tuple[Path, Path]


@dataclass(frozen=True)
class Metric:
    """One metric of two sides.

    `direction` says which way is better, `in_family` whether its p is adjusted and it can be a
    regression; `items` is None where no score rows stand behind it. `texts` holds those of the
    items that flipped, each side's own, by id; None if they are not wanted.
    """

    path: str
    state: State
    a: Entries | None
    b: Entries | None
    difference: float | None
    direction: Direction
    in_family: bool
    comparability: Comparability
    items: Items | None
    texts: dict[str, tuple[Text, Text]] | None = None

    @property
    def metric(self) -> str:
        """The metric's own name."""
        return self.path.rpartition("/")[2]

    @property
    def moved(self) -> bool:
        """Whether its entries or any of its items differ."""
        return self.state != "same" or bool(self.items and self.items.flips)


@dataclass(frozen=True)
class DatasetDiff:
    """All metrics of one dataset, and the settings under which they were compared."""

    dataset: Dataset
    settings: Diff
    metrics: tuple[Metric, ...]

    @property
    def moved(self) -> tuple[Metric, ...]:
        """The metrics that moved."""
        return tuple(metric for metric in self.metrics if metric.moved)


def compare_dataset(
    root: Path,
    sides: tuple[Tree, Tree],
    dataset: Dataset,
    settings: Diff,
    prompts: Changes,
    texts: bool,
) -> DatasetDiff:
    """Compare a dataset's metrics and their items.

    Args:
        root: the project, whose CIMemories data are used where they are those of both sides.
        sides: the two.
        dataset: which.
        settings: from the params.
        prompts: the committed prompts that differ.
        texts: whether to read what Git does not hold: the texts of flipped items, and CIMemories
            data of each side, which the items of the released code's reading rest on.

    Raises:
        InputError: a file of a side cannot be read.
    """
    left, right = (_read(tree, dataset) for tree in sides)
    pairs = pair_metrics(left.metrics, right.metrics)
    family = _family(pairs, settings)
    otherwise = _otherwise((left, right), prompts)
    files = _item_files(root, sides, dataset, (left, right), texts)
    items = _items(sides, files, (left, right), family, settings)
    metrics = tuple(
        Metric(
            path=pair.path,
            state=pair.state,
            a=pair.a,
            b=pair.b,
            difference=pair.difference,
            direction=direction(pair.metric),
            in_family=pair.path in family,
            comparability=compare_signatures(
                left.signatures.get(pair.path), right.signatures.get(pair.path), otherwise
            ),
            items=items.get(pair.path),
            texts=_texts(sides, dataset, pair.path, items.get(pair.path)) if texts else None,
        )
        for pair in pairs
    )
    return DatasetDiff(dataset, settings, metrics)


@dataclass(frozen=True)
class _Side:
    metrics: dict[str, Entries] | None
    signatures: dict[str, Values]
    labels: Path | None


def _read(tree: Tree, dataset: Dataset) -> _Side:
    with naming(tree):
        params = tree.path(str(params_path(dataset)))
        value = read_yaml(params) if params else None
        source = value.get("cimemories") if isinstance(value, dict) else None
        labels = source.get("labels") if isinstance(source, dict) else None
        return _Side(
            read_metrics(tree, dataset),
            read_signatures(tree, dataset),
            tree.path(f"data/runs/{dataset}/{_LABELS}/{labels}.jsonl"),
        )


def _otherwise(read: tuple[_Side, _Side], prompts: Changes) -> list[str]:
    """Committed files that judge, and differ: prompts of judges, and the labels that score."""
    labels = [sha256_file(side.labels) if side.labels else None for side in read]
    known = next((side.labels for side in read if side.labels), None)
    changed = [f"{_LABELS}/{known.name}"] if known and labels[0] != labels[1] else []
    return [*changed, *prompts]


def _family(pairs: list[Pair], settings: Diff) -> set[str]:
    """The metrics whose p is adjusted together, benchmark by benchmark.

    A primary metric that the second side lost is one too: it has no p, and does not count in it.
    """
    both = [pair.path for pair in pairs if pair.a is not None and pair.b is not None]
    if settings.family == "all":
        return {pair.path for pair in pairs if pair.a is not None and direction(pair.metric)}
    return _primaries(both) | (
        _primaries([pair.path for pair in pairs if pair.a is not None]) - {*both}
    )


def _primaries(paths: list[str]) -> set[str]:
    by_benchmark: dict[str, list[str]] = {}
    for path in paths:
        benchmark, _, place = path.partition("/")
        by_benchmark.setdefault(benchmark, []).append(place)
    return {
        f"{benchmark}/{place}"
        for benchmark, places in by_benchmark.items()
        for place in primary(benchmark, places)
    }


def _texts(
    sides: tuple[Tree, Tree], dataset: Dataset, path: str, items: Items | None
) -> dict[str, tuple[Text, Text]]:
    if items is None or not items.flips:
        return {}
    a, b = (item_texts(tree, dataset, path) for tree in sides)
    return {item: (a.get(item, {}), b.get(item, {})) for item in items.flips}


def _items(
    sides: tuple[Tree, Tree],
    files: list[dict[str, ItemFiles]],
    read: tuple[_Side, _Side],
    family: set[str],
    settings: Diff,
) -> dict[str, Items]:
    """The items of every metric that has some, by path."""
    given = {path.partition("/")[0] for side in read for path in side.metrics or ()}
    items: dict[str, Items] = {}
    for benchmark in sorted(given & {*BENCHMARKS}):
        with naming(*sides):
            found = pair_items(benchmark, *(side[benchmark] for side in files))
        paths = {f"{benchmark}/{place}": row for place, row in found.items()}
        own = {path: summarize(path, row, settings) for path, row in paths.items()}
        items |= adjust(own, sorted(family & {*own}), settings)
    return items


def _profiles(signatures: dict[str, Values]) -> set[str]:
    """Digests of the CIMemories data that metrics are of."""
    return {row["profiles"] for row in signatures.values() if "profiles" in row}


def _item_files(
    root: Path,
    sides: tuple[Tree, Tree],
    dataset: Dataset,
    read: tuple[_Side, _Side],
    outputs: bool,
) -> list[dict[str, ItemFiles]]:
    """The score rows of each side by benchmark, and what CIMemories' are about where it is sure."""
    about = _about(root, sides, dataset, read, outputs)
    found = []
    for tree, side, own in zip(sides, read, about, strict=True):
        scores = {
            benchmark: tree.files(f"data/runs/{dataset}/{benchmark}/scores/*.jsonl")
            for benchmark in BENCHMARKS
        }
        of = {benchmark: ItemFiles(files) for benchmark, files in scores.items()}
        labelled = scores["cimemories"] if side.labels else []
        of["cimemories"] = ItemFiles(labelled, side.labels, own)
        found.append(of)
    return found


def _about(
    root: Path,
    sides: tuple[Tree, Tree],
    dataset: Dataset,
    read: tuple[_Side, _Side],
    outputs: bool,
) -> list[About | None]:
    """CIMemories' contexts and attributes of each side; on one side alone they pair nothing.

    Those of the working tree stand for both where their digest is that of both sides' data, so
    that DVC is asked for no more than it has to be.
    """
    here: set[str] = set()
    with suppress(InputError):  # the working tree need not be one of the sides
        here = _profiles(read_signatures(Tree(WORKING_TREE, None, root), dataset))
    data = [f"data/runs/{dataset}/cimemories/{name}" for name in _ABOUT]
    if len(here) == 1 and all(_profiles(side.signatures) == here for side in read):
        about = (root / data[0], root / data[1])
        if all(file.is_file() for file in about):
            return [about, about]
    found: list[About | None] = []
    for tree, side in zip(sides, read, strict=True):
        wanted = outputs and _profiles(side.signatures)
        contexts, attributes = (tree.output(file) if wanted else None for file in data)
        found.append((contexts, attributes) if contexts and attributes else None)
    return found if all(found) else [None, None]
