"""The image that stages run in: its recipe, building it, and finding the one of this checkout."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memrepro.digest import sha256_file, sha256_value
from memrepro.errors import InputError, MemreproError, ServiceError
from memrepro.runner.engine import Engine, find_engine

LABEL = "memrepro.recipe"
DEFAULT_BASE = "python:3.11-slim-bookworm"
_LOCKS = ("build", "runtime", "dense")
EXTRAS = ("dense",)
# What an image is made of, in the three parts that a message can name.
_PARTS = {
    "dockerfile": ("Dockerfile",),
    "lock": tuple(f"requirements/{name}.txt" for name in _LOCKS),
    "source": ("pyproject.toml", "LICENSE", "LICENSE-DATA", "src/memrepro"),
}


@dataclass(frozen=True)
class Recipe:
    """SHA-256 of each part that an image is made of; equal on every machine for equal files."""

    dockerfile: str
    lock: str
    source: str

    @property
    def digest(self) -> str:
        """What identifies an image."""
        return sha256_value(asdict(self))


@dataclass(frozen=True)
class Image:
    """An image that an engine has; `labels` are those that `build_image` wrote."""

    engine: Engine
    id: str
    created: str
    size: int
    labels: dict[str, str]

    @property
    def facts(self) -> dict[str, str]:
        """What provenance says of it."""
        return {
            "engine": f"{self.engine.kind} {self.engine.version}",
            "image": self.id,
            "recipe": self.labels.get(LABEL, ""),
            "extras": self.labels.get("memrepro.extras", ""),
            "base": self.labels.get("memrepro.base", ""),
            "base_digest": self.labels.get("memrepro.base.digest", ""),
        }


def recipe(root: Path) -> Recipe:
    """The recipe of the checkout's image.

    Raises:
        InputError: a file of it is missing.
    """
    return Recipe(
        **{
            part: sha256_value({name: sha256_file(root / name) for name in _files(root, paths)})
            for part, paths in _PARTS.items()
        }
    )


def _files(root: Path, paths: tuple[str, ...]) -> Iterator[str]:
    for name in paths:
        path = root / name
        if path.is_dir():
            for file in sorted(path.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    yield file.relative_to(root).as_posix()
        elif path.is_file():
            yield name
        else:
            raise InputError(
                "a part of the image's recipe is missing", where=name, hint=f"git checkout {name}"
            )


def build_image(
    root: Path, *, base: str, extras: list[str], network: str | None, ca: Path | None
) -> Image:
    """Build the checkout's image and label it with its recipe; the engine's output is shown.

    Args:
        root: the project.
        base: the base image.
        extras: extras of the package to install, by name.
        network: the engine's network for the build, if not its own choice.
        ca: a PEM file with certificate authorities for downloads, kept out of the image.

    Raises:
        InputError: an unknown extra, or no such CA file.
        ServiceError: no engine, no base image, or the build failed.
    """
    for extra in extras:
        if extra not in EXTRAS:
            raise InputError(f"no extra {extra!r}", where="--extras", expected=", ".join(EXTRAS))
    if ca is not None and not ca.is_file():
        raise InputError("no such file", where=str(ca))
    engine, made_of = find_engine(), recipe(root)
    labels = {
        LABEL: made_of.digest,
        **{f"{LABEL}.{part}": value for part, value in asdict(made_of).items()},
        "memrepro.extras": " ".join(extras),
        "memrepro.base": base,
        "memrepro.base.digest": _base_digest(engine, base),
    }
    command = [engine.client, "build", "--tag", f"memrepro:{made_of.digest[:12]}"]
    command += [f"--build-arg=BASE={base}", f"--build-arg=EXTRAS={' '.join(extras)}"]
    command += [f"--label={key}={value}" for key, value in labels.items()]
    command += [f"--network={network}"] if network else []
    command += [f"--secret=id=ca,src={ca.resolve()}"] if ca else []
    with tempfile.TemporaryDirectory(prefix="memrepro-image-") as folder:
        _write_context(root, Path(folder))
        built = subprocess.run(
            [*command, folder],
            env={**os.environ, "DOCKER_BUILDKIT": "1"},
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
        )
    image = find_image(engine, made_of)
    if built.returncode != 0 or image is None:
        raise ServiceError(
            f"{engine.client} could not build the image (exit {built.returncode}); see above",
            hint="behind a proxy: make image ARGS='--network host --ca FILE.pem'",
        )
    return image


def _write_context(root: Path, folder: Path) -> None:
    """Exactly the recipe's files; their modes are ours, not those of somebody's umask."""
    for paths in _PARTS.values():
        for name in _files(root, paths):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
            shutil.copyfile(root / name, target)
            target.chmod(0o644)
    for place, _, _ in os.walk(folder):
        Path(place).chmod(0o755)


def _base_digest(engine: Engine, base: str) -> str:
    """The registry's digest of the base image, or its id where it comes from no registry."""
    result = engine.ask("image", "inspect", base)
    if result.returncode != 0:
        pulled = subprocess.run([engine.client, "pull", base], stdout=sys.stderr)
        result = engine.ask("image", "inspect", base)
        if pulled.returncode != 0 or result.returncode != 0:
            raise ServiceError(
                f"the base image {base} is not here and cannot be pulled",
                hint="make image ARGS='--base IMAGE' takes any Debian-like image",
            )
    found = json.loads(result.stdout)[0]
    digests = [name.partition("@")[2] for name in found.get("RepoDigests") or []]
    return str(next(iter(digests), found["Id"]))


