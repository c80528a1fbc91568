"""What each stage does, by its name; the same on the host and in the container."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from memrepro.params import Dataset, load_params
from memrepro.stages.declarations import Declaration
from memrepro.stages.inmind import build, judge_system, remember_system, score_system, verify
from memrepro.stages.work import Work

Body = Callable[[Work, str], dict[str, Any] | None]


def _on_demand(module: str, name: str) -> Body:
    """A stage whose module is loaded by it alone."""

    def body(work: Work, system: str) -> dict[str, Any] | None:
        function = getattr(import_module(f"memrepro.stages.{module}"), name)
        done: dict[str, Any] | None = function(work, system) if system else function(work)
        return done

    return body


BODIES: dict[str, Body] = {
    "inmind.verify": lambda work, _: verify(work),
    "inmind.build": lambda work, _: build(work),
    "inmind.remember": remember_system,
    "inmind.judge": judge_system,
    "inmind.answer": _on_demand("inmind_models", "answer_system"),
    "inmind.judge_model": _on_demand("inmind_models", "judge_model_system"),
    "inmind.score": score_system,
    "cimemories.verify": _on_demand("cimemories", "verify"),
    "cimemories.label": _on_demand("cimemories", "label"),
    "cimemories.build": _on_demand("cimemories", "build"),
    "cimemories.remember": _on_demand("cimemories", "remember_system"),
    "cimemories.judge": _on_demand("cimemories", "judge_system"),
    "cimemories.answer": _on_demand("cimemories_models", "answer_system"),
    "cimemories.judge_model": _on_demand("cimemories_models", "judge_model_system"),
    "cimemories.score": _on_demand("cimemories", "score_system"),
    "cimemories.tables": _on_demand("cimemories", "write_tables"),
    "retention.build": _on_demand("retention", "build"),
    "retention.remember": _on_demand("retention", "remember_system"),
    "retention.remember_model": _on_demand("retention_models", "remember_model_system"),
    "retention.judge": _on_demand("retention_models", "judge_system"),
    "retention.score": _on_demand("retention", "score_system"),
    "metrics": _on_demand("metrics", "write_metrics"),
}


def run_body(
    root: Path,
    out: Path,
    dataset: Dataset,
    declaration: Declaration,
    workers: int,
    progress: bool,
) -> dict[str, Any]:
    """Do a stage's work: inputs from below `root`, outputs to below `out`.

    Returns:
        Facts for the provenance record.
    """
    params = load_params(root, dataset)
    work = Work(root=root, out=out, params=params, workers=workers, progress=progress)
    return BODIES[declaration.name](work, declaration.system or "") or {}
