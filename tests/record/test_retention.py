"""The guard's and the judge's replies: recorded over HTTP, replayed without, failures counted."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memrepro.errors import InputError, ReplayMiss
from memrepro.files import read_records
from memrepro.llm.ledger import read_shard
from memrepro.params import load_params
from memrepro.record import Recording, record
from memrepro.record.shard import Progress
from memrepro.records import RetentionObservation, RetentionScore
from memrepro.runner import run_stage
from memrepro.store.retention import retention_table
from tests.llm.fault_server import REFUSAL, Answer, FaultServer, completion, serving
from tests.pipeline.test_run import command
from tests.projects import change_params, copy_inputs, keep_benchmark
from tests.retention.corpus import CATEGORY, ROWS

SYSTEM = "exact"
RUNS = "data/runs/sample/retention"
SCORES = f"{RUNS}/scores/{SYSTEM}.jsonl"
EDITIONS = ("standard", "policy_change")
POLICIES = ("RP-01", "RP-02")
CATEGORY_OF = {row.text: row.category for row in ROWS}
# Facts on which the model fails, each in its way: one prohibited by RP-01, one by RP-02, one never.
FAILURES: dict[str, Answer] = {
    "My blood sugar drops if I skip lunch.": REFUSAL,
    "I get migraines whenever the weather turns.": Answer(400, b'{"error": {"message": "no"}}'),
    "My cat sleeps on the piano.": completion("I think it may be stored."),
}


def guard_says(body: dict[str, Any], _: int) -> Answer:
    """Looks the category up, but fails on the facts above."""
    told = json.loads(body["messages"][1]["content"])
    if told["fact"] in FAILURES:
        return FAILURES[told["fact"]]
    score = int(CATEGORY_OF[told["fact"]] == CATEGORY[told["policy"]])
    return completion(json.dumps({"score": score, "reason": "r"}))


def truthful(body: dict[str, Any], _: int) -> Answer:
    """Looks the category up, of every fact."""
    told = json.loads(body["messages"][1]["content"])
    score = int(CATEGORY_OF[told["fact"]] == CATEGORY[told["policy"]])
    return completion(json.dumps({"score": score, "reason": "r"}))


@pytest.fixture(scope="module")
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two policies in two editions: observed without a model, and no shard."""
    project = copy_inputs(tmp_path_factory.mktemp("remembered"))
    shutil.rmtree(project / "data/ledger", ignore_errors=True)
    keep_benchmark(project, "retention")

    def smaller(values: dict[str, Any]) -> None:
        block = values["retention"]
        block["policy_ids"] = list(POLICIES)
        block["recorded"] = {"policies": None, "editions": list(EDITIONS)}
        block["editions"] = {name: block["editions"][name] for name in EDITIONS}
        for table in ("systems", "model_systems"):
            values[table]["retention"] = {SYSTEM: values["systems"]["retention"][SYSTEM]}

    change_params(project, smaller)
    for edition in EDITIONS:
        run_stage(project, "sample", "retention.build", edition, workers=1)
    run_stage(project, "sample", "retention.remember", SYSTEM, workers=1)
    return project


@pytest.fixture
def project(remembered: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(remembered, tmp_path / "project"))


@pytest.fixture
def server(project: Path) -> Iterator[FaultServer]:
    with serving(guard_says) as running:

        def change(values: dict[str, Any]) -> None:
            row = values["models"][values["retention"]["guard"]["model"]]
            row.update(base_url=running.url, attempts=1, concurrency=8)

        change_params(project, change)
        yield running


def recorded(project: Path, *, retry_failed: bool = False) -> None:
    recording = Recording(
        root=project, params=load_params(project, "sample"), benchmark="retention",
        system=SYSTEM, api_key=lambda _: "none", budget=None, retry_failed=retry_failed, model=None,
    )  # fmt: skip
    record(recording, Progress(show=lambda _: None))