def find_image(engine: Engine, wanted: Recipe | None) -> Image | None:
    """The image of a recipe (of any, if None): that with most extras, and of those the newest."""
    label = f"{LABEL}={wanted.digest}" if wanted else LABEL
    listed = engine.ask("image", "ls", "--quiet", "--no-trunc", "--filter", f"label={label}")
    ids = list(dict.fromkeys(listed.stdout.split()))
    if listed.returncode != 0 or not ids:
        return None
    inspected = engine.ask("image", "inspect", *ids)
    if inspected.returncode != 0:
        return None
    images = [_image(engine, found) for found in json.loads(inspected.stdout)]
    return max(
        images,
        key=lambda image: (
            len(image.labels["memrepro.extras"].split()) if wanted else 0,
            image.created,
        ),
    )


def _image(engine: Engine, found: dict[str, Any]) -> Image:
    labels = (found.get("Config") or {}).get("Labels") or found.get("Labels") or {}
    return Image(engine, found["Id"], found["Created"], found["Size"], labels)


def current_image(root: Path) -> Image:
    """The image of this checkout.

    Raises:
        InputError: there is none; tells one that is missing from one that is out of date.
        ServiceError: as `find_engine`.
    """
    engine, wanted = find_engine(), recipe(root)
    image = find_image(engine, wanted)
    if image is not None:
        return image
    other = find_image(engine, None)
    if other is None:
        raise InputError("no memrepro image is built", hint="make image")
    names = {"dockerfile": "Dockerfile", "lock": "dependency lock", "source": "package source"}
    differing = [
        names[part]
        for part, value in asdict(wanted).items()
        if other.labels.get(f"{LABEL}.{part}") != value
    ]
    raise InputError(
        f"the image was built from another {' and '.join(differing)} than this checkout's",
        expected=f"recipe {wanted.digest}",
        found=f"recipe {other.labels[LABEL]}",
        hint="make image",
    )


def choose_image(root: Path, *, required: bool) -> Image | None:
    """The image to run in, or None for the host, which is then said in one line on stderr.

    Raises:
        MemreproError: as `current_image`, if an image is required.
    """
    try:
        return current_image(root)
    except MemreproError as error:
        if required:
            raise
        hint = "make image" if error.hint == "make image" else "MEMREPRO_RUNNER=docker tells more"
        print(f"runner: on the host, not in a container: {error.what} ({hint})", file=sys.stderr)
        return None
