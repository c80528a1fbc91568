"""Items of the benchmarks, their texts, and how a comparison is written."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memrepro.compare.measures import direction, primary
from memrepro.files import write_records
from memrepro.records import (
    CIMemoriesAttribute,
    CIMemoriesContext,
    Condition,
    InMindAnswer,
    InMindTask,
)
from memrepro.store import inmind_metrics
from memrepro.store.cimemories_runs import Run, cimemories_metrics
from memrepro.store.items import ItemFiles, pair_items
from tests.cimemories.runs import score, write_run
from tests.commands import Ran
from tests.compare.project import (
    RUNS,
    binary,
    commit,
    flipped,
    new_project,
    two_commits,
    write_cimemories,
    write_inmind,
)
from tests.projects import ROOT

Diff = Callable[..., Ran]
BASE = binary(60)


def test_the_items_are_those_of_every_inmind_metric() -> None:
    """As many as the metrics count, and as many scored, on the committed sample."""
    files = sorted((ROOT / "data/runs/sample/inmind/scores").glob("*.jsonl"))
    pairs = pair_items("inmind", ItemFiles(files), ItemFiles(files))
    assert files
    metrics = {
        f"{system}/{metric}": value
        for system, values in inmind_metrics(files).items()
        for metric, value in values.items()
    }
    places = {path for path in metrics if not path.endswith(("_low", "_high", "_scored", "_total"))}
    bounded = {path.removesuffix("_low") for path in metrics if path.endswith("_low")}
    assert {*pairs} == places | bounded
    for place in bounded:
        assert pairs[place].paired == metrics[f"{place}_n_scored"]
        assert pairs[place].open_a == metrics[f"{place}_n_total"] - metrics[f"{place}_n_scored"]
    assert all(pairs[place].open_a == 0 for place in places)


def test_the_items_make_up_the_inmind_metrics(tmp_path: Path) -> None:
    """Against a run in which every item is 0, the difference of the items is the metric."""
    files = sorted((ROOT / "data/runs/sample/inmind/scores").glob("*.jsonl"))
    zeros = []
    for file in files:
        zeros.append(tmp_path / file.name)
        zeros[-1].write_text(file.read_text().replace('"score":1', '"score":0'))
    metrics = inmind_metrics(files)
    for place, found in pair_items("inmind", ItemFiles(zeros), ItemFiles(files)).items():
        system, _, metric = place.rpartition("/")
        values = metrics[system]
        scored = values.get(metric, values.get(f"{metric}_low"))
        items = found.paired + found.open_a if metric in values else values[f"{metric}_n_total"]
        assert len(found.rose) == pytest.approx((scored or 0) * items)


LABELS = ("nia", "nii")


def test_the_items_of_cimemories_by_hand(tmp_path: Path) -> None:
    """Attributes 2 and 3 are at stake; first 2 is told, then 3. Context 1 gains attribute 1."""
    a = [score("a", 0, "110"), score("a", 1, "000")]
    b = [score("a", 0, "100"), score("a", 1, "101")]
    before, labels = write_run(tmp_path / "a", LABELS, {"a": a})
    after, _ = write_run(tmp_path / "b", LABELS, {"a": b})
    found = pair_items(
        "cimemories", ItemFiles(before.scores, labels), ItemFiles(after.scores, labels)
    )
    assert {*found} == {"a/paper/violation", "a/paper/completeness"}
    violation, completeness = found["a/paper/violation"], found["a/paper/completeness"]
    assert (violation.rose, violation.fell, violation.paired) == (["0/3"], ["0/2"], 2)
    assert (completeness.rose, completeness.fell, completeness.paired) == (["0/1"], [], 2)
    assert violation.clustered and completeness.clustered
    assert [tuple(unit) for unit in completeness.units] == [(1.0, 2, 1)]


def test_names_at_hand_add_the_released_codes_reading(tmp_path: Path) -> None:
    """The ids stay numbers; both readings' differences are those of the metrics."""
    a = [score("a", 0, "110"), score("a", 1, "000")]
    b = [score("a", 0, "100"), score("a", 1, "111")]
    sides: list[tuple[Run, Path]] = [
        write_run(tmp_path / name, LABELS, {"a": rows}) for name, rows in (("a", a), ("b", b))
    ]
    items = [ItemFiles(run.scores, labels, (run.contexts, run.attributes)) for run, labels in sides]
    metrics = [cimemories_metrics(run, labels)["a"] for run, labels in sides]
    found = pair_items("cimemories", *items)
    assert len(found) == 4
    for reading in ("paper", "released-code"):
        for metric in ("violation", "completeness"):
            pairs = found[f"a/{reading}/{metric}"]
            moved = sum(unit.total for unit in pairs.units) / pairs.paired
            expected = metrics[1][reading][metric] - metrics[0][reading][metric]
            assert moved == pytest.approx(expected)
            assert all(item.startswith("0/") for item in pairs.rose + pairs.fell)


