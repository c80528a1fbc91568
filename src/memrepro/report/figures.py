"""Every figure of a run, with its interval and what its signature says of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from memrepro.compare.measures import MEAN_OF_MEANS, is_binary
from memrepro.compare.metrics import Entries, read_metrics
from memrepro.compare.revision import WORKING_TREE, Tree
from memrepro.digest import seed_of
from memrepro.errors import InputError
from memrepro.files import read_records
from memrepro.params import Diff
from memrepro.signature import Signature
from memrepro.stages.work import Work
from memrepro.stats import Interval, Units, bootstrap, wilson
from memrepro.store.clusters import Cluster, clusters
from memrepro.store.items import ItemFiles

Method = Literal["Wilson", "bootstrap by cluster"]


@dataclass(frozen=True)
class Figure:
    """One metric of a run.

    `low` and `high` are the value, or the bounds that failures leave, as in the metrics file.
    `n_scored` of `n_total` items are scored; None where the file does not say and no item stands
    behind the metric. `interval` has a `method`, and is None where nothing can be drawn.
    """

    path: str
    low: float
    high: float
    n_scored: int | None
    n_total: int | None
    interval: Interval | None
    method: Method | None
    signature: Signature

    @property
    def metric(self) -> str:
        """The metric's own name."""
        return self.path.rpartition("/")[2]

    @property
    def benchmark(self) -> str:
        """The benchmark that it is of."""
        return self.path.partition("/")[0]


def read_figures(work: Work) -> dict[str, Figure]:
    """Every figure of a run by its path in the metrics file.

    Raises:
        InputError: the run's metrics, signatures or score rows are missing or malformed.
    """
    dataset = work.params.dataset
    hint = f"make repro DATASET={dataset}"
    metrics = read_metrics(Tree(WORKING_TREE, None, work.root), dataset)
    if metrics is None:
        raise InputError("no metrics to report", where=f"metrics/{dataset}.json", hint=hint)
    file = work.root / "data/runs" / dataset / "signatures.jsonl"
    signatures = {row.path: row for row in read_records(file, Signature, hint=hint)}
    if unsigned := sorted({*metrics} - {*signatures}):
        raise InputError("a metric has no signature", where=f"{file}, {unsigned[0]}", hint=hint)
    drawn = dict(_clusters(work, {path.partition("/")[0] for path in metrics}))
    return {
        path: _figure(path, entries, drawn.get(path, []), signatures[path], work.params.diff)
        for path, entries in sorted(metrics.items())
    }


def _clusters(work: Work, benchmarks: set[str]) -> Iterator[tuple[str, list[Cluster]]]:
    for benchmark in sorted(benchmarks):
        scores = sorted(work.read(benchmark, "scores").glob("*.jsonl"))
        files = ItemFiles(scores)
        if benchmark == "cimemories":
            labels = work.read(benchmark, f"labels/{work.params.cimemories.labels}.jsonl")
            names = ("inputs/contexts.jsonl", "judge_only/attributes.jsonl")
            contexts, attributes = (work.read(benchmark, name) for name in names)
            files = ItemFiles(scores, labels, (contexts, attributes))
        for place, found in clusters(benchmark, files).items():
            yield f"{benchmark}/{place}", found


def _figure(
    path: str,
    entries: Entries,
    found: Sequence[Cluster],
    signature: Signature,
    settings: Diff,
) -> Figure:
    metric = path.rpartition("/")[2]
    low, high = _bounds(path, metric, entries)
    items, scored = (sum(one.items for one in found), sum(one.scored for one in found))
    clustered = any(one.cluster is not None for one in found)
    interval: Interval | None = None
    method: Method | None = None
    if found and not clustered and is_binary(metric):
        method = "Wilson"
        interval = Interval(
            wilson(round(low * items), items, alpha=settings.alpha).low,
            wilson(round(high * items), items, alpha=settings.alpha).high,
        )
    elif clustered and scored == items:
        interval = _resampled(path, found, settings)
        method = "bootstrap by cluster" if interval else None
    return Figure(
        path=path,
        low=low,
        high=high,
        n_scored=_count(entries, f"{metric}_n_scored", scored if found else None),
        n_total=_count(entries, f"{metric}_n_total", items if found else None),
        interval=interval,
        method=method,
        signature=signature,
    )


def _bounds(
    path: str, metric: str, entries: Mapping[str, float | int | None]
) -> tuple[float, float]:
    value = entries.get(metric)
    low, high = entries.get(f"{metric}_low", value), entries.get(f"{metric}_high", value)
    if low is None or high is None:
        raise InputError("a metric has neither a value nor bounds", where=path)
    return low, high


def _count(
    entries: Mapping[str, float | int | None], key: str, otherwise: int | None
) -> int | None:
    value = entries.get(key)
    return otherwise if value is None else int(value)


def _resampled(path: str, found: Sequence[Cluster], settings: Diff) -> Interval | None:
    """The interval of a mean over clusters; None for a single one."""
    drawn = bootstrap(
        Units(
            np.array([one.total for one in found]), np.array([float(one.items) for one in found])
        ),
        alpha=settings.alpha,
        resamples=settings.resamples,
        generator=np.random.default_rng(seed_of(settings.seed, path)),
        mean_of_means=path.startswith(MEAN_OF_MEANS),
    )
    return drawn.interval if drawn else None
