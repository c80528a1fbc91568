"""InMind's answer and judge steps: recorded over HTTP, replayed without, batched, walked back."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from memrepro.errors import InputError, ReplayMiss, Stopped
from memrepro.files import iter_json_lines, read_records
from memrepro.llm.ledger import read_shard
from memrepro.params import load_params
from memrepro.record import STORE, Recording, record
from memrepro.record.batch import read_batch, write_batch
from memrepro.record.shard import Progress
from memrepro.records import InMindAnswer, InMindScore, InMindVerdict
from memrepro.runner import run_stage
from tests.llm.fault_server import REFUSAL, Answer, FaultServer, completion, serving
from tests.projects import copy_inputs, keep_benchmark

CANARY = "sk-canary-5f0d8e1b7c"
SYSTEM = "bm25"
SCORES = f"data/runs/sample/inmind/scores/{SYSTEM}.jsonl"


def role(body: dict[str, Any]) -> str:
    """Which prompt a request holds, by a phrase of our own prompts."""
    system = body["messages"][0]["content"]
    phrases = {
        "grade one reply": "naive",
        "grade what a memory brought back": "target",
        "grade whether an assistant put": "application",
        "grade a reply by itself": "answer-only",
    }
    return next((name for phrase, name in phrases.items() if phrase in system), "answer")


def refuses(query: str) -> bool:
    """Task 24's indirect query, and task 37's direct one."""
    return "cut salt" in query or "Kestrel Dental" in query


def judge_says(body: dict[str, Any], _: int) -> Answer:
    """Two answers are refused; verdicts are told by the metric."""
    kind = role(body)
    if kind == "answer":
        return REFUSAL if refuses(body["messages"][1]["content"]) else completion("Mind the fact.")
    scores = {"naive": 1, "target": 1, "application": 0, "answer-only": 1}
    return completion(json.dumps({"score": scores[kind], "reason": "r"}))


@pytest.fixture(scope="module")
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose one model system has its contexts, and no shard."""
    project = copy_inputs(tmp_path_factory.mktemp("remembered"))
    shutil.rmtree(project / "data/ledger", ignore_errors=True)
    for name, system in (
        ("inmind.verify", None), ("inmind.build", None),
        ("inmind.remember", SYSTEM), ("inmind.judge", SYSTEM),
    ):  # fmt: skip
        run_stage(project, "sample", name, system, workers=1)
    keep_benchmark(project, "inmind")
    return project


@pytest.fixture
def project(remembered: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(remembered, tmp_path / "project"))


@pytest.fixture
def server(project: Path) -> Iterator[FaultServer]:
    with serving(judge_says) as running:
        values = yaml.safe_load((project / "params.yaml").read_text())
        values["systems"]["inmind"] = {SYSTEM: values["systems"]["inmind"][SYSTEM]}
        values["model_systems"]["inmind"] = {SYSTEM: {}}
        row = values["models"][values["inmind"]["answer"]["model"]]
        row.update(base_url=running.url, api_key_env="CANARY_KEY", attempts=1, price_output=100.0)
        (project / "params.yaml").write_text(yaml.safe_dump(values))
        yield running


def recording(project: Path, **changes: Any) -> Recording:
    values = {"budget": None, "retry_failed": False, "model": None, **changes}
    return Recording(
        root=project, params=load_params(project, "sample"), benchmark="inmind",
        system=SYSTEM, api_key=lambda _: CANARY, **values,
    )  # fmt: skip


def run_model_stages(project: Path) -> None:
    for name in ("inmind.answer", "inmind.judge_model", "inmind.score"):
        run_stage(project, "sample", name, SYSTEM, workers=1)
    run_stage(project, "sample", "metrics", None, workers=1)