def test_violation_is_clustered_by_profile_and_lower_is_better(tmp_path: Path, diff: Diff) -> None:
    """Two profiles of 2 and 6 attributes at stake: both of the first are told, none of the second.

    The metric is the mean over profiles, 1/2; drawn twice, the profiles give 0, 1/2 or 1. Two
    attributes flip: 2 / 2^2.
    """
    project = new_project(tmp_path)
    labels = ("nii", "niiiiii")
    values = [{"bm25": {"paper": {"violation": x, "completeness": 1.0}}} for x in (0.0, 0.5)]
    write_cimemories(project, labels, {"bm25": ("100", "1000000")}, values[0])
    commit(project)
    write_cimemories(project, labels, {"bm25": ("111", "1000000")}, values[1])
    found = json.loads(diff(project, "--format", "json").out)["datasets"]["sample"]
    assert found["family"] == ["cimemories/bm25/paper/violation"]
    (row,) = found["moved"]
    assert row["items"]["lost"] == ["0/2", "0/3"] and row["items"]["won"] == []
    assert row["items"]["difference"] == row["difference"] == 0.5
    assert row["items"]["interval"] == [0.0, 1.0]
    assert row["items"]["p"] == 0.5
    assert row["items"]["test"] == "exact McNemar"
    assert row["items"]["clusters"] == 2
    assert "exact McNemar takes items for independent" in diff(project).out


def test_other_labels_make_another_measure(tmp_path: Path, diff: Diff) -> None:
    project = new_project(tmp_path)
    values = {"bm25": {"paper": {"violation": 0.0, "completeness": 1.0}}}
    signed = {
        "path": "cimemories/bm25/paper/violation", "benchmark": "cimemories", "judge": "verbatim",
    }  # fmt: skip
    for labels in ("nia", "nii"):
        write_cimemories(project, (labels,), {"bm25": ("100",)}, values)
        (project / RUNS / "signatures.jsonl").write_text(json.dumps(signed) + "\n")
        commit(project)
    ran = diff(project, "HEAD~1", "HEAD", "--fail-on", "incomparable")
    assert ran.code == 1
    assert "cimemories/bm25/paper/violation cimemories/labels/rules.jsonl differs" in ran.err


def test_completeness_is_tested_by_the_bootstrap(tmp_path: Path, diff: Diff) -> None:
    """Three profiles lose all: every resample of the difference is -1, so p is 2 / 10001."""
    project = new_project(tmp_path)
    values = [{"bm25": {"paper": {"violation": 0.0, "completeness": x}}} for x in (1.0, 0.0)]
    for told, value in zip(("10", "00"), values, strict=True):
        write_cimemories(project, ("ni",) * 3, {"bm25": (told,) * 3}, value)
        commit(project)
    found = json.loads(diff(project, "HEAD~1", "HEAD", "--format", "json").out)
    (row,) = found["datasets"]["sample"]["moved"]
    assert row["path"] == "cimemories/bm25/paper/completeness"
    assert row["items"]["interval"] == [-1.0, -1.0]
    assert row["items"]["p"] == pytest.approx(2 / 10_001, abs=1e-12)
    assert row["items"]["smallest_difference"] is None
    assert row["items"]["lost"] == ["0/0", "1/0", "2/0"]


