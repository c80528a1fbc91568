"""What each stage does, by its name; the same on the host and in the container."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memrepro.params import Dataset, load_params
from memrepro.stages.declarations import Declaration
from memrepro.stages.inmind import build, judge_system, remember_system, score_system, verify
from memrepro.stages.work import Work

Body = Callable[[Work, str], dict[str, Any] | None]


def _write_metrics(work: Work, _: str) -> None:
    from memrepro.stages.metrics import write_metrics

    write_metrics(work)


def _model_step(name: str) -> Body:
    """A stage that replays; its module is loaded by it alone."""

    def body(work: Work, system: str) -> None:
        from memrepro.stages import inmind_models

        getattr(inmind_models, name)(work, system)

    return body


BODIES: dict[str, Body] = {
    "inmind.verify": lambda work, _: verify(work),
    "inmind.build": lambda work, _: build(work),
    "inmind.remember": remember_system,
    "inmind.judge": judge_system,
    "inmind.answer": _model_step("answer_system"),
    "inmind.judge_model": _model_step("judge_model_system"),
    "inmind.score": score_system,
    "metrics": _write_metrics,
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
