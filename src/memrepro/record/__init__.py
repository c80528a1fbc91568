"""Records the replies that a benchmark's steps need: the only way to a model. Resumable."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from memrepro.errors import InputError
from memrepro.llm.ledger import open_store
from memrepro.params import Model, Params, model_of
from memrepro.record.shard import Progress, Terms, record_shard
from memrepro.stages.declarations.base import shard_path
from memrepro.stages.processes import hold_lock
from memrepro.stages.steps import Step, step_calls, steps

STORE = ".memrepro/replies.sqlite"


@dataclass(frozen=True)
class Recording:
    """What is recorded: one system of one benchmark of a dataset, on what terms.

    Args:
        root: the project.
        params: the dataset's params.
        benchmark: the benchmark's name.
        system: the system's name.
        budget: US dollars that may be spent, or None.
        retry_failed: send recorded failures again.
        model: only this row of `models`; the steps of another are left out.
        api_key: the key of a model's row.
    """

    root: Path
    params: Params
    benchmark: str
    system: str
    budget: float | None
    retry_failed: bool
    model: str | None
    api_key: Callable[[Model], str]


def record(recording: Recording, progress: Progress) -> None:
    """Send every call that has no reply yet, step by step, and pack each step's shard.

    Raises:
        InputError: no step uses the model asked for, a stage's output is missing, or the server
            rejects the request.
        Stopped: the budget would be passed; what came is stored.
        ServiceError: every call failed, another recording runs, or the disk refuses.
    """
    root, params = recording.root, recording.params
    lock = root / ".memrepro/locks" / f"record.{params.dataset}.lock"
    with hold_lock(lock, f"a recording of {params.dataset}"), open_store(root / STORE) as store:
        for step in _wanted(recording):
            model = model_of(params, step.settings.model)
            left = None if recording.budget is None else recording.budget - progress.cost
            record_shard(
                root / shard_path(params, recording.benchmark, step.name, recording.system),
                step.name,
                partial(step_calls, root, params, step, recording.system),
                store,
                Terms(
                    name=step.settings.model,
                    model=model,
                    api_key=recording.api_key(model),
                    budget=left,
                    retry_failed=recording.retry_failed,
                ),
                progress,
            )


def _wanted(recording: Recording) -> list[Step]:
    every = steps(recording.params, recording.benchmark, recording.system)
    wanted = [step for step in every if recording.model in (None, step.settings.model)]
    if not wanted:
        raise InputError(
            f"no step of {recording.benchmark} asks the model {recording.model!r}",
            where=recording.params.params_file,
            expected=" or ".join(sorted({step.settings.model for step in every})),
        )
    return wanted
