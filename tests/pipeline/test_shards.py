"""The committed shards: what they are, and that the sample's pipeline asks for each reply."""

import json
from pathlib import Path

from memrepro.files import read_records
from memrepro.llm.ledger import read_shard
from memrepro.params import load_params, model_of
from memrepro.records import InMindScore
from memrepro.signature import Signature
from tests.projects import ROOT

SHARDS = ROOT / "data/ledger/sample/inmind"


def test_four_systems_are_recorded_from_the_small_model() -> None:
    params = load_params(ROOT, "sample")
    systems = list(params.model_systems.inmind)
    assert len(systems) >= 4
    for step in ("answer", "judge"):
        assert {path.stem for path in (SHARDS / step).glob("*.jsonl")} == set(systems)
        for path in (SHARDS / step).glob("*.jsonl"):
            replies = read_shard(path).values()
            # Real replies: reported by the server, with what they cost in tokens.
            assert {reply.model for reply in replies} == {"smollm2-135m"}
            assert all(reply.completion_tokens for reply in replies)
    assert model_of(params, params.inmind.answer.model).identity.startswith("SmolLM2-135M")


def test_every_judged_metric_says_which_model_judged_and_is_not_comparable() -> None:
    rows = read_records(ROOT / "data/runs/sample/signatures.jsonl", Signature)
    judged = [row for row in rows if row.benchmark == "inmind" and row.judge != "verbatim"]
    assert {row.metric for row in judged} == {
        "naive_recall", "target_recall", "application", "application_gated",
        "answer_only", "unprompted_warning",
    }  # fmt: skip
    for row in judged:
        assert row.answer_model.startswith("SmolLM2") and row.judge.startswith("SmolLM2")
        assert not row.comparable
        assert any("gpt-5-mini in the paper" in text for text in row.deviations)


def test_the_committed_metrics_are_counts_of_the_committed_scores() -> None:
    """Counted here by hand from the rows; the metrics come from SQL."""
    metrics = json.loads((ROOT / "metrics/sample.json").read_text())["inmind"]
    for system in load_params(ROOT, "sample").model_systems.inmind:
        path = Path(ROOT / f"data/runs/sample/inmind/scores/{system}.jsonl")
        rows = read_records(path, InMindScore)
        for metric in ("naive_recall", "target_recall", "application", "answer_only"):
            scores = [row.score for row in rows if row.metric == metric]
            assert len(scores) == 26
            low = scores.count(1) / 26
            high = (scores.count(1) + scores.count(None)) / 26
            found = metrics[system]
            if None in scores:
                assert (found[f"{metric}_low"], found[f"{metric}_high"]) == (low, high)
                assert metric not in found
            else:
                assert found[metric] == low
