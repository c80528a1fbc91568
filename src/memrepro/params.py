"""The typed view of the params files: `params.yaml` (sample) and `full/params.yaml` (full)."""

from pathlib import Path
from typing import Any, Literal

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


class InMindData(_Params):
    """Where the edition's task and history files and its prompts lie, from the project root."""

    tasks: str
    task_schema: str
    background: str
    manifest: str
    prompts: str


class InMind(_Params):
    """InMind's own settings: items recalled for a query, and the edition's files."""

    k: int = Field(ge=1)
    data: InMindData


class Systems(_Params):
    """Which systems run in which benchmark."""

    inmind: dict[str, System]


class Params(_Params):
    """One params file. `wdir` leads from the file's folder to the project root."""

    dataset: Dataset
    wdir: str
    params_file: str
    inmind: InMind
    systems: Systems


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