def run_stages(project: Path) -> dict[str, Any]:
    """The model's stages and the metrics, by edition and mode."""
    for name in ("retention.remember_model", "retention.judge", "retention.score"):
        run_stage(project, "sample", name, SYSTEM, workers=1)
    run_stage(project, "sample", "metrics", None, workers=1)
    values = json.loads((project / "metrics/sample.json").read_text())["retention"]
    return {edition: values[edition][SYSTEM] for edition in EDITIONS}


def test_recorded_then_replayed(project: Path, server: FaultServer) -> None:
    """Every pair is asked once: editions and modes share the calls."""
    recorded(project)
    assert server.total == 2 * 96
    found = run_stages(project)
    assert server.total == 2 * 96
    rows = read_records(project / SCORES, RetentionScore)
    lost = [row for row in rows if row.decided_by == "undecided"]
    # llm fails on three facts under two policies; hybrid's rules know the migraines under RP-01 and
    # the cat under none of the two.
    by_mode = {mode: {(row.policy_id, row.fact_id) for row in lost
                      if (row.edition, row.mode) == ("standard", mode)}
               for mode in ("hybrid", "llm")}  # fmt: skip
    names = ("health-3", "health-6", "pet-1")
    assert by_mode["llm"] == {(policy, name) for policy in POLICIES for name in names}
    assert by_mode["hybrid"] == by_mode["llm"] - {("RP-01", "health-3")}
    assert {(row.status, row.score, row.reason, row.blocked) for row in lost} == {
        ("undecided", None, "undecided", True)
    }
    values = found["standard"]["llm"]
    assert (values["accuracy_low"], values["accuracy_high"]) == (186 / 192, 1.0)
    assert (values["leak_rate_low"], values["leak_rate_high"]) == (0.0, 2 / 16)
    assert (values["allowed_rate_low"], values["allowed_rate_high"]) == (172 / 176, 1.0)
    assert (values["accuracy_n_scored"], values["accuracy_n_total"]) == (186, 192)
    assert found["policy_change"]["hybrid"]["forgetting_rate_low"] == 15 / 16


@pytest.mark.parametrize(("setting", "blocked"), [("block", 6), ("store", 0)])
def test_an_undecided_fact_follows_the_setting_and_is_counted(
    project: Path, server: FaultServer, setting: str, blocked: int
) -> None:
    change_params(project, lambda values: values["retention"].update(on_undecided=setting))
    recorded(project)
    run_stages(project)
    counts = {
        (row["edition"], row["mode"]): (row["n"], row["n_blocked"])
        for row in retention_table([project / SCORES], "undecided")
    }
    assert counts["standard", "llm"] == counts["policy_change", "llm"] == (6, blocked)
    told = command(project, "retention", "rollup", "--mode", "llm", "--edition", "standard")
    assert told.stdout.split()[-1] == "6"


def test_low_and_high_enclose_the_rates_without_failures(
    project: Path, server: FaultServer
) -> None:
    recorded(project)
    bounds = run_stages(project)
    server.behaviour = truthful
    (project / f"data/ledger/sample/retention/guard/{SYSTEM}.jsonl").unlink()
    shutil.rmtree(project / ".memrepro")
    recorded(project)
    truth = run_stages(project)
    compared = 0
    for edition in EDITIONS:
        for mode in ("hybrid", "llm"):
            for name, value in truth[edition][mode].items():
                found = bounds[edition][mode]
                assert found[f"{name}_low"] <= value <= found[f"{name}_high"]
                compared += 1
    assert compared == 16
    assert truth["standard"]["llm"]["accuracy"] == 1.0
    assert truth["standard"]["llm"]["policies_passed"] == 2


def test_failures_are_sent_again_on_request(project: Path, server: FaultServer) -> None:
    recorded(project)
    shard = project / f"data/ledger/sample/retention/guard/{SYSTEM}.jsonl"
    kinds = [reply.failure for reply in read_shard(shard).values() if reply.failure]
    assert sorted(kinds) == ["parameter"] * 2 + ["refusal"] * 2
    asked, server.behaviour = server.total, truthful
    recorded(project, retry_failed=True)
    assert server.total == asked + 4
    # A reply that came and cannot be read is no failure to send again: two cells stay undecided.
    assert run_stages(project)["standard"]["llm"]["accuracy_n_scored"] == 190


