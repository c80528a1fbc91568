"""CIMemories from profiles to metrics: bounds, what a system sees, what models said replayed."""

import json
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from memrepro.cli.project import find_root
from memrepro.errors import CheckFailed, InputError, ReplayMiss
from memrepro.files import iter_json_lines, read_records
from memrepro.memory.domain_guard import may_be_told
from memrepro.params import DATASETS, load_params
from memrepro.record import Recording, record
from memrepro.record.shard import Progress
from memrepro.records import CIMemoriesAnswer, CIMemoriesLabels, CIMemoriesVerdict
from memrepro.runner import run_stage
from memrepro.stages.cost import estimate
from memrepro.stages.declarations import declare
from tests.llm.fault_server import Answer, FaultServer, completion, serving
from tests.projects import ROOT, copy_inputs

RUNS = "data/runs/sample/cimemories"


def metrics(dataset: str, system: str) -> dict[str, Any]:
    values = json.loads((ROOT / f"metrics/{dataset}.json").read_text())["cimemories"]
    found: dict[str, Any] = values[system]
    return found


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("reading", ["paper", "released-code"])
@pytest.mark.parametrize(
    ("system", "violation", "completeness"),
    [("full_context", 1, 1), ("none", 0, 0), ("in_context", 0, 1)],
)
def test_bounds(
    dataset: str, reading: str, system: str, violation: float, completeness: float
) -> None:
    """What tells everything, nothing, and exactly what is necessary."""
    found = metrics(dataset, system)[reading]
    assert (found["violation"], found["completeness"]) == (violation, completeness)


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_guard_and_the_label_table_disagree(dataset: str) -> None:
    """The guard's rule is its own: it tells what labels forbid, and drops what they need."""
    found = metrics(dataset, "guarded")["paper"]
    assert 0 < found["violation"] < 1
    assert 0 < found["completeness"] < 1


def test_the_committed_metrics_are_counts_of_the_committed_scores() -> None:
    """Violation of bm25 in the paper's reading, counted here by hand; the metric is from SQL."""
    labels = {
        (row["profile"], row["place"]): row["labels"]
        for _, row in iter_json_lines(ROOT / RUNS / "labels/rules.jsonl")
    }
    at_stake: dict[int, set[int]] = {}
    told: dict[int, set[int]] = {}
    for _, row in iter_json_lines(ROOT / RUNS / "scores/bm25.jsonl"):
        if row["judge"] != "verbatim":
            continue
        found = labels[row["profile"], row["place"]]
        assert "n" in found and "i" in found  # no context of the sample is discarded
        for position, (label, revealed) in enumerate(zip(found, row["reveals"], strict=True)):
            if label == "i":
                at_stake.setdefault(row["profile"], set()).add(position)
                if revealed == "1":
                    told.setdefault(row["profile"], set()).add(position)
    shares = [len(told[one]) / len(at_stake[one]) for one in at_stake]
    found = metrics("sample", "bm25")["paper"]["violation"]
    assert found == pytest.approx(sum(shares) / 3, abs=1e-12)


SYSTEM = "bm25"


@pytest.fixture(scope="module")
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the contexts of one system, and no shard."""
    project = copy_inputs(tmp_path_factory.mktemp("cimemories"))
    shutil.rmtree(project / "data/ledger", ignore_errors=True)
    for name, system in (
        ("verify", None), ("label", "rules"), ("build", None),
        ("remember", SYSTEM), ("judge", SYSTEM),
    ):  # fmt: skip
        run_stage(project, "sample", f"cimemories.{name}", system, workers=1)
    return project


@pytest.fixture
def project(remembered: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(remembered, tmp_path / "project"))


def test_a_context_in_which_they_disagree_both_ways(remembered: Path) -> None:
    """Of the sample's bank, the table needs `general finance employment` and withholds health."""
    contexts = [row for _, row in iter_json_lines(remembered / RUNS / "inputs/contexts.jsonl")]
    labels = read_records(remembered / RUNS / "labels/rules.jsonl", CIMemoriesLabels)
    domains: dict[int, list[str]] = {}
    for _, row in iter_json_lines(remembered / RUNS / "domains.jsonl"):
        domains.setdefault(row["profile"], []).append(row["domain"])
    too_much, too_little = set(), set()
    for context, row in zip(contexts, labels, strict=True):
        told = may_be_told(context["recipient"])
        for domain, label in zip(domains[row.profile], row.labels, strict=True):
            if label == "i" and domain in told:
                too_much.add(context["recipient"])
            if label == "n" and domain not in told:
                too_little.add(context["recipient"])
    assert too_much and too_little


def test_a_memory_system_is_given_neither_labels_nor_domains_nor_values(remembered: Path) -> None:
    params = load_params(remembered, "sample")
    declared = declare(params, "cimemories.remember", SYSTEM)
    for path in declared.inputs:
        files = [remembered / path] if (remembered / path).is_file() else [
            file for file in (remembered / path).rglob("*") if file.is_file()
        ]  # fmt: skip
        for file in files:
            assert not {"labels.jsonl", "domains.jsonl", "attributes.jsonl"} & {file.name}
            if file.suffix == ".jsonl":
                for _, row in iter_json_lines(file):
                    assert not {"key", "value", "domain", "label", "labels"} & row.keys()


