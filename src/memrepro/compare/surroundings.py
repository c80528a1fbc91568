"""What else two sides differ in: data, params, prompts, models, versions, image files, stages."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from memrepro.compare.revision import Tree, naming
from memrepro.digest import sha256_file, sha256_value
from memrepro.errors import InputError
from memrepro.files import read_text
from memrepro.sources.sums import SUMS, parse_sums

# Key to what the first and the second side have; None: that side does not have it.
Changes = dict[str, tuple[Any, Any]]

_PARAMS = ("params.yaml", "full/params.yaml")
_LOCKS = ("dvc.lock", "full/dvc.lock")
_VERSIONS = "requirements/runtime.txt"
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)


@dataclass(frozen=True)
class Surroundings:
    """What differs beside the metrics, each by its key.

    `pins` are of fetched and committed data, `models` the params' models, `image_files` the digests
    of files that shape the image (its recipe is of more), `stages` the locked outputs of stages.
    """

    pins: Changes
    params: Changes
    prompts: Changes
    models: Changes
    versions: Changes
    image_files: Changes
    stages: Changes


def compare_surroundings(a: Tree, b: Tree) -> Surroundings:
    """Read and compare all of it.

    Raises:
        InputError: a file is not what its name says.
    """
    found = {field.name: _changes(_read(a, field.name), _read(b, field.name))
             for field in fields(Surroundings) if field.name in _READERS}  # fmt: skip
    params = found["params"]
    models = {key: params.pop(key) for key in list(params) if ":models." in key}
    return Surroundings(**found, models=models)


def _read(tree: Tree, what: str) -> dict[str, Any]:
    with naming(tree):
        return dict(_READERS[what](tree))


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> Changes:
    return {key: (a.get(key), b.get(key)) for key in sorted({*a, *b}) if a.get(key) != b.get(key)}


Entry = tuple[str, Any]


def _pins(tree: Tree) -> Iterator[Entry]:
    if path := tree.path("data/sources.toml"):
        try:
            rows = tomllib.loads(read_text(path)).get("source", [])
            yield from ((f"source {row['name']}", row["sha256"]) for row in rows)
        except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
            raise InputError(f"cannot be read as pins: {error}", where=str(path)) from None
    if path := tree.path(SUMS):
        for file, digest in parse_sums(read_text(path))[0].items():
            if not file.startswith("prompts/") and file != "data/sources.toml":
                yield file, digest


def _params(tree: Tree) -> Iterator[Entry]:
    for name in _PARAMS:
        if path := tree.path(name):
            yield from ((f"{name}:{key}", value) for key, value in _flat(read_yaml(path), ""))


def _flat(value: Any, key: str) -> Iterator[Entry]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _flat(inner, f"{key}.{name}" if key else str(name))
    else:
        yield key, value


def read_yaml(path: Path) -> Any:
    """A YAML file's value.

    Raises:
        InputError: it cannot be read or is no YAML.
    """
    try:
        return yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML: {error}", where=str(path)) from None


def _prompts(tree: Tree) -> Iterator[Entry]:
    for path in tree.files("prompts/**/*"):
        yield path.relative_to(tree.root).as_posix(), sha256_file(path)


def _versions(tree: Tree) -> Iterator[Entry]:
    if path := tree.path(_VERSIONS):
        yield from _PINNED.findall(read_text(path))


def _image_files(tree: Tree) -> Iterator[Entry]:
    for name in ("Dockerfile", _VERSIONS):
        if path := tree.path(name):
            yield name, sha256_file(path)


def _stages(tree: Tree) -> Iterator[Entry]:
    for name in _LOCKS:
        if path := tree.path(name):
            stages = (read_yaml(path) or {}).get("stages") or {}
            for stage, row in stages.items():
                outputs = {out["path"]: out.get("md5") for out in row.get("outs", [])}
                yield f"{name}:{stage}", sha256_value(outputs)


_READERS: dict[str, Callable[[Tree], Iterator[Entry]]] = {
    "pins": _pins,
    "params": _params,
    "prompts": _prompts,
    "versions": _versions,
    "image_files": _image_files,
    "stages": _stages,
}