def test_a_decision_can_be_walked_back_to_its_call(project: Path, server: FaultServer) -> None:
    recorded(project)
    run_stages(project)
    file = project / RUNS / f"observations/{SYSTEM}/model.jsonl"
    row = next(row for row in read_records(file, RetentionObservation) if row.decided_by == "model")
    told = command(project, "ledger", "show", str(row.guard_key), "--dataset", "sample")
    assert told.returncode == 0, told.stderr
    shown = json.loads(told.stdout)
    assert (shown["benchmark"], shown["step"], shown["system"]) == ("retention", "guard", SYSTEM)
    assert bool(json.loads(shown["reply"]["text"])["score"]) == row.blocked
    checked = command(project, "ledger", "verify", "--dataset", "sample")
    assert checked.returncode == 0, checked.stderr
    cost = command(project, "cost", "--dataset", "sample", "--benchmark", "retention")
    (line,) = (line.split() for line in cost.stdout.split("\n") if " guard " in line)
    assert line[:5] == ["retention", "guard", SYSTEM, "192", "192"]


def test_a_miss_says_how_to_record(project: Path, server: FaultServer) -> None:
    recorded(project)
    shard = project / f"data/ledger/sample/retention/guard/{SYSTEM}.jsonl"
    lines = shard.read_text().splitlines(keepends=True)
    shard.write_text("".join(lines[3:]))
    with pytest.raises(ReplayMiss, match="3 of 192 calls") as caught:
        run_stage(project, "sample", "retention.remember_model", SYSTEM, workers=1)
    assert caught.value.hint == (
        "memrepro record --dataset sample --benchmark retention --system exact"
    )


def test_a_raised_cap_is_told(project: Path, server: FaultServer) -> None:
    def cut_off(body: dict[str, Any], before: int) -> Answer:
        if body["max_tokens"] == 64:
            return completion("", finish_reason="length")
        return truthful(body, before)

    server.behaviour = cut_off
    recorded(project)
    run_stages(project)
    rows = read_records(project / SCORES, RetentionScore)
    assert {row.raised_cap for row in rows if row.mode == "llm"} == {True}
    assert {row.raised_cap for row in rows if row.mode == "none"} == {False}


def test_the_two_rows_of_a_system_must_agree(project: Path, server: FaultServer) -> None:
    recorded(project)

    def change(values: dict[str, Any]) -> None:
        values["model_systems"]["retention"][SYSTEM] = {"reads": "data/SHA256SUMS"}

    change_params(project, change)
    with pytest.raises(InputError, match="two rows that differ") as caught:
        run_stage(project, "sample", "retention.remember_model", SYSTEM, workers=1)
    assert caught.value.where == "params.yaml, key model_systems.retention.exact"


def test_sentences_are_proposed_checked_and_kept(project: Path, server: FaultServer) -> None:
    texts = ["My canary sings at dawn.", "My cat sleeps on the piano.", "My boss has a cat."]
    server.behaviour = lambda *_: completion(json.dumps({"sentences": texts}))
    corpus = project / "data/retention_policy/corpus.json"
    before = corpus.read_bytes()
    arguments = ("retention", "grow", "--category", "pet", "--count", "3", "--dataset", "sample")
    for _ in range(2):
        told = command(project, *arguments)
        assert told.returncode == 0, told.stderr
        rows = json.loads(told.stdout)
        assert [row["fault"] is None for row in rows] == [True, False, False]
        assert "3 sentences, 1 without a fault" in told.stderr
    assert server.total == 1 and corpus.read_bytes() == before
    unknown = command(project, "retention", "grow", "--category", "pets", "--count", "1")
    assert unknown.returncode == 2 and "unknown category 'pets'" in unknown.stderr
    server.behaviour = lambda *_: completion("Here you are: none.")
    broken = command(project, *arguments[:-3], "4", *arguments[-2:])
    assert broken.returncode == 2 and "no list of sentences" in broken.stderr
