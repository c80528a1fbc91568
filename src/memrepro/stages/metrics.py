"""File work of the metrics stage: score rows to the metrics file and the signatures."""

from typing import Any

from memrepro import __version__, memory, store
from memrepro.digest import sha256_file
from memrepro.files import write_json, write_records
from memrepro.params import Params, model_of
from memrepro.signature import PAPER_INMIND, Signature, sign
from memrepro.sources.pins import RAW
from memrepro.stages.declarations.base import runs_folder
from memrepro.stages.work import Work


def write_metrics(work: Work) -> None:
    """Write `metrics/<dataset>.json` and a signature for every metric in it."""
    params = work.params
    scores = work.root / runs_folder(params, "inmind") / "scores"
    files = [scores / f"{system}.jsonl" for system in params.systems.inmind]
    metrics = store.inmind_metrics(files)
    raised = store.inmind_raised_caps(files)
    write_json(work.out / "metrics" / f"{params.dataset}.json", {"inmind": metrics})
    signatures = [
        _sign(work, system, metric, raised.get((system, metric), 0))
        for system in metrics
        for metric in sorted({store.metric_name(key) for key in metrics[system]})
    ]
    write_records(work.out / "data/runs" / params.dataset / "signatures.jsonl", signatures)


def _sign(work: Work, system: str, metric: str, raised_caps: int) -> Signature:
    params = work.params
    row = params.systems.inmind[system]
    kind = memory.load(memory.base_name(system))
    control = system.endswith(memory.CONTROL_SUFFIX)
    values: dict[str, Any] = {
        "benchmark": "inmind",
        "system": system,
        "metric": metric,
        "dataset": params.dataset,
        "tasks": sha256_file(work.root / params.inmind.data.tasks),
        "background": sha256_file(work.root / params.inmind.data.background),
        "kind": "control" if control else kind.kind,
        "implementation": f"{kind.__module__}:{kind.__qualname__}",
        "settings": row.settings,
        "k": params.inmind.k,
        **(_judged(params, metric) if "_verbatim" not in metric else _VERBATIM),
        "raised_caps": raised_caps,
        "version": __version__,
    }
    return sign(values, PAPER_INMIND)


_VERBATIM: dict[str, Any] = {
    "answer_model": "none",
    "answer_cap": 0,
    "judge": "verbatim",
    "judge_cap": 0,
    "prompts": "none",
    "reading": "verbatim",
}


def _judged(params: Params, metric: str) -> dict[str, Any]:
    answer, judge = params.inmind.answer, params.inmind.judge
    return {
        "answer_model": model_of(params, answer.model).identity,
        "answer_cap": answer.cap,
        "judge": model_of(params, judge.model).identity,
        "judge_cap": judge.cap,
        "prompts": "upstream" if params.inmind.data.prompts.startswith(f"{RAW}/") else "own",
        "reading": "gated" if metric == "application_gated" else "judged",
    }
