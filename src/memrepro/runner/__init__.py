"""Runs one stage, on the host or in a container: inputs checked, outputs placed whole."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from memrepro import __version__
from memrepro.errors import InputError
from memrepro.files import write_json
from memrepro.params import Dataset, load_params
from memrepro.runner.attempt import Attempt, attempt, place
from memrepro.runner.ownership import refuse_root_over_another_user
from memrepro.stages.declarations import Declaration, declare, require_inputs

Runner = Literal["auto", "docker", "host"]
RUNNERS: tuple[Runner, ...] = ("auto", "docker", "host")


def run_stage(
    root: Path,
    dataset: Dataset,
    name: str,
    system: str | None,
    workers: int,
    runner: Runner = "host",
    *,
    progress: bool = False,
) -> None:
    """Run one stage of a dataset's pipeline.

    The outputs appear whole or not at all: they are written under `.memrepro/attempts/` and renamed
    into place on success. A record of who ran it goes to `data/provenance/`.

    Args:
        root: the project.
        dataset: whose pipeline.
        name: the stage's name in dvc.yaml.
        system: its memory system, for a stage that has one.
        workers: how many processes may share the work; they move no byte.
        runner: `docker` runs it in a container or fails, `host` in this process; `auto` in a
            container where an engine answers and has this checkout's image.
        progress: draw a progress bar on stderr.

    Raises:
        InputError: no such stage or system, a missing input, fewer than one worker, no image for
            `docker`, or root in another user's checkout.
        ServiceError: another run of the same stage holds its lock, or the disk or engine refuses.
    """
    if workers < 1:
        raise InputError(
            "a stage needs at least one worker", where="MEMREPRO_WORKERS", found=str(workers)
        )
    refuse_root_over_another_user(root)
    declaration = declare(load_params(root, dataset), name, system)
    require_inputs(root, declaration)
    with attempt(root, dataset, declaration.title) as folders:
        started = datetime.now(UTC)
        facts = _run(root, dataset, declaration, folders, workers, runner, progress)
        place(root, folders, declaration)
        _write_provenance(root, dataset, declaration, started, facts)


def _run(
    root: Path,
    dataset: Dataset,
    declaration: Declaration,
    folders: Attempt,
    workers: int,
    runner: Runner,
    progress: bool,
) -> dict[str, Any]:
    """Write the outputs to the attempt's folder; returns facts for the provenance record."""
    if runner != "host":
        from memrepro.runner.container import run_in_container
        from memrepro.runner.image import choose_image

        image = choose_image(root, required=runner == "docker")
        if image is not None:
            return run_in_container(
                image, root, dataset, declaration, folders, workers=workers, progress=progress
            )
    from memrepro.runner.bodies import run_body

    facts = run_body(root, folders.out, dataset, declaration, workers, progress)
    return {"runner": "host", "python": platform.python_version(), **facts}


def _write_provenance(
    root: Path, dataset: str, declaration: Declaration, started: datetime, facts: dict[str, Any]
) -> None:
    """Who ran the stage, where and when; outside every output, so that no byte of it is locked."""
    record = {
        "stage": declaration.title,
        "dataset": dataset,
        "memrepro": __version__,
        "platform": platform.platform(),
        "started": started.isoformat(),
        "finished": datetime.now(UTC).isoformat(),
        "pid": os.getpid(),
        **facts,
    }
    write_json(root / "data/provenance" / dataset / f"{declaration.title}.json", record)
