"""Copies of the project for tests that run stages in them."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from memrepro.params import load_params

ROOT = Path(__file__).parents[1]


def copy_inputs(target: Path) -> Path:
    """What the sample's stages read, and no more."""
    systems = load_params(ROOT, "sample").systems.inmind.values()
    files = {
        "params.yaml",
        "full/params.yaml",
        "data/sources.toml",
        "data/SHA256SUMS",
        *(system.reads for system in systems),
    }
    for name in files:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target / name)
    shutil.copytree(ROOT / "data/sample", target / "data/sample")
    shutil.copytree(ROOT / "data/cimemories", target / "data/cimemories")
    shutil.copytree(ROOT / "data/retention_policy", target / "data/retention_policy")
    shutil.copytree(ROOT / "prompts", target / "prompts")
    if (ROOT / "data/ledger").is_dir():
        shutil.copytree(ROOT / "data/ledger", target / "data/ledger")
    return target


def keep_benchmark(project: Path, kept: str) -> None:
    """Have the params name no system but those of one benchmark: its metrics need no other's."""

    def change(values: dict[str, Any]) -> None:
        for table in ("systems", "model_systems"):
            values[table].update({name: {} for name in values[table] if name != kept})
        if kept != "cimemories":
            del values["cimemories"]["label_sources"]["generate"]
        if kept != "retention":
            values["retention"]["data"]["scores"] = values["retention"]["data"]["policies"]

    change_params(project, change)


def keep_systems(project: Path, *kept: str) -> None:
    """Have the pipeline run these systems of InMind, and beside them only what DVC cannot spare."""
    keep_benchmark(project, "inmind")

    def change(values: dict[str, Any]) -> None:
        systems = values["systems"]["inmind"]
        values["systems"]["inmind"] = {name: systems[name] for name in kept}
        values["systems"]["cimemories"] = {"none": {"reads": "requirements/runtime.txt"}}
        values["model_systems"]["inmind"] = {}

    change_params(project, change)


def change_params(project: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the sample's params of a project."""
    path = project / "params.yaml"
    values = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(values)
    path.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")


def copy_checkout(target: Path) -> Path:
    """Every file of the working tree that Git knows or would add, in a repository of its own."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-coz", "--exclude-standard"],
        check=True,
        capture_output=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)  # with its mode
    subprocess.run(["git", "init", "-q", str(target)], check=True)
    return target
