"""`make paper`, against a server on loopback: forecast, budget, resumption, and what it cost."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.github.make import give_tools, make
from tests.llm.fault_server import Answer, FaultServer, completion, serving
from tests.projects import change_params, copy_checkout, keep_systems

KEY = "a-key-of-no-worth"
SHARD = "data/ledger/sample/inmind/{}/recent.jsonl"


def replies(body: dict[str, Any], _: int) -> Answer:
    judged = "JSON" in body["messages"][0]["content"]
    return completion(json.dumps({"score": 1, "reason": "r"}) if judged else "Mind the fact.")


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving(replies) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, server: FaultServer) -> Path:
    target = copy_checkout(tmp_path / "project")
    give_tools(target, "memrepro", "dvc")
    keep_systems(target, "recent")

    def change(values: dict[str, Any]) -> None:
        for step in ("answer", "judge"):
            values["inmind"][step]["model"] = "gpt-5-mini"
        values["models"]["gpt-5-mini"].update(base_url=server.url, price_output=100.0)

    change_params(target, change)
    return target


def paper(project: Path, **settings: str) -> Any:
    return make(project, "paper", SYSTEM="recent", BENCHMARK="inmind", **settings)


@pytest.mark.slow
def test_a_recording_is_forecast_stopped_gone_on_with_and_scored(
    project: Path, server: FaultServer
) -> None:
    without = paper(project, OPENAI_API_KEY="")
    assert without.returncode != 0 and "environment variable OPENAI_API_KEY" in without.stderr
    assert "gpt-5-mini" in without.stdout or "US$" in without.stdout  # the forecast came first
    assert server.total == 0

    stopped = paper(project, OPENAI_API_KEY=KEY, BUDGET="0.05")
    assert stopped.returncode != 0 and "Error 3" in stopped.stderr
    sent = server.total
    assert sent > 0

    whole = paper(project, OPENAI_API_KEY=KEY, BUDGET="500")
    assert whole.returncode == 0, whole.stderr
    packed = sum(len((project / SHARD.format(step)).read_text().splitlines())
                 for step in ("answer", "judge"))  # fmt: skip
    assert server.total == packed > sent
    again = paper(project, OPENAI_API_KEY=KEY)
    assert again.returncode == 0 and server.total == packed

    change_params(project, lambda values: values["model_systems"]["inmind"].update(recent={}))
    made = make(project, "repro")
    assert made.returncode == 0, made.stdout + made.stderr
    metrics = json.loads((project / "metrics/sample.json").read_text())
    assert "application" in metrics["inmind"]["recent"]
    for text in (without, stopped, whole, again, made):
        assert KEY not in text.stdout + text.stderr
