"""CIMemories' stages."""

from collections.abc import Iterable

from memrepro.params import Params, system_params
from memrepro.stages.declarations.base import Declaration, Stage, runs_folder, shard_path

# Labelling has no system; its shard goes under this name, and one records it under it.
LABELS = "labels"
# The tables that DVC draws as plots lie apart from the others, committed.
PLOTS = ("accumulation", "frontier")
# The labels' prompts are our own: no released file holds the paper's.
LABEL_PROMPTS = "prompts/cimemories"


def _folder(params: Params) -> str:
    return runs_folder(params, "cimemories")


def _verify(params: Params, _: str | None) -> Declaration:
    folder = _folder(params)
    return Declaration(
        name="cimemories.verify",
        system=None,
        inputs=("data/sources.toml", "data/SHA256SUMS", params.cimemories.data.profiles),
        outputs=(f"{folder}/verified.jsonl", f"{folder}/data_facts.json"),
        params=("cimemories.data",),
    )


def _label(params: Params, source: str | None) -> Declaration:
    folder = _folder(params)
    labels = f"{folder}/labels/{source}.jsonl"
    reads = {name: row.reads for name, row in params.cimemories.label_sources.items()}
    return Declaration(
        name="cimemories.label",
        system=source,
        inputs=(
            params.cimemories.data.profiles,
            f"{folder}/verified.jsonl",
            LABEL_PROMPTS,
            next(path for name, path in reads.items() if name == source),
        ),
        outputs=(labels, f"{folder}/label_counts/{source}.jsonl"),
        params=("cimemories.label", "cimemories.recorded", "models"),
        committed=(labels,),
    )


def _build(params: Params, _: str | None) -> Declaration:
    folder = _folder(params)
    return Declaration(
        name="cimemories.build",
        system=None,
        inputs=(
            params.cimemories.data.profiles,
            f"{folder}/verified.jsonl",
            f"{folder}/labels/{params.cimemories.labels}.jsonl",
        ),
        outputs=(f"{folder}/inputs", f"{folder}/domains.jsonl", f"{folder}/judge_only"),
        params=("cimemories.compositions", "cimemories.labels", "cimemories.seed"),
    )


def _remember(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    assert system is not None
    return Declaration(
        name="cimemories.remember",
        system=system,
        inputs=(f"{folder}/inputs", system_params(params, "cimemories", system).reads),
        outputs=(f"{folder}/contexts/{system}.jsonl",),
        params=("cimemories.k", f"systems.cimemories.{system}"),
    )


def _judge(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    return Declaration(
        name="cimemories.judge",
        system=system,
        inputs=(f"{folder}/inputs", f"{folder}/judge_only", f"{folder}/contexts/{system}.jsonl"),
        outputs=(f"{folder}/verdicts/{system}/verbatim.jsonl",),
        params=(),
    )


def _answer(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    assert system is not None
    return Declaration(
        name="cimemories.answer",
        system=system,
        inputs=(
            f"{folder}/inputs",
            f"{folder}/contexts/{system}.jsonl",
            params.cimemories.data.prompts,
            shard_path(params, "cimemories", "answer", system),
        ),
        outputs=(f"{folder}/answers/{system}.jsonl",),
        params=(
            "cimemories.answer",
            "cimemories.prompt_form",
            "cimemories.prompt_levels",
            "cimemories.recorded",
            "cimemories.trials",
            "models",
        ),
    )


def _judge_model(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    assert system is not None
    return Declaration(
        name="cimemories.judge_model",
        system=system,
        inputs=(
            f"{folder}/judge_only",
            f"{folder}/answers/{system}.jsonl",
            params.cimemories.data.prompts,
            shard_path(params, "cimemories", "judge", system),
        ),
        outputs=(f"{folder}/verdicts/{system}/model.jsonl",),
        params=("cimemories.judge", "models"),
    )


def _score(params: Params, system: str | None) -> Declaration:
    folder = _folder(params)
    output = f"{folder}/scores/{system}.jsonl"
    return Declaration(
        name="cimemories.score",
        system=system,
        inputs=(f"{folder}/verdicts/{system}",),
        outputs=(output,),
        params=(),
        committed=(output,),
    )


def table_path(params: Params, name: str) -> str:
    """Where a table of the benchmark lies."""
    return f"{_folder(params)}/{'plots' if name in PLOTS else 'tables'}/{name}.json"


def scored_inputs(params: Params) -> tuple[str, ...]:
    """What a metric is computed from: scores, labels, and what they are about.

    Nothing where no system runs, as in a project of another benchmark alone.
    """
    folder = _folder(params)
    if not params.systems.cimemories:
        return ()
    return (
        f"{folder}/scores",
        f"{folder}/labels/{params.cimemories.labels}.jsonl",
        f"{folder}/inputs",
        f"{folder}/judge_only",
        params.cimemories.data.profiles,
    )


def _tables(params: Params, _: str | None) -> Declaration:
    folder = _folder(params)
    plots = tuple(f"{folder}/plots/{name}.json" for name in PLOTS)
    return Declaration(
        name="cimemories.tables",
        system=None,
        inputs=(
            f"{folder}/scores",
            f"{folder}/labels",
            f"{folder}/label_counts",
            f"{folder}/inputs",
            f"{folder}/judge_only",
        ),
        outputs=(f"{folder}/tables", *plots),
        params=("cimemories.labels", "cimemories.seed"),
        committed=plots,
    )


def _sources(params: Params) -> Iterable[str]:
    return params.cimemories.label_sources


def _systems(params: Params) -> Iterable[str]:
    return params.systems.cimemories


def _model_systems(params: Params) -> Iterable[str]:
    return params.model_systems.cimemories


STAGES: dict[str, Stage] = {
    "cimemories.verify": Stage(None, _verify),
    "cimemories.label": Stage(_sources, _label),
    "cimemories.build": Stage(None, _build),
    "cimemories.remember": Stage(_systems, _remember),
    "cimemories.judge": Stage(_systems, _judge),
    "cimemories.answer": Stage(_model_systems, _answer),
    "cimemories.judge_model": Stage(_model_systems, _judge_model),
    "cimemories.score": Stage(_systems, _score),
    "cimemories.tables": Stage(None, _tables),
}
