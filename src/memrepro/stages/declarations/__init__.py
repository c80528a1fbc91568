"""One declaration a stage: the DVC test and the runner both read it."""

from collections.abc import Iterator
from pathlib import Path

from memrepro.errors import InputError
from memrepro.params import Params
from memrepro.stages.declarations import cimemories, inmind, retention
from memrepro.stages.declarations.base import Declaration, Stage

__all__ = ["STAGES", "Declaration", "declare", "declared", "require_inputs"]


def _metrics(params: Params, _: str | None) -> Declaration:
    outputs = (
        f"metrics/{params.dataset}.json",
        f"data/runs/{params.dataset}/signatures.jsonl",
    )
    return Declaration(
        name="metrics",
        system=None,
        inputs=(
            *inmind.scored_inputs(params),
            *cimemories.scored_inputs(params),
            params.retention.data.scores,
            "data/SHA256SUMS",
        ),
        outputs=outputs,
        params=("cimemories", "inmind", "model_systems", "models", "retention", "systems"),
        committed=outputs,
    )


STAGES: dict[str, Stage] = {
    **inmind.STAGES,
    **cimemories.STAGES,
    **retention.STAGES,
    "metrics": Stage(None, _metrics),
}


def declare(params: Params, name: str, system: str | None) -> Declaration:
    """The declaration of one stage.

    Raises:
        InputError: no such stage, or a system given where none belongs or missing where one does.
    """
    stage = STAGES.get(name)
    if stage is None:
        raise InputError(f"no stage {name!r}", expected=", ".join(STAGES))
    if stage.over and system is None:
        raise InputError(f"stage {name} runs for one system", hint="add --system NAME")
    if not stage.over and system is not None:
        raise InputError(f"stage {name} runs for no single system", hint="leave --system out")
    if stage.over and system not in (known := tuple(stage.over(params))):
        raise InputError(
            f"stage {name} does not run for {system!r}",
            where=params.params_file,
            expected=", ".join(known) or "none",
        )
    return stage.declare(params, system)


def declared(params: Params) -> Iterator[Declaration]:
    """Every stage of a dataset, systems in the order of the params."""
    for stage in STAGES.values():
        if stage.over:
            for system in stage.over(params):
                yield stage.declare(params, system)
        else:
            yield stage.declare(params, None)


def require_inputs(root: Path, declaration: Declaration) -> None:
    """Make sure that everything a stage reads is there, before it starts.

    Raises:
        InputError: names the first missing path and how to make it.
    """
    for path in declaration.inputs:
        if not (root / path).exists():
            raise InputError(
                "the stage needs a path that is not there",
                where=path,
                hint=_maker(path, declaration),
            )


def _maker(path: str, declaration: Declaration) -> str:
    """The command that makes a missing input."""
    if path.startswith("data/raw/"):
        return "memrepro fetch --dataset full"
    if path.startswith("data/ledger/"):
        dataset, benchmark = path.split("/")[2:4]
        return (
            f"memrepro record --dataset {dataset} --benchmark {benchmark} "
            f"--system {declaration.system}"
        )
    return "dvc repro"
