"""The typed view of the params files: `params.yaml` (sample) and `full/params.yaml` (full)."""

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memrepro.errors import InputError

Dataset = Literal["sample", "full"]
DATASETS: tuple[Dataset, ...] = ("sample", "full")


class _Params(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class System(_Params):
    """One row of `systems.<benchmark>`.

    `reads` is the one path that the system reads beside its inputs: a model's folder, or the
    dependency lock, which is what decides the version of every library.
    """

    reads: str
    settings: dict[str, Any] = Field(default_factory=dict)


# How a model is held to a JSON schema: OpenAI's `json_schema`, or llama.cpp's and others'
# `json_object` with the schema beside it, or not at all.
StructuredOutput = Literal["json_schema", "json_object", "none"]


class Model(_Params):
    """One row of `models`: what a model is, where it is served, what it takes and costs.

    `identity` is what goes into the keys of recorded replies; `name` is what the server calls it.
    The key for the server comes from the environment variable `api_key_env`. `cap_parameter` is the
    name under which the server takes the token cap; `temperature` is sent unless null. Prices are
    US dollars a million tokens. Nothing below `structured_output` moves a recorded key.
    """

    identity: str
    temperature: float | None = Field(default=None, ge=0)
    structured_output: StructuredOutput = "none"
    name: str
    base_url: str
    api_key_env: str | None = None
    cap_parameter: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    price_input: float = Field(default=0.0, ge=0)
    price_output: float = Field(default=0.0, ge=0)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=600.0, gt=0)
    attempts: int = Field(default=6, ge=1)
    concurrency: int = Field(default=16, ge=1)


class ModelStep(_Params):
    """A step that asks a model: which row of `models`, and the token cap of a reply."""

    model: str
    cap: int = Field(ge=1)


class InMindData(_Params):
    """Where the edition's task and history files and its prompts lie, from the project root."""

    tasks: str
    task_schema: str
    background: str
    manifest: str
    prompts: str


class InMind(_Params):
    """InMind's own settings: items recalled for a query, its models, and the edition's files."""

    k: int = Field(ge=1)
    answer: ModelStep
    judge: ModelStep
    data: InMindData


class LabelStep(ModelStep):
    """CIMemories' labelling: its model, and how often each persona is asked."""

    samples: int = Field(ge=1)


class LabelSource(_Params):
    """Where one kind of CIMemories' labels comes from: a rule table, a shard, an imported file."""

    reads: str


class Recorded(_Params):
    """How much of CIMemories has a model's part: the first profiles, their first contexts."""

    profiles: int | None = Field(default=None, ge=1)
    contexts: int | None = Field(default=None, ge=1)


class CIMemoriesData(_Params):
    """Where the edition's profiles and prompts lie: a folder, or upstream's YAML file."""

    profiles: str
    prompts: str


class CIMemories(_Params):
    """CIMemories' own settings.

    `labels` is the label source that scores, of `label_sources`. `trials` is n of Violation@n for
    messages of a model. `seed` draws compositions and orders of tasks.
    """

    k: int = Field(ge=1)
    seed: int
    labels: Literal["rules", "generate", "import"]
    label_sources: dict[Literal["rules", "generate", "import"], LabelSource]
    compositions: list[str] = Field(min_length=1)
    prompt_form: Literal["attributes", "released"]
    prompt_levels: list[Annotated[int, Field(ge=1, le=4)]] = Field(min_length=1)
    trials: int = Field(ge=1)
    label: LabelStep
    answer: ModelStep
    judge: ModelStep
    recorded: Recorded
    data: CIMemoriesData


class RetentionEdition(_Params):
    """One edition: a dataset file, or a corpus file, whose facts are put under every policy."""

    dataset_path: str


class RetentionRecorded(_Params):
    """The part of the retention benchmark that has a guard's model: editions, first policies."""

    policies: int | None = Field(default=None, ge=1)
    editions: list[str]


