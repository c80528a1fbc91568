"""What the tables of a dataset are built from: which files, and what each holds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memrepro.files import leaves, read_json, read_records
from memrepro.llm.call import Reply
from memrepro.params import ModelStep, Params, params_path
from memrepro.records import (
    CIMemoriesAnswer,
    CIMemoriesAttribute,
    CIMemoriesContext,
    CIMemoriesLabels,
    CIMemoriesScore,
    CIMemoriesSelection,
    CIMemoriesVerdict,
    InMindAnswer,
    InMindContext,
    InMindScore,
    InMindTask,
    InMindVerdict,
    Record,
    RetentionInput,
    RetentionJudgeOnly,
    RetentionObservation,
    RetentionScore,
    RetentionVerdict,
)
from memrepro.signature import Signature
from memrepro.sources.pins import SOURCES, load_pins
from memrepro.store.tables import Metric, Pin, Run


class Part(NamedTuple):
    """Files of one kind of row.

    Args:
        table: the table that they become.
        record: their rows.
        pattern: which files, below the project; `{}` is the dataset.
        named: columns that the last parts of a file's path stand for, the last one without suffix;
            an empty name is passed over.
    """

    table: str
    record: type[Record]
    pattern: str
    named: tuple[str, ...] = ()


_RUNS = "data/runs/{}"
_INMIND = f"{_RUNS}/inmind"
_CIMEMORIES = f"{_RUNS}/cimemories"
_RETENTION = f"{_RUNS}/retention"

PARTS = (
    Part("inmind_task", InMindTask, f"{_INMIND}/inputs/tasks.jsonl"),
    Part("inmind_context", InMindContext, f"{_INMIND}/contexts/*/contexts.jsonl"),
    Part("inmind_answer", InMindAnswer, f"{_INMIND}/answers/*.jsonl"),
    Part("inmind_verdict", InMindVerdict, f"{_INMIND}/verdicts/*/*.jsonl"),
    Part("inmind_score", InMindScore, f"{_INMIND}/scores/*.jsonl"),
    Part("cimemories_context", CIMemoriesContext, f"{_CIMEMORIES}/inputs/contexts.jsonl"),
    Part("cimemories_attribute", CIMemoriesAttribute, f"{_CIMEMORIES}/judge_only/attributes.jsonl"),
    Part("cimemories_selection", CIMemoriesSelection, f"{_CIMEMORIES}/contexts/*.jsonl"),
    Part("cimemories_answer", CIMemoriesAnswer, f"{_CIMEMORIES}/answers/*.jsonl"),
    Part("cimemories_verdict", CIMemoriesVerdict, f"{_CIMEMORIES}/verdicts/*/*.jsonl"),
    Part("cimemories_score", CIMemoriesScore, f"{_CIMEMORIES}/scores/*.jsonl"),
    Part("retention_input", RetentionInput, f"{_RETENTION}/inputs/*/cells.jsonl", ("edition", "")),
    Part(
        "retention_judge_only",
        RetentionJudgeOnly,
        f"{_RETENTION}/judge_only/*/cells.jsonl",
        ("edition", ""),
    ),
    # `rules` and `model`; beside them lie the verdicts.
    Part("retention_observation", RetentionObservation, f"{_RETENTION}/observations/*/[rm]*.jsonl"),
    Part("retention_verdict", RetentionVerdict, f"{_RETENTION}/observations/*/verdicts.jsonl"),
    Part("retention_score", RetentionScore, f"{_RETENTION}/scores/*.jsonl"),
    Part("call_reply", Reply, "data/ledger/{}/*/*/*.jsonl", ("benchmark", "step", "system")),
)


def parts(params: Params) -> tuple[Part, ...]:
    """The kinds of rows of a dataset; of CIMemories' labels those that score."""
    labels = f"{_CIMEMORIES}/labels/{params.cimemories.labels}.jsonl"
    return (*PARTS, Part("cimemories_label", CIMemoriesLabels, labels))


def files_of(root: Path, params: Params, part: Part) -> list[Path]:
    """The files of a part that are there, sorted."""
    return sorted(root.glob(part.pattern.format(params.dataset)))


def other_files(root: Path, params: Params) -> list[Path]:
    """What is read beside the parts, as far as it is there."""
    dataset = params.dataset
    found = [root / params_path(dataset), root / SOURCES, _metrics(root, dataset)]
    found += [_signatures(root, dataset), *_provenance(root, dataset)]
    return [path for path in found if path.is_file()]


def _metrics(root: Path, dataset: str) -> Path:
    return root / "metrics" / f"{dataset}.json"


def _signatures(root: Path, dataset: str) -> Path:
    return root / _RUNS.format(dataset) / "signatures.jsonl"


def _provenance(root: Path, dataset: str) -> list[Path]:
    return sorted((root / "data/provenance" / dataset).glob("*.json"))


def prices(params: Params) -> Iterator[tuple[str, str, float, float]]:
    """Benchmark, step, and what a million tokens of its model cost: in the prompt, in the reply."""
    for benchmark in ("inmind", "cimemories", "retention"):
        settings = getattr(params, benchmark)
        for step in type(settings).model_fields:
            asked = getattr(settings, step)
            if isinstance(asked, ModelStep) and asked.model in params.models:
                model = params.models[asked.model]
                yield benchmark, step, model.price_input, model.price_output


def run_rows(root: Path, dataset: str) -> Iterator[Run]:
    """Who ran each stage last."""
    for path in _provenance(root, dataset):
        found = read_json(path)
        given = {name: found.get(name) for name in Run.model_fields}
        yield Run.model_validate(given, strict=False)


def metric_rows(root: Path, dataset: str) -> Iterator[Metric]:
    """Every number of the metrics file, with its signature's verdict where that is at hand."""
    from memrepro.store import metric_name

    path, signed = _metrics(root, dataset), _signatures(root, dataset)
    if not path.is_file():
        return
    signatures = read_records(signed, Signature) if signed.is_file() else []
    by_path = {row.path: row for row in signatures}
    for place, value in leaves(read_json(path)):
        signature = by_path.get("/".join((*place[:-1], metric_name(place[-1]))))
        yield Metric(
            path="/".join(place),
            value=float(value),
            kind=signature.kind if signature else None,
            comparable=signature.comparable if signature else None,
            deviations=signature.deviations if signature else None,
            **_named(place),
        )


# What the levels of the metrics file are, below the benchmark and above the metric.
_LEVELS = {
    "inmind": ("system",),
    "cimemories": ("system", "reading"),
    "retention": ("edition", "system", "mode"),
}


def _named(place: tuple[str, ...]) -> dict[str, Any]:
    benchmark, *levels, metric = place
    named = dict.fromkeys(("reading", "edition", "mode"))
    named |= dict(zip(_LEVELS[benchmark], levels, strict=True))
    return {"benchmark": benchmark, "metric": metric, **named}


def pin_rows(root: Path, dataset: str) -> Iterator[Pin]:
    """The pins of a dataset."""
    if (root / SOURCES).is_file():
        for pin in load_pins(root):
            if pin.dataset == dataset:
                yield Pin(**{name: getattr(pin, name) for name in Pin.model_fields})
