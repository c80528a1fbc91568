"""A container engine that is a shell script: it says what Docker would, and notes its calls."""

import json
from pathlib import Path
from typing import Any

# What the programs print, recorded from Docker 28.2 and Podman 4.3.
DOCKER_VERSION = (
    '{"Client":{"Version":"28.2.2","Os":"linux","Arch":"amd64"},"Server":{"Version":"20.10.24"}}'
)
PODMAN_VERSION = '{"Client":{"APIVersion":"4.3.1","Version":"4.3.1","OsArch":"linux/amd64"}}'


def put(folder: Path, name: str, script: str) -> None:
    """An executable shell script."""
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def put_engine(folder: Path, cases: str, version: str = DOCKER_VERSION) -> None:
    """A `docker` that answers by `case` branches over its arguments, and logs each call."""
    put(
        folder,
        "docker",
        f'echo "$*" >> {folder}/log\ncase "$*" in version*) echo \'{version}\';; {cases} esac',
    )


def asked(folder: Path) -> list[str]:
    """What the engine was asked, a line a call."""
    return (folder / "log").read_text().splitlines()


def inspected(labels: dict[str, str], **changes: Any) -> str:
    """What `image inspect` prints of one image."""
    image = {"Id": "sha256:1", "Created": "2026", "Size": 123_400_000, "Config": {"Labels": labels}}
    return json.dumps([{**image, **changes}])
