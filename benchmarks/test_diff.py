"""The metric set and the difference on a million verdicts, as ratios; `make bench` prints them."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memrepro.compare.items import adjust, summarize
from memrepro.files import write_json
from memrepro.params import Diff
from memrepro.store import connect, inmind_metrics, load_inmind
from memrepro.store.items import ItemFiles, pair_items
from tests.compare.project import commit, new_project

SYSTEMS = 10
METRICS = (
    ("answer_only", "with_target"),
    ("application", "with_target"),
    ("naive_recall", "with_target"),
    ("naive_recall_verbatim", "with_target"),
    ("naive_recall_verbatim", "without_target"),
    ("target_recall", "with_target"),
    ("target_recall_verbatim", "with_target"),
    ("target_recall_verbatim", "without_target"),
    ("unprompted_warning", "without_target"),
    ("probe", "with_target"),
)
TASKS = 10_000  # of each system and metric: a million verdicts


def seconds(function: Callable[[], Any], rounds: int = 3) -> float:
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return min(taken)


def write_run(folder: Path, seed: int) -> list[Path]:
    """A run of ones and zeros, one in a thousand failed; the seed turns a tenth of them over."""
    generator = np.random.default_rng(0)
    other = np.random.default_rng(seed)
    folder.mkdir()
    files = []
    for number in range(SYSTEMS):
        files.append(folder / f"system_{number}.jsonl")
        with files[-1].open("w", encoding="utf-8") as stream:
            for metric, condition in METRICS:
                base = generator.random(TASKS) < 0.5
                scores = base ^ (other.random(TASKS) < 0.1)
                failed = other.random(TASKS) < 0.001
                for task in range(TASKS):
                    row = {
                        "system": f"system_{number}",
                        "task_id": task,
                        "domain": f"domain_{task % 10}",
                        "condition": condition,
                        "metric": metric,
                        "status": "judge_error" if failed[task] else "scored",
                        "score": None if failed[task] else int(scores[task]),
                        "raised_cap": False,
                    }
                    stream.write(json.dumps(row, separators=(",", ":")) + "\n")
    return files


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[Path]]:
    folder = tmp_path_factory.mktemp("verdicts")
    return write_run(folder / "a", 1), write_run(folder / "b", 2)


def share(rows: Any, scored: str = "score") -> dict[str, dict[str, float]]:
    """Value or bounds of each system, as the SQL macro of that name."""
    values: dict[str, dict[str, float]] = {}
    for system, score in rows.groupby("system")[scored]:
        total, known, ones = len(score), score.count(), (score == 1).sum()
        low, high = ones / total, (ones + total - known) / total
        values[system] = {"low": low, "high": high, "n_scored": known, "n_total": total}
    return values


def pandas_metrics(files: list[Path]) -> dict[str, dict[str, dict[str, float]]]:
    """The same metrics with pandas: read, select, group."""
    import pandas as pd

    table = pd.concat([pd.read_json(file, lines=True) for file in files])
    values = {}
    for metric, condition in METRICS[:-1]:
        chosen = table[(table["metric"] == metric) & (table["condition"] == condition)]
        own = condition == "without_target" and metric.endswith("_verbatim")
        values[f"{metric}_without_target" if own else metric] = share(chosen)
    told = table[table["condition"] == "with_target"]
    wide = told[told["metric"].isin(["target_recall", "application"])].pivot_table(
        index=["system", "task_id"], columns="metric", values="score", dropna=False
    )
    low = wide.fillna(0).prod(axis=1)
    gated = low.where(low == wide.fillna(1).prod(axis=1)).rename("score").reset_index()
    values["application_gated"] = share(gated)
    return values


def test_metrics_against_pandas(runs: tuple[list[Path], list[Path]], benchmark: Any) -> None:
    """Wanted: at least 4 times faster, with the same values."""
    files = runs[0]
    theirs = seconds(lambda: pandas_metrics(files), rounds=1)
    benchmark.pedantic(lambda: inmind_metrics(files), rounds=3)
    ours = inmind_metrics(files)
    for metric, by_system in pandas_metrics(files).items():
        for system, values in by_system.items():
            for end, value in values.items():
                assert ours[system][f"{metric}_{end}"] == pytest.approx(value, abs=1e-12)
    ratio = theirs / benchmark.stats.stats.min
    benchmark.extra_info["times_faster"] = ratio
    print(
        f"\nmetric set, a million verdicts: {ratio:.1f} times faster than pandas ({theirs:.1f} s)"
    )


def difference(a: list[Path], b: list[Path]) -> Any:
    """What `memrepro diff` does with the score rows of two runs."""
    settings = Diff()
    found = pair_items("inmind", ItemFiles(a), ItemFiles(b))
    items = {path: summarize(path, one, settings) for path, one in found.items()}
    return adjust(items, [path for path in items if path.endswith("/target_recall")], settings)


def read(*runs: list[Path]) -> None:
    for files in runs:
        with connect() as connection:
            load_inmind(connection, files)


def test_diff_against_reading(runs: tuple[list[Path], list[Path]], benchmark: Any) -> None:
    """Wanted: at most 3 times the time of reading both runs once."""
    alone = seconds(lambda: read(*runs))
    benchmark.pedantic(lambda: difference(*runs), rounds=3)
    ratio = benchmark.stats.stats.min / alone
    benchmark.extra_info["times_reading"] = ratio
    print(
        f"\ndiff of two runs of a million verdicts: {ratio:.2f} times reading both ({alone:.2f} s)"
    )


def test_diff_command_against_reading(
    runs: tuple[list[Path], list[Path]], benchmark: Any, tmp_path: Path
) -> None:
    """Wanted: at most 3 times too, with Git, the start of the program and the output."""
    project = new_project(tmp_path)
    target = project / "data/runs/sample/inmind/scores"
    for files in runs:
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(files[0].parent, target)
        write_json(project / "metrics/sample.json", {"inmind": inmind_metrics(files)})
        commit(project)
    alone = seconds(lambda: read(*runs))
    arguments = ["diff", "HEAD~1", "HEAD", "--dataset", "sample", "--format", "json"]
    command = [sys.executable, "-m", "memrepro", *arguments]
    run = partial(subprocess.run, command, cwd=project, check=True, stdout=subprocess.DEVNULL)
    benchmark.pedantic(run, rounds=3)
    ratio = benchmark.stats.stats.min / alone
    benchmark.extra_info["times_reading"] = ratio
    print(f"\nmemrepro diff of two commits of them: {ratio:.2f} times reading both ({alone:.2f} s)")


@pytest.mark.parametrize(
    "call",
    [
        "inmind_metrics(a)",
        "pair_items('inmind', ItemFiles(a), ItemFiles(b))",
    ],
)
def test_peak_memory(runs: tuple[list[Path], list[Path]], call: str) -> None:
    """Wanted: under 1 GB."""
    script = (
        "import sys; from pathlib import Path\n"
        "from memrepro.store import inmind_metrics\n"
        "from memrepro.store.items import ItemFiles, pair_items\n"
        "a, b = ([*Path(folder).glob('*.jsonl')] for folder in sys.argv[1:])\n"
        f"{call}\n"
        # Not ru_maxrss, which a child takes over from the process that started it.
        "lines = Path('/proc/self/status').read_text().split('\\n')\n"
        "print(next(int(x.split()[1]) // 1024 for x in lines if x.startswith('VmHWM')))\n"
    )
    folders = [str(files[0].parent) for files in runs]
    command = [sys.executable, "-c", script, *folders]
    peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    print(f"\n{call.partition('(')[0]}, a million verdicts: peak memory {peak} MB")
