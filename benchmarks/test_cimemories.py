"""Scoring a full run's results file, as a ratio to reading it; `make bench` prints it."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cimemories.results import write_large

PROGRAM = str(Path(sys.executable).parent / "memrepro")


def seconds(function: Callable[[], Any], rounds: int = 5) -> float:
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return min(taken)


def score(file: Path, reading: str) -> None:
    command = [PROGRAM, "cimemories", "score", str(file), "--reading", reading, "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """10 profiles of 147 attributes, 49 contexts, 5 samples: 360,150 reveals, about 43 MB."""
    return write_large(tmp_path_factory.mktemp("results") / "results.jsonl")


def loads(file: Path) -> Callable[[], None]:
    lines = file.read_text(encoding="utf-8").split("\n")[:-1]

    def run() -> None:
        for line in lines:
            json.loads(line)

    return run


@pytest.mark.parametrize("reading", ["paper", "released-code"])
def test_score_against_json_loads(
    results: Path, tmp_path: Path, benchmark: Any, reading: str
) -> None:
    """Wanted: at most 3 times json.loads of its lines, plus what a file of few rows takes."""
    few = write_large(tmp_path / "few.jsonl", profiles=2, attributes=3, contexts=2, trials=1)
    start_up = seconds(lambda: score(few, reading))
    alone = seconds(loads(results))
    benchmark.pedantic(lambda: score(results, reading), rounds=5)
    ratio = (benchmark.stats.stats.min - start_up) / alone
    benchmark.extra_info["times_json_loads"] = ratio
    size = results.stat().st_size / 1e6
    print(
        f"\ncimemories score, {reading}, {size:.0f} MB: {ratio:.2f} times json.loads "
        f"({alone:.2f} s) beyond a start-up of {start_up:.2f} s"
    )


def test_score_peak_memory(results: Path) -> None:
    """Wanted: under 500 MB."""
    script = (
        "import sys; from pathlib import Path\n"
        "from memrepro.store.cimemories import score_results\n"
        "score_results(Path(sys.argv[1]), 'released-code')\n"
        # Not ru_maxrss, which a child takes over from the process that started it.
        "lines = Path('/proc/self/status').read_text().split('\\n')\n"
        "print(next(int(x.split()[1]) // 1024 for x in lines if x.startswith('VmHWM')))\n"
    )
    command = [sys.executable, "-c", script, str(results)]
    peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    print(f"\ncimemories score: peak memory {peak} MB")
