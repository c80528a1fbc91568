"""InMind's stages."""

from collections.abc import Iterable

from memrepro.params import Params, system_params
from memrepro.stages.declarations.base import Declaration, Stage, runs_folder, shard_path


def _folder(params: Params) -> str:
    return runs_folder(params, "inmind")


def _verify(params: Params, _: str | None) -> Declaration:
    data = params.inmind.data
    return Declaration(
        name="inmind.verify",
        system=None,
        inputs=(
            "data/sources.toml",
            "data/SHA256SUMS",
            data.tasks,
            data.task_schema,
            data.background,
            data.manifest,
        ),
        outputs=(f"{_folder(params)}/verified.jsonl",),
        params=("inmind.data",),
    )


def _build(params: Params, _: str | None) -> Declaration:
    folder = _folder(params)
    data = params.inmind.data
    return Declaration(
        name="inmind.build",
        system=None,
        inputs=(data.tasks, data.background, data.manifest, f"{folder}/verified.jsonl"),
        outputs=(f"{folder}/inputs", f"{folder}/judge_only"),
        params=("inmind.data",),
    )


def _remember(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    assert system is not None
    return Declaration(
        name="inmind.remember",
        system=system,
        inputs=(f"{folder}/inputs", system_params(params, "inmind", system).reads),
        outputs=(f"{folder}/contexts/{system}",),
        params=("inmind.k", f"systems.inmind.{system}"),
    )


def _judge(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    return Declaration(
        name="inmind.judge",
        system=system,
        inputs=(f"{folder}/inputs", f"{folder}/contexts/{system}"),
        outputs=(f"{folder}/verdicts/{system}/verbatim.jsonl",),
        params=(),
    )


def _answer(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    assert system is not None
    return Declaration(
        name="inmind.answer",
        system=system,
        inputs=(
            f"{folder}/inputs",
            f"{folder}/contexts/{system}",
            params.inmind.data.prompts,
            shard_path(params, "inmind", "answer", system),
        ),
        outputs=(f"{folder}/answers/{system}.jsonl",),
        params=("inmind.answer", "models"),
    )


def _judge_model(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    assert system is not None
    return Declaration(
        name="inmind.judge_model",
        system=system,
        inputs=(
            f"{folder}/inputs",
            f"{folder}/judge_only",
            f"{folder}/contexts/{system}",
            f"{folder}/answers/{system}.jsonl",
            params.inmind.data.prompts,
            shard_path(params, "inmind", "judge", system),
        ),
        outputs=(f"{folder}/verdicts/{system}/model.jsonl",),
        params=("inmind.judge", "models"),
    )


def _score(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    output = f"{folder}/scores/{system}.jsonl"
    return Declaration(
        name="inmind.score",
        system=system,
        inputs=(f"{folder}/judge_only", f"{folder}/verdicts/{system}"),
        outputs=(output,),
        params=(),
        committed=(output,),
    )


def scored_inputs(params: Params) -> tuple[str, ...]:
    """What a metric is computed from and what its data is; nothing where no system runs."""
    if not params.systems.inmind:
        return ()
    data = params.inmind.data
    return (f"{_folder(params)}/scores", data.tasks, data.background)


def _systems(params: Params) -> Iterable[str]:
    return params.systems.inmind


def _model_systems(params: Params) -> Iterable[str]:
    return params.model_systems.inmind


STAGES: dict[str, Stage] = {
    "inmind.verify": Stage(None, _verify),
    "inmind.build": Stage(None, _build),
    "inmind.remember": Stage(_systems, _remember),
    "inmind.judge": Stage(_systems, _judge),
    "inmind.answer": Stage(_model_systems, _answer),
    "inmind.judge_model": Stage(_model_systems, _judge_model),
    "inmind.score": Stage(_systems, _score),
}