class RetentionData(_Params):
    """Where policies, rules and prompts lie, and what the metrics are counted from."""

    policies: str
    rules: str
    prompts: str
    scores: str


class Retention(_Params):
    """The retention benchmark's own settings.

    `modes` need no model and run on everything; `model_modes` run on what is `recorded`.
    `policy_ids` chooses policies and `limit` so many rows, whole policies only; null is all.
    `policy.configuration` holds all of it to what a run takes for granted.
    """

    k: int = Field(ge=1)
    active: bool
    recall_filtering: bool
    modes: list[Literal["none", "deterministic"]] = Field(min_length=1)
    model_modes: list[Literal["hybrid", "llm"]] = Field(min_length=1)
    match: Literal["word", "substring"]
    on_undecided: Literal["block", "store"]
    policy_ids: list[str] | None
    limit: int | None
    guard: ModelStep
    judge: ModelStep
    recorded: RetentionRecorded
    editions: dict[str, RetentionEdition]
    data: RetentionData


class Systems(_Params):
    """Which systems run in which benchmark."""

    inmind: dict[str, System]
    cimemories: dict[str, System]
    retention: dict[str, System]


class ModelSystem(_Params):
    """One row of `model_systems.<benchmark>`: it has no settings of its own."""


class ModelSystems(_Params):
    """Which systems have recorded replies in which benchmark.

    In retention the system runs once more for them, so its row in `systems` is given again.
    """

    inmind: dict[str, ModelSystem]
    cimemories: dict[str, ModelSystem]
    retention: dict[str, System]


class Diff(_Params):
    """How two revisions are compared.

    `alpha` is the level of significance, `tolerance` how far a metric may move unheeded. `family`
    is what Holm's correction is over in each benchmark: the primary metric of each system, or all
    metrics. `resamples` and `seed` are the bootstrap's.
    """

    alpha: float = Field(default=0.05, gt=0, lt=1)
    tolerance: float = Field(default=0.0, ge=0)
    family: Literal["primary", "all"] = "primary"
    resamples: int = Field(default=10_000, ge=100)
    seed: int = 1


class Params(_Params):
    """One params file. `wdir` leads from the file's folder to the project root."""

    dataset: Dataset
    wdir: str
    params_file: str
    inmind: InMind
    cimemories: CIMemories
    retention: Retention
    budget: float = Field(ge=0)
    diff: Diff = Field(default_factory=Diff)
    models: dict[str, Model]
    systems: Systems
    model_systems: ModelSystems


def params_path(dataset: Dataset) -> Path:
    """The params file of a dataset, from the project root."""
    return Path("params.yaml") if dataset == "sample" else Path("full/params.yaml")


def load_params(root: Path, dataset: Dataset) -> Params:
    """Read and check a dataset's params.

    Raises:
        InputError: the file is missing, no YAML, or a key is unknown or of the wrong type.
    """
    path = root / params_path(dataset)
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML: {error}", where=str(path)) from None
    try:
        return Params.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise InputError(
            str(first["msg"]), where=f"{path}, key {key or 'top level'}", found=repr(first["input"])
        ) from None


def model_of(params: Params, name: str) -> Model:
    """A row of `models`.

    Raises:
        InputError: there is none of that name.
    """
    if name not in params.models:
        raise InputError(
            f"no model {name!r}",
            where=f"{params.params_file}, key models",
            expected=", ".join(params.models),
            hint=f"add models.{name} to {params.params_file}",
        )
    return params.models[name]


def system_params(params: Params, benchmark: str, name: str) -> System:
    """The row of one system.

    Raises:
        InputError: the system does not run in that benchmark; lists those that do.
    """
    systems: dict[str, System] = getattr(params.systems, benchmark)
    if name not in systems:
        raise InputError(
            f"no system {name!r} runs in {benchmark}",
            where=f"{params.params_file}, key systems.{benchmark}",
            expected=", ".join(systems),
            hint=f"add systems.{benchmark}.{name} to {params.params_file}",
        )
    return systems[name]
