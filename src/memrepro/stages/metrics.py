"""File work of the metrics stage: score rows to the metrics file and the signatures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memrepro import __version__, memory, store
from memrepro.digest import sha256_file
from memrepro.files import write_json, write_records
from memrepro.params import Params, Recorded, System, model_of
from memrepro.signature import PAPER_CIMEMORIES, PAPER_INMIND, Signature, sign
from memrepro.sources.pins import RAW
from memrepro.stages.cimemories_tables import run_of
from memrepro.stages.retention_metrics import judging_of, metrics_of, protocol_of, raised_caps
from memrepro.stages.work import Work
from memrepro.store.cimemories_runs import (
    cimemories_metrics,
    cimemories_raised_caps,
    metric_judge,
)

# What a metric says of the models where none had a part.
_NO_MODEL = {"answer_model": "none", "judge": "verbatim", "prompts": "none"}


def write_metrics(work: Work) -> None:
    """Write `metrics/<dataset>.json` and a signature for every metric in it."""
    params = work.params
    cimemories = _cimemories_metrics(work)
    inmind = _inmind_metrics(work)
    retention = metrics_of(work)
    found = {"cimemories": cimemories, "inmind": inmind, "retention": retention}
    # A benchmark in which no system runs has no entry.
    metrics = {benchmark: values for benchmark, values in found.items() if values}
    write_json(work.out / "metrics" / f"{params.dataset}.json", metrics)
    signatures = [
        *_cimemories(work, cimemories),
        *_inmind(work, inmind),
        *_retention(work, retention),
    ]
    write_records(work.out / "data/runs" / params.dataset / "signatures.jsonl", signatures)


def _cimemories_metrics(work: Work) -> dict[str, Any]:
    if not work.params.systems.cimemories:
        return {}
    labels = work.read("cimemories", f"labels/{work.params.cimemories.labels}.jsonl")
    return cimemories_metrics(run_of(work), labels)


def _inmind_metrics(work: Work) -> dict[str, Any]:
    files = _inmind_files(work)
    return store.inmind_metrics(files) if files else {}


def _inmind_files(work: Work) -> list[Path]:
    return [work.read("inmind", f"scores/{name}.jsonl") for name in work.params.systems.inmind]


def _names(entries: dict[str, Any]) -> list[str]:
    """The metrics that a block of the metrics file holds, each once."""
    return sorted({store.metric_name(key) for key in entries})


def _inmind(work: Work, metrics: dict[str, Any]) -> Iterator[Signature]:
    if not metrics:
        return
    params = work.params
    raised = store.inmind_raised_caps(_inmind_files(work))
    protocol = {
        "tasks": sha256_file(work.root / params.inmind.data.tasks),
        "background": sha256_file(work.root / params.inmind.data.background),
        "k": params.inmind.k,
    }
    for system, entries in metrics.items():
        for metric in _names(entries):
            judged = "_verbatim" not in metric
            values = {
                **_common(params, "inmind", params.systems.inmind[system], (system, metric)),
                **(_models(params, "inmind") if judged else _NO_MODEL),
                "reading": _inmind_reading(metric),
                "raised_caps": raised.get((system, metric), 0),
                "protocol": {
                    **protocol,
                    "answer_cap": params.inmind.answer.cap if judged else 0,
                    "judge_cap": params.inmind.judge.cap if judged else 0,
                },
            }
            yield sign(values, PAPER_INMIND)


def _inmind_reading(metric: str) -> str:
    if "_verbatim" in metric:
        return "verbatim"
    # Neither is a metric of the paper.
    own = {"application_gated": "gated", "unprompted_warning": "own"}
    return own.get(metric, "judged")


def _cimemories(work: Work, metrics: dict[str, Any]) -> Iterator[Signature]:
    if not metrics:
        return
    params = work.params
    settings = params.cimemories
    raised = cimemories_raised_caps(run_of(work).scores)
    protocol = {
        "profiles": sha256_file(work.root / settings.data.profiles),
        "labels": settings.labels,
        "composition": "full",
        "k": settings.k,
    }
    by_model = {
        "trials": settings.trials,
        "prompt_form": settings.prompt_form,
        "recorded": "all" if settings.recorded == Recorded() else settings.recorded.model_dump(),
        "answer_cap": settings.answer.cap,
        "judge_cap": settings.judge.cap,
    }
    by_rule = {**dict.fromkeys(by_model), "trials": 1, "prompt_form": "none"}
    for place in _places(metrics):
        system, reading, metric = place
        judge, level = metric_judge(metric)
        values = {
            **_common(params, "cimemories", params.systems.cimemories[system], place),
            **(_models(params, "cimemories") if judge == "model" else _NO_MODEL),
            "reading": reading,
            "raised_caps": raised.get((system, judge, level), 0),
            "protocol": {
                **protocol,
                **(by_model if judge == "model" else by_rule),
                "memory": system,
                "prompt_level": level,
            },
        }
        yield sign(values, PAPER_CIMEMORIES)


def _retention(work: Work, metrics: dict[str, Any]) -> Iterator[Signature]:
    params = work.params
    raised = raised_caps(work)
    for edition, systems in metrics.items():
        for system, mode, metric in _places(systems):
            row = params.systems.retention[system]
            values = {
                **_common(params, "retention", row, (system, mode, metric)),
                "path": "/".join(("retention", edition, system, mode, metric)),
                **_NO_MODEL,
                **judging_of(work, system, mode),
                "reading": edition,
                "raised_caps": raised.get((edition, system, mode), 0),
                "protocol": protocol_of(work, edition, mode),
            }
            yield sign(values, None)


def _places(metrics: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for system, readings in metrics.items():
        for reading, entries in readings.items():
            for metric in _names(entries):
                yield system, reading, metric


def _common(params: Params, benchmark: str, row: System, place: tuple[str, ...]) -> dict[str, Any]:
    system = place[0]
    kind = memory.load(memory.base_name(system))
    control = system.endswith(memory.CONTROL_SUFFIX)
    return {
        "path": "/".join((benchmark, *place)),
        "benchmark": benchmark,
        "system": system,
        "metric": place[-1],
        "dataset": params.dataset,
        "kind": "control" if control else kind.kind,
        "implementation": f"{kind.__module__}:{kind.__qualname__}",
        "settings": row.settings,
        "version": __version__,
    }


def _models(params: Params, benchmark: str) -> dict[str, str]:
    settings = getattr(params, benchmark)
    return {
        "answer_model": model_of(params, settings.answer.model).identity,
        "judge": model_of(params, settings.judge.model).identity,
        "prompts": "upstream" if settings.data.prompts.startswith(f"{RAW}/") else "own",
    }
