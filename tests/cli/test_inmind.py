"""`memrepro inmind` on an edition of two tasks: payloads, submissions checked, and exported."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from memrepro.benchmarks.inmind.payloads import judge_payloads
from memrepro.benchmarks.inmind.submission import validate_submission
from memrepro.errors import InputError
from memrepro.files import write_records
from memrepro.records import Condition, InMindAnswer, InMindContext, QueryKind, RecalledItem
from tests.commands import Memrepro, Ran
from tests.compare.project import new_project

SAMPLE = ("--dataset", "sample")
RUNS = "data/runs/sample/inmind"
KINDS: tuple[QueryKind, ...] = ("naive", "indirect")
# Of task 4 or 9: what a judge may be told.
FACTS = {
    "user_message": "I keep bees {}.",
    "naive_query": "What do I keep {}?",
    "query": "What to plant {}?",
    "explanation": "Bees need flowers {}.",
}


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = new_project(tmp_path)
    tasks = [
        {"task_id": n, **{name: text.format(n) for name, text in FACTS.items()}} for n in (4, 9)
    ]
    files = {
        "data/sample/inmind/tasks.jsonl": lines(*tasks),
        "data/sample/inmind/background.jsonl": lines({"id": "s0-t0"}),
        "data/sample/inmind/manifest.json": "{}",
        "prompts/inmind/judge_naive.txt": "Naive?\n\n",
        "prompts/inmind/judge_target_recall.txt": "Recalled?\n",
        "prompts/inmind/judge_application.txt": "Applied?\n",
    }
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    return project


def row(task_id: object = 4, **changes: object) -> dict[str, Any]:
    """A row of a submission."""
    return {
        "task_id": task_id,
        "system": "mine",
        "config": {},
        "naive": {"context": "nc", "answer": "na"},
        "query": {"context": "qc", "answer": "qä"},
        **changes,
    }


def payloads(memrepro: Memrepro, project: Path, metric: str, *rows: object) -> Ran:
    (project / "results.jsonl").write_text(lines(*rows))
    options = ("--results", "results.jsonl", "--metric", metric, *SAMPLE)
    return memrepro(project, "inmind", "judge-payloads", *options)


@pytest.mark.parametrize(
    ("metric", "prompt", "told"),
    [
        (
            "naive",
            "Naive?",
            "user_message: I keep bees 9.\ncontext: nc\nquery: What do I keep 9?\nanswer: na",
        ),
        (
            "target-recall",
            "Recalled?",
            "user_message: I keep bees 9.\ncontext: qc\nquery: What to plant 9?\n"
            "explanation: Bees need flowers 9.",
        ),
        (
            "application",
            "Applied?",
            "user_message: I keep bees 9.\ncontext: qc\nquery: What to plant 9?\n"
            "explanation: Bees need flowers 9.\nanswer: qä",
        ),
    ],
)
def test_a_judge_is_told_what_its_metric_needs(
    project: Path, memrepro: Memrepro, metric: str, prompt: str, told: str
) -> None:
    ran = payloads(memrepro, project, metric, row(9), row(4))
    first, second = map(json.loads, ran.out.splitlines())
    assert first == {
        "task_id": 9,
        "metric": metric,
        "messages": [{"role": "system", "content": prompt}, {"role": "user", "content": told}],
        "response_contract": {"score": "0 or 1", "reason": "brief explanation"},
    }
    assert second["task_id"] == 4
    assert ("qä" in ran.out) == (metric == "application")  # never escaped


def test_payloads_for_what_cannot_be_judged(project: Path, memrepro: Memrepro) -> None:
    ran = payloads(memrepro, project, "taste", row())
    assert ran.code == 2
    assert "--metric: no metric 'taste'" in ran.err
    assert "naive, target-recall, application, answer-only" in ran.err

    ran = payloads(memrepro, project, "naive", row(5))
    assert (ran.code, ran.out) == (2, "")
    assert "results.jsonl: line 1, field task_id: 5 is no task of this edition" in ran.err
    assert "memrepro inmind validate-submission results.jsonl --allow-partial" in ran.err

    ran = payloads(memrepro, project, "answer-only", row())
    assert ran.code == 2
    assert "prompts/inmind/judge_answer_only.txt" in ran.err  # the project has none
    assert "fetch" not in ran.err  # which would not bring it: the sample's prompts are committed

    with pytest.raises(InputError, match="unknown task"):
        list(judge_payloads("naive", "", [], [row()]))


def checked(memrepro: Memrepro, project: Path, text: str, *options: str) -> Ran:
    (project / "mine.jsonl").write_text(text)
    return memrepro(project, "inmind", "validate-submission", "mine.jsonl", *SAMPLE, *options)


def test_a_good_submission(project: Path, memrepro: Memrepro) -> None:
    whole = checked(memrepro, project, lines(row(9), row(4, more="is allowed")))
    assert (whole.code, whole.out, whole.err) == (0, "coverage 2/2, 0 errors\n", "")
    part = checked(memrepro, project, lines(row(9)), "--allow-partial")
    assert (part.code, part.out) == (0, "coverage 1/2, 0 errors\n")


@pytest.mark.parametrize(
    ("rows", "coverage", "told"),
    [
        ([row(9)], 1, ["1 of 2 tasks have no valid row: 4"]),
        ([row(9), row(4), row(9)], 2, ["line 3, field task_id: 9 stands on line 1 already"]),
        ([row(9), row(4), row(5)], 2, ["line 3, field task_id: 5 is no task of this edition"]),
        (
            [row("9"), row(4)],
            1,
            [
                "line 1, field task_id: Input should be a valid integer (found '9')",
                "1 of 2 tasks have no valid row: 9",
            ],
        ),
        (
            [row(4, query={"context": None}), row(9)],
            1,
            [
                "line 1, field query.context: Input should be a valid string (found None)",
                "line 1, field query.answer: Field required (found {'context': None})",
                "1 of 2 tasks have no valid row: 4",
            ],
        ),
        ([row(9), row(4), 7], 2, ["line 3, field row: "]),
    ],
)
def test_every_fault_of_a_submission_is_listed(
    project: Path, memrepro: Memrepro, rows: list[object], coverage: int, told: list[str]
) -> None:
    ran = checked(memrepro, project, lines(*rows))
    assert ran.code == 1
    assert ran.out == f"coverage {coverage}/2, {len(told)} errors\n"
    found = ran.err.splitlines()
    assert len(found) == len(told)
    for line, wanted in zip(found, told, strict=True):
        assert line.startswith(f"mine.jsonl: {wanted}")


def test_of_many_missing_tasks_ten_are_named() -> None:
    result = validate_submission([], set(range(13)), allow_partial=False)
    assert result.errors == (
        "13 of 13 tasks have no valid row: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 3 more",
    )
    assert (result.covered, result.total) == (0, 13)


def test_a_submission_that_cannot_be_read(project: Path, memrepro: Memrepro) -> None:
    ran = checked(memrepro, project, '{"task_id": 4')
    assert ran.code == 1  # the check's answer is no
    assert "mine.jsonl, line 1" in ran.err
    (project / "mine.jsonl").unlink()
    ran = memrepro(project, "inmind", "validate-submission", "mine.jsonl", *SAMPLE)
    assert ran.code == 2
    assert ran.err == "error: mine.jsonl: no such file\n"


# ------------------------------------------------------------------------------------- export


def write_contexts(project: Path, text: str = "One.\n\nTwo.") -> None:
    """Both queries of both tasks, and one without the target, recalled the same two items."""
    folder = project / RUNS / "contexts/bm25"
    places: list[tuple[int, QueryKind, Condition]] = [
        *((task, kind, "with_target") for task in (9, 4) for kind in KINDS),
        (4, "indirect", "without_target"),
    ]
    rows = [
        InMindContext(
            task_id=task, query_kind=kind, condition=condition, system="bm25", items=(1, 0),
            context_sha256=hashlib.sha256(text.encode()).hexdigest(), state_before="s",
            state_after="s",
        )
        for task, kind, condition in places
    ]  # fmt: skip
    write_records(folder / "contexts.jsonl", rows)
    items = [RecalledItem(item=0, id="b", text="Two."), RecalledItem(item=1, id="a", text="One.")]
    write_records(folder / "items.jsonl", items)


def export(memrepro: Memrepro, project: Path) -> Ran:
    options = ("--system", "bm25", "--output", "out.jsonl")
    return memrepro(project, "inmind", "export", *SAMPLE, *options)


def test_contexts_are_exported_and_no_answers_where_none_are_recorded(
    project: Path, memrepro: Memrepro
) -> None:
    write_contexts(project)
    ran = export(memrepro, project)
    assert (ran.code, ran.out) == (0, "2 rows in out.jsonl\n")
    turn = {"context": "One.\n\nTwo.", "answer": ""}
    config = {"k": 5, "answer_model": None}
    assert [json.loads(line) for line in (project / "out.jsonl").read_text().splitlines()] == [
        {"task_id": n, "system": "bm25", "config": config, "naive": turn, "query": turn}
        for n in (4, 9)
    ]


def test_recorded_answers_go_along_and_a_failed_one_is_empty(
    project: Path, memrepro: Memrepro
) -> None:
    write_contexts(project)
    given: list[tuple[QueryKind, Condition, str | None]] = [
        ("naive", "with_target", "Bees."),
        ("indirect", "with_target", None),
        ("indirect", "without_target", "Anything."),
    ]
    answers = [
        InMindAnswer(
            task_id=4, query_kind=kind, condition=condition, system="bm25", text=text, key="k",
            status="answered" if text else "refusal", raised_cap=False,
        )
        for kind, condition, text in given
    ]  # fmt: skip
    write_records(project / RUNS / "answers/bm25.jsonl", answers)
    assert export(memrepro, project).code == 0
    first, second = map(json.loads, (project / "out.jsonl").read_text().splitlines())
    assert (first["naive"]["answer"], first["query"]["answer"]) == ("Bees.", "")
    assert first["config"]["answer_model"] == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert second["naive"]["answer"] == ""


def test_a_context_that_was_changed_is_not_exported(project: Path, memrepro: Memrepro) -> None:
    write_contexts(project, "One.\n\nTwo!")
    ran = export(memrepro, project)
    assert ran.code == 1
    assert "the context of task 4 is not the one recorded" in ran.err
    assert not (project / "out.jsonl").exists()
