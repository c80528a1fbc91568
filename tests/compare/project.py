"""Tiny projects in Git repositories: params, score rows, metrics and signatures, no DVC cache."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from memrepro.files import write_json, write_records
from memrepro.records import CIMemoriesLabels, CIMemoriesScore, InMindScore
from memrepro.signature import PAPER_INMIND, Signature, sign
from memrepro.store import inmind_metrics
from tests.commands import Ran, run_memrepro
from tests.projects import ROOT

# An item's score; None: it failed.
Scores = Sequence[int | None]
RUNS = "data/runs/sample"
VERBATIM = "target_recall_verbatim"


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "state")


def new_project(folder: Path) -> Path:
    """What a comparison reads beside the runs, in a new repository without a commit."""
    for name in ("params.yaml", "full/params.yaml", "data/sources.toml", "data/SHA256SUMS"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    git(folder, "init", "-q", "-b", "main")
    return folder


def set_params(folder: Path, **diff: Any) -> None:
    """Change the comparison's settings."""
    path = folder / "params.yaml"
    values = yaml.safe_load(path.read_text(encoding="utf-8"))
    values["diff"].update(diff)
    path.write_text(yaml.safe_dump(values), encoding="utf-8")


def binary(ones: int, items: int = 125) -> list[int | None]:
    return [int(place < ones) for place in range(items)]


def flipped(scores: Scores, *places: int) -> list[int | None]:
    """The scores with those at the places turned over."""
    return [1 - (x or 0) if place in places else x for place, x in enumerate(scores)]


def write_inmind(
    folder: Path, scores: Mapping[str, Scores], metric: str = VERBATIM, **signed: Any
) -> None:
    """Score rows of systems, task ids from 0; metrics; signatures with what `signed` changes."""
    files = []
    for system, given in scores.items():
        files.append(folder / RUNS / f"inmind/scores/{system}.jsonl")
        write_records(files[-1], [_row(system, metric, task, x) for task, x in enumerate(given)])
    metrics = inmind_metrics(files)
    write_json(folder / "metrics/sample.json", {"inmind": metrics})
    write_records(
        folder / RUNS / "signatures.jsonl", [_signed(system, metric, signed) for system in scores]
    )


def _row(system: str, metric: str, task: int, score: int | None) -> InMindScore:
    return InMindScore(
        system=system, task_id=task, domain="diet", metric=metric, score=score, raised_cap=False,
        condition="without_target" if metric == "unprompted_warning" else "with_target",
        status="scored" if score is not None else "judge_error",
    )  # fmt: skip


def _signed(system: str, metric: str, changed: Mapping[str, Any]) -> Signature:
    protocol = {"tasks": "t", "background": "b", "k": 5, "answer_cap": 0, "judge_cap": 0}
    values: dict[str, Any] = {
        "path": f"inmind/{system}/{metric}", "benchmark": "inmind", "system": system,
        "metric": metric, "dataset": "sample", "kind": "memory", "implementation": "m:S",
        "settings": {}, "answer_model": "none", "judge": "verbatim", "prompts": "none",
        "reading": "verbatim", "raised_caps": 0, "version": "0.1.0",
        "protocol": protocol | {key: x for key, x in changed.items() if key in protocol},
    }  # fmt: skip
    rest = {key: x for key, x in changed.items() if key not in protocol}
    return sign(values | rest, PAPER_INMIND)


def write_cimemories(
    folder: Path, labels: Sequence[str], reveals: Mapping[str, Sequence[str]], values: Any
) -> None:
    """Profiles of one context each, by their labels, and what each system reveals of them."""
    base = folder / RUNS / "cimemories"
    write_records(
        base / "labels/rules.jsonl",
        [CIMemoriesLabels(profile=n, place=0, labels=x) for n, x in enumerate(labels)],
    )
    for system, given in reveals.items():
        rows = [
            CIMemoriesScore(
                system=system, judge="verbatim", profile=n, place=0, prompt_level=0,
                composition="full", trial=0, status="scored", reveals=x, raised_cap=False,
            )
            for n, x in enumerate(given)
        ]  # fmt: skip
        write_records(base / f"scores/{system}.jsonl", rows)
    write_json(folder / "metrics/sample.json", {"cimemories": values})


def two_commits(folder: Path, a: Mapping[str, Scores], b: Mapping[str, Scores]) -> Path:
    """A project whose last two commits hold the scores."""
    new_project(folder)
    write_inmind(folder, a)
    commit(folder)
    write_inmind(folder, b)
    commit(folder)
    return folder


def run_diff(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    *arguments: str,
) -> Ran:
    """`memrepro diff --dataset sample …` in a folder."""
    return run_memrepro(folder, monkeypatch, capfdbinary, "diff", "--dataset", "sample", *arguments)
