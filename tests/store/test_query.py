"""The tables and `memrepro query`: the same bytes twice, what is missing, and nothing written."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from memrepro.errors import InputError
from memrepro.files import write_records
from memrepro.llm.call import Reply, failed
from memrepro.params import load_params
from memrepro.records import RetentionObservation, RetentionScore
from memrepro.runner import run_stage
from memrepro.stages.declarations import declared
from memrepro.store.browse import build_all, listing, opened, run, setup
from memrepro.store.build import build
from memrepro.store.columns import columns
from memrepro.store.tables import TABLES
from tests.commands import run_memrepro
from tests.compare.project import binary, new_project, write_cimemories, write_inmind
from tests.projects import ROOT, copy_inputs

README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTION = README[README.index("## Ask the tables") : README.index("## Run it with your own models")]
# Command, and what it prints.
EXAMPLES = re.findall(r'```\n\$ (memrepro query ".*?")\n(.*?)```', SECTION, re.DOTALL)
WRITING = [
    "DELETE FROM items",
    "INSERT INTO items SELECT * FROM items",
    "CREATE TABLE mine AS FROM items",
    "DROP VIEW items",
    "COPY items TO 'mine.csv'",
    "COPY (SELECT 1) TO '.memrepro/store/sample/items.parquet' (USE_TMP_FILE false)",
    "EXPLAIN ANALYZE COPY items TO 'mine.csv'",
    "/* */ EXPLAIN ANALYZE COPY items TO 'mine.csv'",
    "WITH w AS (DELETE FROM items RETURNING *) FROM w",
    "EXPORT DATABASE 'mine'",
    "ATTACH 'mine.db'",
    "SET enable_external_access = true",
    "PRAGMA threads = 4",
    "INSTALL httpfs",
    "FROM read_text('params.yaml')",
    "SELECT 1; DELETE FROM items",
    "",
    "SELEC 1",
    "FROM nothing",
]
Query = Callable[..., str]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which InMind ran on the sample, and CIMemories as far as its labels."""
    project = copy_inputs(tmp_path_factory.mktemp("sample"))
    wanted = re.compile(r"inmind\..*|cimemories\.(verify|build|label@rules|.*@bm25)")
    for one in declared(load_params(project, "sample")):
        if wanted.fullmatch(one.title):
            run_stage(project, "sample", one.name, one.system, workers=1)
    return project


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A project with score rows and metrics alone, as in a fresh clone, and two replies."""
    project = new_project(tmp_path)
    write_cimemories(project, ["nia"], {"bm25": ["01x"]}, {})
    write_inmind(project, {"bm25": binary(60)}, settings={"k1": 1.2})
    good = Reply(
        key="a", text="x", failure=None, detail=None, finish_reason="stop", prompt_tokens=1000,
        completion_tokens=100, model="m",
    )  # fmt: skip
    shard = project / "data/ledger/full/inmind/answer/bm25.jsonl"
    write_records(shard, [good, failed("b", "timeout", "")])
    return project


@pytest.fixture
def query(
    small: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Query:
    """`memrepro query …` in the small project: standard output, or the error under its code."""
    monkeypatch.chdir(small)
    return lambda *arguments, code=0: run_command(
        monkeypatch, capfdbinary, ["query", *arguments], code
    )


def run_command(
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    arguments: list[str],
    code: int = 0,
) -> str:
    ran = run_memrepro(Path.cwd(), monkeypatch, capfdbinary, *arguments)
    assert ran.code == code, ran.err
    return ran.err if code else ran.out


def rows(project: Path, sql: str) -> list[tuple[object, ...]]:
    with opened(build_all(project)) as connection:
        return run(connection, sql).rows


def test_the_readme_holds_the_example_questions() -> None:
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize(("command", "answer"), EXAMPLES)
def test_the_readmes_answers_are_those_of_the_sample(
    sample: Path,
    command: str,
    answer: str,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.chdir(sample)
    assert run_command(monkeypatch, capfdbinary, shlex.split(command)[1:]) == answer


def test_two_builds_are_the_same_bytes_and_nothing_is_built_twice(sample: Path) -> None:
    params = load_params(sample, "sample")
    folder = build(sample, params)
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    times = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert set(first) == {*(f"{table}.parquet" for table in TABLES), "built.json"}
    build(sample, params)
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == times
    (folder / "items.parquet").unlink()
    build(sample, params)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first


def test_a_table_follows_its_files(small: Path) -> None:
    assert rows(small, "SELECT value FROM metrics") == [(60 / 125,)]
    write_inmind(small, {"bm25": binary(61)})
    assert rows(small, "SELECT value FROM metrics") == [(61 / 125,)]


def test_columns_types_and_comments_are_those_of_the_records(small: Path) -> None:
    with opened(build_all(small)) as connection:
        found = listing(connection)
    assert list(found) == list(TABLES)
    for table, record in TABLES.items():
        comment, (dataset, *others) = found[table]
        assert comment and dataset == ("dataset", "VARCHAR", "sample or full")
        assert {name: kind for name, kind, _ in others} == columns(record)
        assert all(told for _, _, told in others)


def test_what_is_missing_is_empty_and_what_is_there_is_read(small: Path) -> None:
    for table in ("runs", "contexts", "answers", "verdicts", "retention_records"):
        assert rows(small, f"FROM {table}") == []
    assert rows(small, "SELECT DISTINCT dataset FROM sources") == [("full",)]
    assert rows(small, "SELECT position, label, revealed, key FROM reveals ORDER BY position") == [
        (1, "necessary", 0, None), (2, "inappropriate", 1, None), (3, "ambiguous", None, None),
    ]  # fmt: skip
    assert rows(small, "SELECT kind, count(*), count(text) FROM items GROUP BY 1 ORDER BY 1") == [
        ("attribute", 3, 0), ("context", 1, 0), ("task", 125, 0),
    ]  # fmt: skip
    assert rows(small, "SELECT path, system, metric, kind, comparable FROM metrics") == [
        ("inmind/bm25/target_recall_verbatim", "bm25", "target_recall_verbatim", "memory", False)
    ]


def test_a_call_costs_what_the_params_say(small: Path) -> None:
    """gpt-5-mini in full/params.yaml: 0.25 and 2 US$ a million tokens; a failure has no tokens."""
    expected = 1000 * 0.25e-6 + 100 * 2e-6
    found = rows(small, "SELECT dataset, step, system, key, failure, cost FROM calls ORDER BY key")
    assert found[0] == ("full", "answer", "bm25", "a", None, pytest.approx(expected, rel=1e-12))
    assert found[1] == ("full", "answer", "bm25", "b", "timeout", None)


def test_a_retention_record_says_what_the_memory_did(small: Path) -> None:
    base = small / "data/runs/sample/retention"
    cell = {"policy_id": "RP-01", "edition": "standard", "mode": "deterministic", "system": "bm25"}
    seen = RetentionObservation.model_validate(
        cell | {"fact_id": "f00007", "blocked": True, "decided_by": "rules", "rule": "asthma",
                "guard_key": None, "raised_cap": False, "n_recalled": 3, "recalled": (),
                "exact": False, "state": "s"}
    )  # fmt: skip
    scored = RetentionScore.model_validate(
        cell | {"fact_id": "health-1", "category": "health", "expected": "drop", "blocked": True,
                "decided_by": "rules", "recalled": 0, "status": "scored", "score": 1,
                "reason": None, "raised_cap": False}
    )  # fmt: skip
    write_records(base / "observations/bm25/rules.jsonl", [seen])
    write_records(base / "scores/bm25.jsonl", [scored])
    for name, row in {
        "inputs": {"policy": "Never.", "text": "I have asthma."},
        "judge_only": {"name": "health-1", "category": "health", "expected": "drop"},
    }.items():
        path = base / name / "standard/cells.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"policy_id": "RP-01", "fact_id": "f00007"} | row) + "\n")
    found = rows(small, "SELECT fact_id, rule, n_recalled, score, text FROM retention_records")
    assert found == [("health-1", "asthma", 3, 1, "I have asthma.")]
    assert rows(small, "SELECT text FROM items WHERE edition = 'standard'") == [("I have asthma.",)]


@pytest.mark.parametrize("sql", WRITING)
def test_what_writes_or_is_no_sql_exits_2_and_leaves_nothing(
    small: Path, query: Query, sql: str
) -> None:
    query("FROM items")
    before = {path: path.read_bytes() for path in small.rglob("*") if path.is_file()}
    assert query(sql, code=2).startswith("error: SQL: ")
    assert {path: path.read_bytes() for path in small.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "sql",
    ["DESCRIBE items", "SUMMARIZE metrics", "EXPLAIN FROM items", "SHOW TABLES", "VALUES (1)"],
)
def test_what_reads_is_answered(query: Query, sql: str) -> None:
    assert query(sql)


def test_the_formats(small: Path, query: Query) -> None:
    sql = "SELECT 1 AS n, NULL AS none, 0.5::DOUBLE AS half, 'a,b' AS text, [1] AS list; -- end"
    assert query(sql) == " n  none  half    text  list\n 1  –     0.5000  a,b   [1]\n"
    assert query(sql, "--format", "csv") == 'n,none,half,text,list\n1,,0.5,"a,b",[1]\n'
    assert json.loads(query(sql, "--format", "json")) == [
        {"n": 1, "none": None, "half": 0.5, "text": "a,b", "list": [1]}
    ]
    query("FROM items WHERE kind = 'task'", "--format", "parquet", "--output", "new/x.parquet")
    found = duckdb.connect().execute("SELECT count(*) FROM 'new/x.parquet'").fetchall()
    assert found == [(125,)]
    assert [path.name for path in (small / "new").iterdir()] == ["x.parquet"]
    assert "items: What" in query("--list")
    assert query("SELECT 1 WHERE false") == "no rows\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say a statement"),
        (["SELECT 1", "--list"], "say a statement"),
        (["SELECT 1", "--format", "xml"], "no format 'xml'"),
        (["SELECT 1", "--format", "parquet"], "Parquet goes to a file"),
        (["SELECT 1", "--format", "parquet", "--output", "/dev/null"], "Parquet goes to a file"),
        (["DELETE FROM items", "--format", "parquet", "--output", "x"], "read-only"),
        (["FROM nothing", "--format", "parquet", "--output", "x"], "nothing does not exist"),
    ],
)
def test_wrong_options_exit_2(query: Query, arguments: list[str], message: str) -> None:
    assert message in query(*arguments, code=2)


def test_two_readers_and_a_build_at_once(small: Path) -> None:
    with opened(build_all(small)) as one, opened(build_all(small)) as two:
        for connection in (one, two):
            assert run(connection, "SELECT count(*) FROM items").rows == [(129,)]
        write_inmind(small, {"bm25": binary(61, 130)})
        build_all(small)
        assert run(one, "SELECT count(*) FROM items").rows == [(134,)]


def test_a_malformed_stage_output_is_named(small: Path) -> None:
    path = small / "data/runs/sample/inmind/scores/bm25.jsonl"
    path.write_text(path.read_text().replace('"score":1', '"score":1.5', 1))
    with pytest.raises(InputError, match=r"bm25\.jsonl, line 1, field score"):
        build_all(small)


def test_the_shell_answers_and_goes_on_after_an_error(
    small: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    lines = iter(["FROM nothing;", "", "SELECT count(*) AS n", "FROM items;"])

    def entered(_: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.chdir(small)
    monkeypatch.setenv("PATH", str(small))
    monkeypatch.setattr("builtins.input", entered)
    assert run_command(monkeypatch, capfdbinary, ["shell"]) == " n\n 129\n"


def test_the_shell_is_duckdbs_own_where_it_is_installed(
    small: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    program = small / "duckdb"
    program.write_text('#!/bin/sh\nprintf "%s" "$2" > given\nexit 3\n')
    program.chmod(0o755)
    monkeypatch.chdir(small)
    monkeypatch.setenv("PATH", f"{small}:/bin:/usr/bin")
    run_command(monkeypatch, capfdbinary, ["shell"], 3)
    given = (small / "given").read_text()
    assert given == "; ".join(setup(build_all(small))) + ";"
    with duckdb.connect() as connection:
        connection.execute(given)
        assert connection.execute("SELECT count(*) FROM items").fetchall() == [(129,)]
