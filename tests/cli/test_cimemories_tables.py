"""`memrepro cimemories tables`: a run's tables as they are read at a terminal, and as JSON."""

import json
from pathlib import Path

import pytest

from tests.commands import Memrepro
from tests.compare.project import new_project

SAMPLE = ("--dataset", "sample")
FRONTIER = [
    {"system": "bm25", "judge": "verbatim", "violation": 0.3, "on_frontier": True},
    {"system": "none", "judge": "verbatim", "completeness": 0, "on_frontier": False},
]
LABELS = [
    {
        "source": "rules",
        "contexts": 3,
        "scores": {"bm25": {"violation": 0.5, "completeness": 1 / 3, "contexts_scored": 3}},
    },
    {"source": "generate", "contexts": 2, "scores": {"none": {"violation_low": 0.0}}},
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = new_project(tmp_path)
    folder = project / "data/runs/sample/cimemories"
    for name, rows in {
        "plots/frontier": FRONTIER,
        "tables/labels": LABELS,
        "tables/discarded": [],
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(rows))
    return project


def cells(text: str) -> list[list[str]]:
    """The words of each line, columns parted by two blanks."""
    return [
        [word.strip() for word in line.split("  ") if word.strip()] for line in text.split("\n")
    ]


def test_without_a_name_it_says_which_tables_there_are(project: Path, memrepro: Memrepro) -> None:
    ran = memrepro(project, "cimemories", "tables")
    listed = ran.out.splitlines()
    assert [line.split()[0] for line in listed] == [
        "frontier", "accumulation", "runs", "domain", "recipient", "prompt_level", "composition",
        "labels", "discarded", "sensitivity",
    ]  # fmt: skip
    assert listed[2] == "runs          Violation@n for each n"


def test_a_table_has_every_rows_columns_and_a_dash_where_one_is_lacking(
    project: Path, memrepro: Memrepro
) -> None:
    ran = memrepro(project, "cimemories", "tables", "frontier", *SAMPLE)
    assert ran.code == 0
    assert cells(ran.out)[:3] == [
        ["system", "judge", "violation", "on frontier", "completeness"],
        ["bm25", "verbatim", "0.3000", "True", "–"],
        ["none", "verbatim", "–", "False", "0"],
    ]


def test_one_systems_rows(project: Path, memrepro: Memrepro) -> None:
    asked = ("cimemories", "tables", "frontier", *SAMPLE, "--system")
    assert [row[0] for row in cells(memrepro(project, *asked, "none").out)[1:2]] == ["none"]
    assert "bm25" not in memrepro(project, *asked, "none").out
    assert memrepro(project, *asked, "elephant").out == "no rows\n"
    assert json.loads(memrepro(project, *asked, "none", "--json").out) == FRONTIER[1:]


def test_scores_of_a_labelled_set_stand_beside_it(project: Path, memrepro: Memrepro) -> None:
    asked = ("cimemories", "tables", "labels", *SAMPLE)
    assert cells(memrepro(project, *asked).out)[:3] == [
        ["source", "contexts", "bm25 violation", "bm25 completeness"],
        ["rules", "3", "0.5000", "0.3333"],
        ["generate", "2", "–", "–"],
    ]
    assert json.loads(memrepro(project, *asked, "--json").out) == LABELS


def test_an_empty_table_says_so(project: Path, memrepro: Memrepro) -> None:
    assert memrepro(project, "cimemories", "tables", "discarded", *SAMPLE).out == "no rows\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("chairs", *SAMPLE), ["no table 'chairs'", "expected: frontier, accumulation,"]),
        (("runs", *SAMPLE), ["tables/runs.json", "hint:     make repro DATASET=sample"]),
        (("frontier",), ["full/cimemories/plots/frontier.json", "make repro DATASET=full"]),
        (("runs", "--dataset", "huge"), ["--dataset: no dataset 'huge'"]),
    ],
)
def test_what_cannot_be_shown(
    project: Path, memrepro: Memrepro, arguments: tuple[str, ...], told: list[str]
) -> None:
    ran = memrepro(project, "cimemories", "tables", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert all(words in ran.err for words in told)