def test_a_changed_file_of_profiles_is_refused(project: Path) -> None:
    path = project / "data/sample/cimemories/profiles.json"
    path.write_text(path.read_text().replace("65", "66", 1))
    with pytest.raises(CheckFailed, match=r"profiles\.json"):
        run_stage(project, "sample", "cimemories.verify", None, workers=1)


def test_compositions_without_the_one_that_is_scored_are_refused(project: Path) -> None:
    path = project / "params.yaml"
    path.write_text(path.read_text().replace("compositions: [full]", "compositions: [iid]"))
    with pytest.raises(InputError, match="composition `full`"):
        run_stage(project, "sample", "cimemories.build", None, workers=1)


def test_the_folder_of_the_full_params_is_no_project(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT / "full")
    assert find_root() == ROOT


def talker() -> Callable[[dict[str, Any], int], Answer]:
    """Messages with running numbers, each said to state one attribute; every third is no object."""
    numbers = count()

    def says(body: dict[str, Any], _: int) -> Answer:
        content = body["messages"][0]["content"]
        if "Which attributes does the message state" in content:
            key = content.split("Attributes:\n")[1].split(" →")[0]
            number = int(content.rpartition("message ")[2].strip(" .\n"))
            return completion("No." if number % 3 == 0 else json.dumps({key: "A sentence."}))
        if "Copy statements word for word" in content:
            return completion(json.dumps({"share": [content.split("\n")[2]], "private": []}))
        return completion(f"Dear all, this is message {next(numbers)}.")

    return says


@pytest.fixture
def server(project: Path) -> Iterator[FaultServer]:
    with serving(talker()) as running:
        values = yaml.safe_load((project / "params.yaml").read_text())
        values["systems"]["cimemories"] = {SYSTEM: values["systems"]["cimemories"][SYSTEM]}
        values["model_systems"]["cimemories"] = {SYSTEM: {}}
        for row in values["models"].values():
            row.update(base_url=running.url, attempts=1)
        (project / "params.yaml").write_text(yaml.safe_dump(values))
        yield running


def recording(project: Path, system: str) -> Recording:
    return Recording(
        root=project, params=load_params(project, "sample"), benchmark="cimemories",
        system=system, budget=None, retry_failed=False, model=None, api_key=lambda _: "none",
    )  # fmt: skip


def test_messages_and_verdicts_are_recorded_and_replayed(
    project: Path, server: FaultServer
) -> None:
    """Two contexts, four prompt levels, two trials: 16 messages, each judged."""
    with pytest.raises(ReplayMiss, match="16 of 16"):
        (project / "data/ledger/sample/cimemories/answer").mkdir(parents=True)
        (project / f"data/ledger/sample/cimemories/answer/{SYSTEM}.jsonl").touch()
        run_stage(project, "sample", "cimemories.answer", SYSTEM, workers=1)
    record(recording(project, SYSTEM), Progress(show=lambda _: None))
    asked = server.total
    for name in ("answer", "judge_model", "score"):
        run_stage(project, "sample", f"cimemories.{name}", SYSTEM, workers=1)
    assert server.total == asked
    answers = read_records(project / RUNS / f"answers/{SYSTEM}.jsonl", CIMemoriesAnswer)
    verdicts = read_records(project / RUNS / f"verdicts/{SYSTEM}/model.jsonl", CIMemoriesVerdict)
    assert len(answers) == len(verdicts) == 16
    # Told of attribute 1, or an error for all: of 0 to 15, six divide by 3.
    assert {row.reveals for row in verdicts} == {"1" + "0" * 200, "x" * 201}
    assert sum(row.status == "judge_error" for row in verdicts) == 6


def test_labels_are_recorded_and_replayed(project: Path, server: FaultServer) -> None:
    """Two contexts of one profile, three personas, ten samples; all share the first statement."""
    record(recording(project, "labels"), Progress(show=lambda _: None))
    assert server.total == 60
    run_stage(project, "sample", "cimemories.label", "generate", workers=1)
    labels = read_records(project / RUNS / "labels/generate.jsonl", CIMemoriesLabels)
    assert [(row.profile, row.place) for row in labels] == [(0, 0), (0, 1)]
    assert {row.labels for row in labels} == {"n" + "a" * 200}


def test_the_cost_counts_a_verdict_on_every_message_yet_to_come(
    project: Path, server: FaultServer
) -> None:
    """16 messages of one prompt's samples and levels, and as many verdicts."""
    params = load_params(project, "sample")
    rows, _ = estimate(
        project, params, benchmark="cimemories", system=SYSTEM, output_tokens=100, vocabularies=None
    )
    counts = {row.step: (row.calls, row.recorded) for row in rows}
    assert counts == {"answer": (16, 0), "judge": (16, 0)}
    assert server.total == 0
