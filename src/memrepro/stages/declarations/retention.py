"""The retention benchmark's stages."""

from collections.abc import Iterable

from memrepro.params import Params, system_params
from memrepro.stages.declarations.base import Declaration, Stage, runs_folder, shard_path


def _folder(params: Params) -> str:
    return runs_folder(params, "retention")


def _build(params: Params, edition: str | None) -> Declaration:
    folder = _folder(params)
    assert edition is not None
    data = params.retention.data
    return Declaration(
        name="retention.build",
        system=edition,
        inputs=(
            "data/SHA256SUMS",
            params.retention.editions[edition].dataset_path,
            data.policies,
            data.rules,
        ),
        outputs=(f"{folder}/inputs/{edition}", f"{folder}/judge_only/{edition}"),
        params=("models", "retention"),
    )


def _remember(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    assert system is not None
    return Declaration(
        name="retention.remember",
        system=system,
        inputs=(f"{folder}/inputs", system_params(params, "retention", system).reads),
        outputs=(f"{folder}/observations/{system}/rules.jsonl",),
        params=(
            "retention.editions",
            "retention.k",
            "retention.match",
            "retention.modes",
            "retention.on_undecided",
            f"systems.retention.{system}",
        ),
    )


def _remember_model(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    assert system is not None
    return Declaration(
        name="retention.remember_model",
        system=system,
        inputs=(
            f"{folder}/inputs",
            params.model_systems.retention[system].reads,
            params.retention.data.prompts,
            shard_path(params, "retention", "guard", system),
        ),
        outputs=(f"{folder}/observations/{system}/model.jsonl",),
        params=(
            "models",
            "retention.guard",
            "retention.k",
            "retention.match",
            "retention.model_modes",
            "retention.on_undecided",
            "retention.recorded",
            f"systems.retention.{system}",
        ),
    )


def _judge(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    observations = f"{folder}/observations/{system}"
    return Declaration(
        name="retention.judge",
        system=system,
        inputs=(
            f"{folder}/inputs",
            f"{observations}/rules.jsonl",
            f"{observations}/model.jsonl",
            params.retention.data.prompts,
            shard_path(params, "retention", "judge", str(system)),
        ),
        outputs=(f"{observations}/verdicts.jsonl",),
        params=("models", "retention.judge"),
    )


def _score(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    output = f"{folder}/scores/{system}.jsonl"
    return Declaration(
        name="retention.score",
        system=system,
        inputs=(f"{folder}/judge_only", f"{folder}/observations/{system}"),
        outputs=(output,),
        params=(),
        committed=(output,),
    )


def _editions(params: Params) -> Iterable[str]:
    return params.retention.editions


def _systems(params: Params) -> Iterable[str]:
    return params.systems.retention


def _model_systems(params: Params) -> Iterable[str]:
    return params.model_systems.retention


STAGES: dict[str, Stage] = {
    "retention.build": Stage(_editions, _build),
    "retention.remember": Stage(_systems, _remember),
    "retention.remember_model": Stage(_model_systems, _remember_model),
    "retention.judge": Stage(_model_systems, _judge),
    "retention.score": Stage(_systems, _score),
}
