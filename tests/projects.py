"""Copies of the project for tests that run stages in them."""

import shutil
import subprocess
from pathlib import Path

import yaml

from memrepro.params import load_params
from memrepro.runner import run_stage

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
    shutil.copytree(ROOT / "prompts", target / "prompts")
    if (ROOT / "data/ledger").is_dir():
        shutil.copytree(ROOT / "data/ledger", target / "data/ledger")
    return target


def score_cimemories(project: Path) -> None:
    """Reproduce CIMemories for the quickest system alone: the metrics stage wants its scores."""
    path = project / "params.yaml"
    values = yaml.safe_load(path.read_text(encoding="utf-8"))
    values["systems"]["cimemories"] = {"none": values["systems"]["cimemories"]["none"]}
    values["model_systems"]["cimemories"] = {}
    del values["cimemories"]["label_sources"]["generate"]
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    for name, system in (
        ("verify", None), ("label", "rules"), ("build", None),
        ("remember", "none"), ("judge", "none"), ("score", "none"),
    ):  # fmt: skip
        run_stage(project, "sample", f"cimemories.{name}", system, workers=1)


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
            shutil.copyfile(ROOT / name, target / name)
    subprocess.run(["git", "init", "-q", str(target)], check=True)
    return target
