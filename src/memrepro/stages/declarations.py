"""One declaration a stage: the DVC test and the runner both read it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memrepro.errors import InputError
from memrepro.params import Params, system_params


@dataclass(frozen=True)
class Declaration:
    """What one stage of one dataset reads and writes, as paths from the project root.

    `params` are keys of the dataset's params file. An output in `committed` is small and kept in
    Git instead of DVC's cache.
    """

    name: str
    system: str | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    params: tuple[str, ...]
    committed: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The stage as DVC names it, but for the file: `name` or `name@system`."""
        return f"{self.name}@{self.system}" if self.system else self.name


@dataclass(frozen=True)
class Stage:
    """A kind of stage: for which of the params' systems it runs, and how to declare it.

    `over` lists the systems; None stands for a stage that runs once.
    """

    over: Callable[[Params], Iterable[str]] | None
    declare: Callable[[Params, str | None], Declaration]


def inmind_folder(params: Params) -> str:
    """Where InMind's stage outputs of a dataset lie."""
    return f"data/runs/{params.dataset}/inmind"


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
        outputs=(f"{inmind_folder(params)}/verified.jsonl",),
        params=("inmind.data",),
    )


def _build(params: Params, _: str | None) -> Declaration:
    folder = inmind_folder(params)
    data = params.inmind.data
    return Declaration(
        name="inmind.build",
        system=None,
        inputs=(data.tasks, data.background, data.manifest, f"{folder}/verified.jsonl"),
        outputs=(f"{folder}/inputs", f"{folder}/judge_only"),
        params=("inmind.data",),
    )


def _remember(params: Params, system: str | None) -> Declaration:
    folder = inmind_folder(params)
    assert system is not None
    return Declaration(
        name="inmind.remember",
        system=system,
        inputs=(f"{folder}/inputs", system_params(params, "inmind", system).reads),
        outputs=(f"{folder}/contexts/{system}",),
        params=("inmind.k", f"systems.inmind.{system}"),
    )


def _judge(params: Params, system: str | None) -> Declaration:
    folder = inmind_folder(params)
    return Declaration(
        name="inmind.judge",
        system=system,
        inputs=(f"{folder}/inputs", f"{folder}/contexts/{system}"),
        outputs=(f"{folder}/verdicts/{system}/verbatim.jsonl",),
        params=(),
    )


def shard_path(params: Params, benchmark: str, step: str, system: str) -> str:
    """Where the recorded replies of one step and system lie."""
    return f"data/ledger/{params.dataset}/{benchmark}/{step}/{system}.jsonl"


def _answer(params: Params, system: str | None) -> Declaration:
    folder = inmind_folder(params)
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
    folder = inmind_folder(params)
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
    folder = inmind_folder(params)
    output = f"{folder}/scores/{system}.jsonl"
    return Declaration(
        name="inmind.score",
        system=system,
        inputs=(f"{folder}/judge_only", f"{folder}/verdicts/{system}"),
        outputs=(output,),
        params=(),
        committed=(output,),
    )


def _metrics(params: Params, _: str | None) -> Declaration:
    data = params.inmind.data
    outputs = (
        f"metrics/{params.dataset}.json",
        f"data/runs/{params.dataset}/signatures.jsonl",
    )
    return Declaration(
        name="metrics",
        system=None,
        inputs=(f"{inmind_folder(params)}/scores", data.tasks, data.background),
        outputs=outputs,
        params=("inmind", "models", "systems"),
        committed=outputs,
    )


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
    if system is not None:
        system_params(params, name.partition(".")[0], system)
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
