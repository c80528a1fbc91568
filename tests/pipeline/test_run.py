"""Stages run on a copy of the sample: bytes, workers, locks, and failures that leave nothing."""

import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memrepro.errors import CheckFailed, InputError, ServiceError
from memrepro.params import load_params
from memrepro.runner import run_stage
from memrepro.stages.declarations import declared
from tests.projects import ROOT, change_params, copy_inputs


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copy_inputs(tmp_path)


def build_sample(project: Path) -> None:
    for name in ("inmind.verify", "inmind.build"):
        run_stage(project, "sample", name, None, workers=1)


@pytest.mark.slow
def test_the_whole_sample_gives_the_committed_bytes(project: Path) -> None:
    for one in declared(load_params(project, "sample")):
        run_stage(project, "sample", one.name, one.system, workers=1)
    committed = [
        ROOT / "metrics/sample.json",
        ROOT / "data/runs/sample/signatures.jsonl",
        *(ROOT / "data/runs/sample").glob("*/scores/*.jsonl"),
    ]
    assert len(committed) > 8
    for path in committed:
        assert (project / path.relative_to(ROOT)).read_bytes() == path.read_bytes()


def test_the_sample_keeps_its_bounds() -> None:
    """By construction: the oracle and the whole history hold every target, no memory holds none."""
    metrics = json.loads((ROOT / "metrics/sample.json").read_text())["inmind"]
    for name in ("naive_recall_verbatim", "target_recall_verbatim"):
        assert metrics["in_context"][name] == metrics["full_context"][name] == 1.0
        assert metrics["none"][name] == 0.0
        assert all(values[f"{name}_without_target"] == 0.0 for values in metrics.values())


def test_two_workers_are_two_processes_and_write_the_same_bytes(project: Path) -> None:
    build_sample(project)
    folder = project / "data/runs/sample/inmind/contexts/bm25"
    record = project / "data/provenance/sample/inmind.remember@bm25.json"
    outputs, pids = [], []
    for workers in (1, 2):
        run_stage(project, "sample", "inmind.remember", "bm25", workers)
        outputs.append({path.name: path.read_bytes() for path in folder.iterdir()})
        pids.append(json.loads(record.read_text())["worker_pids"])
    assert outputs[0] == outputs[1]
    assert sorted(outputs[0]) == ["contexts.jsonl", "items.jsonl"]
    assert pids[0] == [os.getpid()]
    assert len(set(pids[1])) == 2
    assert os.getpid() not in pids[1]