def test_the_texts_of_flips_in_the_working_tree(tmp_path: Path, diff: Diff) -> None:
    """The commit is of no project of DVC, so that its side has none."""
    project = two_commits(tmp_path, {"bm25": BASE}, {"bm25": flipped(BASE, 3, 4)})
    task = InMindTask(
        task_id=3, injection_session_index=0, user_message="I keep bees.", assistant_message="Ah.",
        naive_query="What do I keep?", query="What to plant?",
    )  # fmt: skip
    write_records(project / RUNS / "inmind/inputs/tasks.jsonl", [task])
    ran = diff(project, "HEAD~1", "--texts")
    assert ran.code == 0 and ran.err == ""
    assert "3 query of the working tree: What to plant?" in ran.out
    assert "4: its text is not at hand" in ran.out
    folder = f"{RUNS}/inmind/contexts/bm25"
    assert (
        f"text not at hand: {folder}/items.jsonl (and 1 more) of the working tree is not there; "
        "run dvc repro"
    ) in ran.out
    assert "of HEAD~1 is not read: DVC says: you are not inside of a DVC repository" in ran.out
    found = json.loads(diff(project, "HEAD~1", "--texts", "--format", "json").out)
    (row,) = found["datasets"]["sample"]["moved"]
    assert row["texts"]["3"] == [{}, {"query": "What to plant?", "fact": "I keep bees."}]
    assert len(found["not_at_hand"]) == 2


def test_texts_of_another_layout_are_an_error(tmp_path: Path, diff: Diff) -> None:
    project = two_commits(tmp_path, {"bm25": BASE}, {"bm25": flipped(BASE, 3)})
    file = project / RUNS / "inmind/inputs/tasks.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text('{"task_id":3,"question":"What to plant?"}\n')
    ran = diff(project, "HEAD~1", "--texts")
    assert ran.code == 2
    assert f"the working tree: {RUNS}/inmind: its texts are not as this version" in ran.err


def test_the_answer_is_told_where_one_was_judged(tmp_path: Path, diff: Diff) -> None:
    """Of the right query and condition; a failed one by its status."""
    project = new_project(tmp_path)
    for scores in (binary(2, 3), binary(0, 3)):
        write_inmind(project, {"bm25": scores}, "unprompted_warning")
        commit(project)
    replies: list[tuple[int, Condition, str | None]] = [
        (0, "with_target", "Clover."), (0, "without_target", "Mind\nthe bees."),
        (1, "without_target", None),
    ]  # fmt: skip
    answers = [
        InMindAnswer(
            task_id=task, query_kind="indirect", condition=condition, system="bm25",
            status="answered" if text else "empty", text=text, key="0" * 64, raised_cap=False,
        )
        for task, condition, text in replies
    ]  # fmt: skip
    tasks = [
        InMindTask(
            task_id=task, injection_session_index=0, user_message="F", assistant_message="A",
            naive_query="N", query="Q",
        )
        for task in (0, 1)
    ]  # fmt: skip
    write_records(project / RUNS / "inmind/inputs/tasks.jsonl", tasks)
    write_records(project / RUNS / "inmind/answers/bm25.jsonl", answers)
    out = diff(project, "HEAD~1", "--texts").out
    assert "0 answer of the working tree: Mind the bees." in out
    assert "1 answer of the working tree: none: empty" in out
    assert "Clover" not in out