def test_recorded_then_replayed_without_a_socket(
    project: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(recording(project), Progress(show=lambda _: None))
    asked = server.total

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a stage opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    run_model_stages(project)
    monkeypatch.undo()
    assert server.total == asked

    answers = read_records(
        project / f"data/runs/sample/inmind/answers/{SYSTEM}.jsonl", InMindAnswer
    )
    tasks = [row for _, row in iter_json_lines(project / "data/sample/inmind/tasks.jsonl")]
    refused = {row["task_id"] for row in tasks if refuses(row["query"])}
    refused_naive = {row["task_id"] for row in tasks if refuses(row["naive_query"])}
    assert (refused, refused_naive) == ({24}, {37})
    assert len(answers) == 3 * 26
    for row in answers:
        lost = row.task_id in (refused if row.query_kind == "indirect" else refused_naive)
        assert (row.status, row.text) == (
            ("refusal", None) if lost else ("answered", "Mind the fact.")
        )

    # A failed answer is not judged, but for target recall, which never sees it (case 6).
    scores = read_records(project / SCORES, InMindScore)
    failed = {(row.metric, row.task_id) for row in scores if row.status == "answer_failed"}
    assert failed == {
        *((name, task) for name in ("application", "answer_only", "unprompted_warning")
          for task in refused),
        *(("naive_recall", task) for task in refused_naive),
    }  # fmt: skip

    # Of 26 tasks: judged 1 wherever there was an answer, application 0; failures are bounds.
    n = len(refused)
    metrics = json.loads((project / "metrics/sample.json").read_text())["inmind"][SYSTEM]
    assert metrics["target_recall"] == 1.0
    assert metrics["application_low"] == 0.0
    assert metrics["application_high"] == n / 26
    assert metrics["answer_only_low"] == (26 - n) / 26
    assert metrics["answer_only_high"] == 1.0
    assert metrics["answer_only_n_scored"] == 26 - n
    assert metrics["unprompted_warning_low"] == (26 - n) / 26
    assert metrics["application_gated_high"] == n / 26


def test_a_number_can_be_walked_back_to_its_call(project: Path, server: FaultServer) -> None:
    record(recording(project), Progress(show=lambda _: None))
    run_model_stages(project)
    verdicts = read_records(
        project / f"data/runs/sample/inmind/verdicts/{SYSTEM}/model.jsonl", InMindVerdict
    )
    row = next(row for row in verdicts if row.metric == "application" and row.key)
    shown = command(project, "ledger", "show", str(row.key), "--dataset", "sample")
    assert shown.returncode == 0, shown.stderr
    value = json.loads(shown.stdout)
    assert (value["step"], value["system"], value["key"]) == ("judge", SYSTEM, row.key)
    assert json.loads(value["reply"]["text"])["score"] == row.score
    task = next(
        task
        for _, task in iter_json_lines(project / "data/sample/inmind/tasks.jsonl")
        if task["task_id"] == row.task_id
    )
    assert f"explanation: {task['explanation']}" in value["request"]["messages"][1]["content"]
    checked = command(project, "ledger", "verify", "--dataset", "sample")
    assert checked.returncode == 0, checked.stderr
    stats = command(project, "ledger", "stats", "--dataset", "sample")
    assert f"inmind/judge/{SYSTEM}" in stats.stdout
    assert "refusal" in stats.stdout
    assert command(project, "ledger", "show", "0" * 64, "--dataset", "sample").returncode == 2


def test_a_miss_counts_itself_and_says_how_to_record(project: Path, server: FaultServer) -> None:
    record(recording(project), Progress(show=lambda _: None))
    shard = project / f"data/ledger/sample/inmind/answer/{SYSTEM}.jsonl"
    shard.rename(project / "kept.jsonl")
    absent = command(project, "stage", "inmind.answer", "--dataset", "sample", "--system", SYSTEM)
    assert absent.returncode == 2
    assert "memrepro record --dataset sample --benchmark inmind --system bm25" in absent.stderr
    (project / "kept.jsonl").rename(shard)
    replies = shard.read_text().splitlines(keepends=True)
    shard.write_text("".join(replies[2:]))
    with pytest.raises(ReplayMiss) as caught:
        run_stage(project, "sample", "inmind.answer", SYSTEM, workers=1)
    assert caught.value.exit_code == 4
    assert "calls have no recorded reply" in caught.value.what
    assert "memrepro record --dataset sample --benchmark inmind --system bm25" in str(caught.value)
    result = command(project, "stage", "inmind.answer", "--dataset", "sample", "--system", SYSTEM)
    assert result.returncode == 4
    assert command(project, "ledger", "verify", "--dataset", "sample").returncode == 1


def test_a_budget_stops_the_command_with_exit_3(project: Path, server: FaultServer) -> None:
    with pytest.raises(Stopped):
        record(recording(project, budget=0.0001), Progress(show=lambda _: None))
    stopped = command(project, *RECORD, "--budget", "0.0001")
    assert stopped.returncode == 3, stopped.stderr
    assert "Traceback" not in stopped.stderr
    resumed = command(project, *RECORD, "--budget", "100")
    assert resumed.returncode == 0, resumed.stderr
    assert len(read_shard(project / f"data/ledger/sample/inmind/answer/{SYSTEM}.jsonl")) > 26


RECORD = ("record", "--dataset", "sample", "--benchmark", "inmind", "--system", SYSTEM)


def command(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memrepro", *arguments],
        cwd=project,
        env={**os.environ, "CANARY_KEY": CANARY, "MEMREPRO_RUNNER": "host"},
        capture_output=True,
        text=True,
    )


def test_the_key_goes_to_the_server_and_nowhere_else(project: Path, server: FaultServer) -> None:
    def leaky(body: dict[str, Any], before: int) -> Answer:
        # A server that says the key back in an error.
        if role(body) == "answer-only":
            return Answer(400, json.dumps({"error": {"message": f"no: {CANARY}"}}).encode())
        return judge_says(body, before)

    server.behaviour = leaky
    result = command(project, *RECORD)
    assert result.returncode == 0, result.stderr
    assert "failed: parameter" in result.stderr
    assert set(server.authorizations) == {f"Bearer {CANARY}"}
    run_model_stages(project)
    for arguments in (["ledger", "stats", "--dataset", "sample"], [*RECORD]):
        result = command(project, *arguments)
        assert CANARY not in result.stdout + result.stderr
    files = [path for path in project.rglob("*") if path.is_file()]
    assert any(path.suffix == ".sqlite" for path in files)
    for path in files:
        assert CANARY.encode() not in path.read_bytes(), path


def test_without_a_key_the_command_says_which_variable(project: Path, server: FaultServer) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "memrepro", *RECORD],
        cwd=project,
        env={key: value for key, value in os.environ.items() if key != "CANARY_KEY"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 2
    assert "CANARY_KEY" in result.stderr
    assert server.total == 0


def answer_batch(requests: Path, results: Path, *, expired: int) -> None:
    """What the Batch API makes of a request file; the first so many requests in it expired."""
    lines = []
    for n, (_, value) in enumerate(iter_json_lines(requests)):
        line: dict[str, Any] = {"id": f"batch_{n}", "custom_id": value["custom_id"]}
        if n < expired:
            line |= {"response": None, "error": {"code": "batch_expired", "message": "expired"}}
        else:
            body = json.loads(judge_says(value["body"], 0).body)
            line |= {"response": {"status_code": 200, "body": body}, "error": None}
        lines.append(json.dumps(line) + "\n")
    results.write_text("".join(lines))


def test_a_batch_gives_the_shards_of_the_live_path(
    project: Path, server: FaultServer, tmp_path: Path
) -> None:
    live = Path(shutil.copytree(project, tmp_path / "live"))
    record(recording(live), Progress(show=lambda _: None))
    asked = server.total
    params = load_params(project, "sample")
    # The answers, two of them lost; what failed once more; then the verdicts.
    rounds = [("answer", False, 2), ("answer", True, 0), ("judge", False, 0)]
    for number, (step, retry_failed, expired) in enumerate(rounds):
        ((file, count),) = write_batch(
            project, params, "inmind", SYSTEM, tmp_path / str(number), retry_failed=retry_failed
        )
        assert file.name == f"sample-inmind-{step}-bm25-1.jsonl"
        assert count == len(file.read_text().splitlines())
        answer_batch(file, tmp_path / "results.jsonl", expired=expired)
        assert read_batch(project, [tmp_path / "results.jsonl"])["server"] == expired
    assert write_batch(project, params, "inmind", SYSTEM, tmp_path / "none") == []
    record(recording(project), Progress(show=lambda _: None))
    assert server.total == asked  # nothing was left to send
    for step in ("answer", "judge"):
        name = f"data/ledger/sample/inmind/{step}/{SYSTEM}.jsonl"
        assert (project / name).read_bytes() == (live / name).read_bytes()


@pytest.mark.parametrize("text", ["{}\n", '{"custom_id": "x", "response": null}\n', "[]\n"])
def test_a_file_that_is_no_batch_result_is_refused_whole(
    project: Path, tmp_path: Path, text: str
) -> None:
    (tmp_path / "results.jsonl").write_text(text)
    with pytest.raises(InputError, match="not a result of a batch"):
        read_batch(project, [tmp_path / "results.jsonl"])
    assert not (project / STORE).exists()


def test_batches_are_split_at_the_apis_limits(
    project: Path, server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = load_params(project, "sample")
    monkeypatch.setattr("memrepro.record.batch.MAX_REQUESTS", 20)
    files = write_batch(project, params, "inmind", SYSTEM, tmp_path / "a")
    assert [count for _, count in files] == [20, 20, 15]  # 55 different calls
    monkeypatch.setattr("memrepro.record.batch.MAX_BYTES", 20_000)
    files = write_batch(project, params, "inmind", SYSTEM, tmp_path / "b")
    assert sum(count for _, count in files) == 55
    assert all(path.stat().st_size <= 20_000 for path, _ in files)


def test_the_cost_is_told_before_a_run(project: Path, server: FaultServer) -> None:
    """By hand: 55 answer calls, $100 a million tokens out, 100 tokens a reply, at most 256."""
    asked = ("cost", "--dataset", "sample", "--benchmark", "inmind")
    told = command(project, *asked, "--output-tokens", "100")
    assert told.returncode == 0, told.stderr
    words = next(line.split() for line in told.stdout.split("\n") if " answer " in line)
    assert words[2:5] == [SYSTEM, "55", "0"]
    assert words[-2:] == [f"{55 * 100 * 1e-4:.2f}", f"{55 * 256 * 1e-4:.2f}"]
    assert "estimated at four bytes a token" in told.stdout
    capped = command(project, *asked, "--system", SYSTEM, "--output-tokens", "300").stdout
    words = next(line.split() for line in capped.split("\n") if " answer " in line)
    assert words[-2:] == [f"{55 * 256 * 1e-4:.2f}"] * 2
    assert {line.split()[2] for line in capped.split("\n") if " inmind " in line} == {SYSTEM}
    unknown = command(project, *asked, "--system", "nobody")
    assert unknown.returncode == 2 and "nobody" in unknown.stderr
    assert server.total == 0
    record(recording(project), Progress(show=lambda _: None))
    after = command(project, *asked)
    assert after.stdout.count(" 0.00 ") >= 2


def test_each_tasks_diagnosis_is_shown(project: Path, server: FaultServer) -> None:
    """Judged 1 for recall and the answer alone, but for task 24, whose answer failed."""
    record(recording(project), Progress(show=lambda _: None))
    run_model_stages(project)
    arguments = ["inmind", "diagnose", "--dataset", "sample", "--system", SYSTEM]
    assert command(project, *arguments).stdout == "  25 applied\n   1 not judged\n"
    rows = [json.loads(line) for line in command(project, *arguments, "--json").stdout.splitlines()]
    assert [row["task_id"] for row in rows if row["diagnosis"] == "not judged"] == [24]