def test_a_second_run_says_who_holds_the_lock(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memrepro.stages.processes._PATIENCE", 0.1)
    build_sample(project)
    lock = project / ".memrepro/locks/sample.inmind.build.lock"
    with lock.open("r+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.truncate(0)
        stream.write("process 4711 since 2026-01-01 00:00:00 UTC\n")
        stream.flush()
        with pytest.raises(ServiceError, match="process 4711 since 2026"):
            run_stage(project, "sample", "inmind.build", None, workers=1)


def test_missing_inputs_are_named_with_what_makes_them(project: Path) -> None:
    with pytest.raises(InputError, match="memrepro fetch --dataset full"):
        run_stage(project, "full", "inmind.verify", None, workers=1)
    with pytest.raises(InputError, match="dvc repro"):
        run_stage(project, "sample", "inmind.remember", "bm25", workers=1)


@pytest.mark.parametrize(
    ("name", "system", "message"),
    [
        ("inmind.dream", None, "no stage"),
        ("inmind.remember", None, "--system"),
        ("inmind.build", "bm25", "--system"),
        ("inmind.remember", "elephant", "does not run for 'elephant'"),
    ],
)
def test_wrong_stages_are_refused(
    project: Path, name: str, system: str | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run_stage(project, "sample", name, system, workers=1)


def test_a_stage_has_at_least_one_worker(project: Path) -> None:
    with pytest.raises(InputError, match="at least one worker") as caught:
        run_stage(project, "sample", "inmind.verify", None, workers=0)
    assert (caught.value.where, caught.value.found) == ("MEMREPRO_WORKERS", "0")


def test_a_changed_file_of_the_edition_is_refused_with_both_digests(project: Path) -> None:
    name = "data/sample/inmind/tasks.jsonl"
    sums = (project / "data/SHA256SUMS").read_text().splitlines()
    (pinned,) = (line[:64] for line in sums if line.endswith(f"  {name}"))
    (project / name).write_bytes((project / name).read_bytes() + b"\n")
    found = hashlib.sha256((project / name).read_bytes()).hexdigest()
    with pytest.raises(CheckFailed, match="the file is not what its pin says") as caught:
        run_stage(project, "sample", "inmind.verify", None, workers=1)
    assert caught.value.where == name
    assert (caught.value.expected, caught.value.found) == (pinned, found)
    assert caught.value.hint == "memrepro verify"
    assert not (project / "data/runs/sample/inmind/verified.jsonl").exists()


def test_only_a_system_of_single_chunks_runs_as_a_control(project: Path) -> None:
    def control(values: dict[str, Any]) -> None:
        systems = values["systems"]["inmind"]
        systems["recent_control"] = systems["recent"]

    build_sample(project)
    change_params(project, control)
    with pytest.raises(InputError, match="recent does not run as a control"):
        run_stage(project, "sample", "inmind.remember", "recent_control", workers=1)


def test_a_failing_stage_leaves_the_old_output_and_no_attempt(project: Path) -> None:
    build_sample(project)
    inputs = project / "data/runs/sample/inmind/inputs"
    before = {path.name: path.read_bytes() for path in inputs.iterdir()}
    (project / "data/sample/inmind/tasks.jsonl").write_text('{"task_id": 1\n')
    with pytest.raises(InputError, match="line 1"):
        run_stage(project, "sample", "inmind.build", None, workers=1)
    assert {path.name: path.read_bytes() for path in inputs.iterdir()} == before
    assert list((project / ".memrepro/attempts").iterdir()) == []


def command(project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memrepro", *arguments],
        cwd=project,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "message"),
    [
        (["stage", "no"], {}, 2, "no stage 'no'"),
        (["stage", "inmind.build", "--dataset", "huge"], {}, 2, "no dataset 'huge'"),
        (["stage", "inmind.build"], {"MEMREPRO_WORKERS": "many"}, 2, "MEMREPRO_WORKERS"),
        (["inmind", "timeline", "--task-id", "1", "--dataset", "sample"], {}, 2, "no task 1"),
        (["inmind", "export", "--system", "bm25", "--output", "x"], {}, 2, "dvc repro"),
    ],
)
def test_the_command_line_names_the_fault_without_a_traceback(
    project: Path, arguments: list[str], environment: dict[str, str], code: int, message: str
) -> None:
    result = command(project, *arguments, **environment)
    assert result.returncode == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_outside_a_project_the_command_line_says_so(tmp_path: Path) -> None:
    result = command(tmp_path, "systems")
    assert result.returncode == 2
    assert "not inside a memrepro project" in result.stderr


def test_help_loads_no_heavy_library(project: Path) -> None:
    script = (
        "import sys; sys.argv = ['memrepro', '--help']\n"
        "from memrepro.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'openai', 'duckdb', 'dvc', 'numpy'} & set(sys.modules)))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=project, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip().endswith("[]")


def test_export_passes_the_validator(project: Path) -> None:
    build_sample(project)
    run_stage(project, "sample", "inmind.remember", "bm25", workers=1)
    output = project / "out.jsonl"
    made = command(
        project, "inmind", "export", "--dataset", "sample", "--system", "bm25", "--output",
        str(output),
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    checked = command(project, "inmind", "validate-submission", str(output), "--dataset", "sample")
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout == "coverage 26/26, 0 errors\n"
    row = json.loads(output.read_text().split("\n")[0])
    assert row["config"]["k"] == 5
    assert row["naive"]["context"].count("\n\n") >= 4


def test_a_worker_whose_parent_is_gone_already_does_not_wait_for_work() -> None:
    """As if the parent had died between starting the worker and the worker's first own line."""
    worker = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os; from memrepro.stages.processes import die_with_parent\n"
            "die_with_parent(os.getppid()); print('lives', flush=True)\n"
            "die_with_parent(os.getppid() + 1); print('still lives', flush=True)\n",
        ],
        capture_output=True,
        text=True,
    )
    assert worker.stdout == "lives\n"
    assert worker.returncode == -signal.SIGKILL