def test_the_texts_of_cimemories(tmp_path: Path, diff: Diff) -> None:
    project = new_project(tmp_path)
    for told, value in (("10", 0.0), ("11", 1.0)):
        values = {"bm25": {"paper": {"violation": value, "completeness": 1.0}}}
        write_cimemories(project, ("ni",), {"bm25": (told,)}, values)
        commit(project)
    attribute = CIMemoriesAttribute(
        profile=0, position=2, name="Ada", key="k", value=1, domain="health", statement="Ada naps."
    )
    write_records(project / RUNS / "cimemories/judge_only/attributes.jsonl", [attribute])
    assert "0/2 statement of the working tree: Ada naps." in diff(project, "HEAD~1", "--texts").out


def test_the_text_of_a_context_is_its_recipient_and_task(tmp_path: Path, diff: Diff) -> None:
    """Completeness is of contexts, and not of attributes."""
    project = new_project(tmp_path)
    for told, value in (("10", 1.0), ("00", 0.0)):
        values = {"bm25": {"paper": {"violation": 0.0, "completeness": value}}}
        write_cimemories(project, ("ni",), {"bm25": (told,)}, values)
        commit(project)
    context = CIMemoriesContext(profile=0, place=0, recipient="Bank", task="ask for a loan")
    write_records(project / RUNS / "cimemories/inputs/contexts.jsonl", [context])
    found = json.loads(diff(project, "HEAD~1", "--texts", "--format", "json").out)
    (row,) = found["datasets"]["sample"]["moved"]
    assert row["texts"] == {"0/0": [{}, {"recipient": "Bank", "task": "ask for a loan"}]}


def test_markdown(tmp_path: Path, diff: Diff) -> None:
    project = two_commits(tmp_path, {"bm25": BASE}, {"bm25": flipped(BASE, *range(25))})
    output = tmp_path / "diff.md"
    ran = diff(project, "HEAD~1", "HEAD", "--format", "markdown", "--output", str(output))
    assert ran.out == ""
    text = output.read_text(encoding="utf-8")
    lines = text.split("\n")
    assert lines[0].startswith("### HEAD~1 (") and "against HEAD (" in lines[0]
    header = next(line for line in lines if line.startswith("| metric |"))
    assert header.count("|") == 11
    assert "| --- |" in lines[lines.index(header) + 1]
    row = lines[lines.index(header) + 2]
    assert row.startswith("| inmind/bm25/target_recall_verbatim * | 0.4800 | 0.2800 | -0.2000 |")
    # 25 lost, none won: 2 / 2^25, of a family of one
    assert "| 5.96e-08 | 5.96e-08 | 0 | 25 | yes |" in row
    assert "18, 19 and 5 more" in text


def test_the_same_difference_is_written_twice_alike(tmp_path: Path, diff: Diff) -> None:
    project = two_commits(tmp_path, {"bm25": BASE}, {"bm25": flipped(BASE, 1, 2, 3)})
    runs = [diff(project, "HEAD~1", "HEAD", "--format", "json").out for _ in range(2)]
    assert runs[0] == runs[1]


def test_which_way_is_better() -> None:
    assert direction("violation_model_level_2") == direction("leak_rate") == -1
    assert direction("unprompted_warning") == -1
    assert direction("target_recall_verbatim_without_target") == -1
    assert direction("target_recall_verbatim") == direction("completeness") == 1
    assert direction("violation_std") == direction("contexts_scored") == 0


def test_which_metrics_are_primary() -> None:
    """Target recall as judged where a model judged, else word for word."""
    inmind = ["a/target_recall", "a/target_recall_verbatim", "b/target_recall_verbatim", "b/x"]
    assert primary("inmind", inmind) == ["a/target_recall", "b/target_recall_verbatim"]
    cimemories = ["a/paper/violation", "a/paper/violation_std", "a/released-code/violation"]
    assert primary("cimemories", cimemories) == ["a/paper/violation"]
    retention = ["standard/a/none/accuracy", "evasion/a/none/accuracy", "standard/a/none/leak_rate"]
    assert primary("retention", retention) == ["standard/a/none/accuracy"]
    assert primary("another", ["a/x"]) == []
