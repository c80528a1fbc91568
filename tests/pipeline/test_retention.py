"""The retention stages on the sample: bounds, what a memory sees, refusals, reports."""

import json
import re
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepro.errors import CheckFailed, InputError
from memrepro.files import read_records
from memrepro.llm.ledger import read_shard
from memrepro.params import load_params
from memrepro.records import RetentionJudgeOnly, RetentionObservation, RetentionScore
from memrepro.runner import run_stage
from memrepro.runner.bodies import run_body
from memrepro.signature import NO_PAPER, Signature
from memrepro.stages.declarations import declare, declared
from memrepro.stages.retention import input_cells, observing
from memrepro.stages.work import Work
from tests.pipeline.test_run import command
from tests.projects import ROOT, change_params, copy_inputs, keep_benchmark
from tests.retention.corpus import CATEGORY, POLICIES, ROWS, facts

RUNS = "data/runs/sample/retention"
EDITIONS = ("standard", "paraphrase", "compound", "evasion", "policy_change")
Change = Callable[[dict[str, Any]], None]


def run(project: Path, name: str, *systems: str | None) -> None:
    for system in systems or (None,):
        run_stage(project, "sample", name, system, workers=1)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of this benchmark alone and two of its systems, without a model's part."""
    project = copy_inputs(tmp_path_factory.mktemp("retention"))
    keep_benchmark(project, "retention")

    def two(values: dict[str, Any]) -> None:
        rows = values["systems"]["retention"]
        values["systems"]["retention"] = {name: rows[name] for name in ("exact", "bm25")}
        values["model_systems"]["retention"] = {}

    change_params(project, two)
    run(project, "retention.build", *EDITIONS)
    for name in ("retention.remember", "retention.score"):
        run(project, name, "exact", "bm25")
    run(project, "metrics")
    return project


@pytest.fixture
def project(scored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(scored, tmp_path / "project"))


def metrics(project: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((project / "metrics/sample.json").read_text())
    return values


def scores(project: Path, system: str = "exact") -> list[RetentionScore]:
    return read_records(project / RUNS / f"scores/{system}.jsonl", RetentionScore)


def test_the_bounds_of_every_edition(scored: Path) -> None:
    """By counting: 96 of 1,152 are prohibited, 64 of them hold a keyword; 48 of 576 of a stress."""
    assert set(metrics(scored)) == {"retention"}
    found = metrics(scored)["retention"]
    assert set(found) == set(EDITIONS)
    caught = {"standard": 64 / 96, "paraphrase": 0, "compound": 0.5, "evasion": 0.25}
    for system in ("exact", "bm25"):
        for edition, share in caught.items():
            assert found[edition][system] == {
                "none": {
                    "accuracy": 1056 / 1152, "allowed_rate": 1.0, "leak_rate": 1.0,
                    "policies_passed": 0,
                },
                "deterministic": {
                    "accuracy": pytest.approx((11 + share) / 12), "allowed_rate": 1.0,
                    "leak_rate": pytest.approx(1 - share), "policies_passed": 0,
                },
            }  # fmt: skip
        late = found["policy_change"][system]
        assert late["none"]["forgetting_rate"] == 0.0
        assert late["deterministic"]["forgetting_rate"] == 64 / 96
        assert "leak_rate" not in late["none"]


def test_rules_miss_exactly_what_has_no_keyword(scored: Path) -> None:
    rows = [
        row for row in scores(scored) if (row.edition, row.mode) == ("standard", "deterministic")
    ]
    assert len(rows) == 1152
    missed = {row.fact_id for row in rows if row.reason is not None}
    assert missed == {fact.id for fact in facts() if fact.keyword is None}
    assert {row.reason for row in rows} == {None, "not_blocked"}


def test_substring_rules_over_block_exactly_what_was_planted(project: Path) -> None:
    change_params(project, lambda values: values["retention"].update(match="substring"))
    run(project, "retention.remember", "exact")
    run(project, "retention.score", "exact")
    blocked = {
        (row.policy_id, row.fact_id)
        for row in scores(project)
        if row.edition == "standard" and row.reason == "over_blocked"
    }
    policy = {policy.category: policy.id for policy in POLICIES}
    assert blocked == {(policy[f.planted.category], f.id) for f in facts() if f.planted}
    assert len(blocked) == 12


def test_a_smoke_run_is_two_whole_policies(project: Path) -> None:
    change_params(project, lambda values: values["retention"].update(policy_ids=["RP-01", "RP-02"]))
    run(project, "retention.build", *EDITIONS)
    run(project, "retention.remember", "exact")
    run(project, "retention.score", "exact")
    rows = [row for row in scores(project) if (row.edition, row.mode) == ("standard", "none")]
    assert {row.policy_id for row in rows} == {"RP-01", "RP-02"} and len(rows) == 192


def test_neither_memory_nor_guard_nor_judge_reads_what_is_judge_only(scored: Path) -> None:
    params = load_params(ROOT, "sample")
    stages = [("retention.remember", system) for system in params.systems.retention]
    for name in ("retention.remember_model", "retention.judge"):
        stages += [(name, system) for system in params.model_systems.retention]
    for name, system in stages:
        for path in declare(params, name, system).inputs:
            assert not Path(f"{RUNS}/judge_only").is_relative_to(path)
            assert not path.startswith("data/retention_policy")
    names = {fact.id for fact in facts()} | {"drop", "expected", "category"}
    for file in (scored / RUNS / "inputs").rglob("cells.jsonl"):
        text = file.read_text("utf-8")
        assert not [name for name in names if f'"{name}"' in text], file
        assert {tuple(json.loads(line)) for line in text.splitlines()} == {
            ("policy_id", "fact_id", "policy", "text")
        }


def test_every_stage_does_with_what_it_declares(scored: Path, tmp_path: Path) -> None:
    """A root that holds nothing else, as a container does; the bytes are the same."""
    params = load_params(scored, "sample")
    stages = [one for one in declared(params) if one.name.startswith(("retention.", "metrics"))]
    assert len(stages) == len(EDITIONS) + 2 + 2 + 1
    for number, stage in enumerate(stages):
        root, out = tmp_path / f"root{number}", tmp_path / f"out{number}"
        for path in (*stage.inputs, "params.yaml"):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (scored / path).is_dir() else shutil.copyfile
            copy(scored / path, root / path)
        run_body(root, out, "sample", stage, 1, False)
        written = [path for path in out.rglob("*") if path.is_file()]
        assert written
        for file in written:
            assert file.read_bytes() == (scored / file.relative_to(out)).read_bytes(), file


@pytest.mark.parametrize(
    "system",
    [
        pytest.param("dense_int8", marks=[pytest.mark.full, pytest.mark.dense]),
        pytest.param("hybrid", marks=[pytest.mark.full, pytest.mark.dense]),
        pytest.param("mem0", marks=pytest.mark.mem0),
    ],
)
def test_a_neural_system_runs_by_a_row(project: Path, system: str) -> None:
    """The rows of README.md, on two policies and two editions."""
    editions = ("standard", "policy_change")

    def change(values: dict[str, Any]) -> None:
        row = {"reads": "data/raw/minilm", "settings": {"embedder": "minilm_int8"}}
        values["systems"]["retention"] = {system: row}
        block = values["retention"]
        block["policy_ids"] = ["RP-01", "RP-02"]
        block["editions"] = {name: block["editions"][name] for name in editions}

    change_params(project, change)
    (project / "data/raw").mkdir(exist_ok=True)
    (project / "data/raw/minilm").symlink_to(ROOT / "data/raw/minilm")
    run(project, "retention.build", *editions)
    for name in ("retention.remember", "retention.score"):
        run(project, name, system)
    run(project, "metrics")
    # Of the sixteen prohibited facts five have no keyword.
    found = metrics(project)["retention"]
    for edition in editions:
        assert found[edition][system]["none"]["accuracy"] == 176 / 192
        assert found[edition][system]["deterministic"]["accuracy"] == 187 / 192


def test_a_cell_can_be_walked_back(scored: Path) -> None:
    """Score row → judge-only row → observation → the dataset's row."""
    row = next(row for row in scores(scored) if row.edition == "standard" and row.reason)
    file = scored / RUNS / "judge_only/standard/cells.jsonl"
    (cell,) = (
        cell
        for cell in read_records(file, RetentionJudgeOnly)
        if (cell.policy_id, cell.name) == (row.policy_id, row.fact_id)
    )
    file = scored / RUNS / "observations/exact/rules.jsonl"
    (seen,) = (
        one
        for one in read_records(file, RetentionObservation)
        if (one.edition, one.mode, one.policy_id, one.fact_id)
        == (row.edition, row.mode, row.policy_id, cell.fact_id)
    )
    (origin,) = (one for one in ROWS if one.id == f"{row.policy_id}/{row.fact_id}")
    assert [item.text for item in seen.recalled] == [origin.text]
    assert origin.category == CATEGORY[origin.policy] and not seen.blocked


def test_every_metric_is_signed_and_has_no_paper(scored: Path) -> None:
    signed = read_records(scored / "data/runs/sample/signatures.jsonl", Signature)
    assert len(signed) == len(EDITIONS) * 2 * 2 * 4
    for row in signed:
        _, edition, system, mode, metric = row.path.split("/")
        assert metrics(scored)["retention"][edition][system][mode][metric] is not None
        assert (row.system, row.metric, row.reading) == (system, metric, edition)
        assert not row.comparable and row.deviations == (NO_PAPER,)
        assert (row.protocol["rules"] is None) == (mode == "none")
    digests = {row.digest for row in signed}
    assert len(digests) == len(signed)


def test_metrics_are_shown(scored: Path) -> None:
    shown = command(scored, "metrics", "--dataset", "sample").stdout
    line = next(line for line in shown.split("\n") if "standard/none/accuracy" in line)
    assert line.split() == ["retention", "bm25", "standard/none/accuracy", "0.9167", "no"]


def test_the_committed_replies_are_the_small_model_s() -> None:
    """One policy's facts, each asked once for two editions and two modes; and nothing to judge."""
    params = load_params(ROOT, "sample")
    assert list(params.model_systems.retention) == ["exact"]
    replies = read_shard(ROOT / "data/ledger/sample/retention/guard/exact.jsonl").values()
    assert len(replies) == 96
    assert {reply.model for reply in replies} == {"smollm2-135m"}
    assert read_shard(ROOT / "data/ledger/sample/retention/judge/exact.jsonl") == {}
    rows = read_records(ROOT / RUNS / "scores/exact.jsonl", RetentionScore)
    by_model = [row for row in rows if row.mode in ("hybrid", "llm")]
    assert len(by_model) == 2 * 2 * 96 and {row.policy_id for row in by_model} == {"RP-01"}
    asked = [row for row in by_model if (row.edition, row.mode) == ("standard", "llm")]
    blocked = sum(json.loads(reply.text or "{}").get("score", 0) == 1 for reply in replies)
    assert sum(row.blocked for row in asked) == blocked


@pytest.mark.parametrize("system", ["full_context", "exact", "bm25", "sqlite_fts"])
def test_the_committed_scores_are_whole_and_keep_their_bounds(system: str) -> None:
    rows = read_records(ROOT / RUNS / f"scores/{system}.jsonl", RetentionScore)
    cells = [row for row in rows if (row.edition, row.mode) == ("standard", "none")]
    assert len(cells) == 1152
    assert sum(row.score or 0 for row in cells) == 1056


# ------------------------------------------------------------------ refusals


def nothing(project: Path) -> None:
    pass


def rewritten(name: str, change: Callable[[Any], Any]) -> Callable[[Path], None]:
    """A committed file changed, and its digest with it."""

    def apply(project: Path) -> None:
        file = project / "data/retention_policy" / name
        before = sha256(file.read_bytes()).hexdigest()
        file.write_text(json.dumps(change(json.loads(file.read_text()))), encoding="utf-8")
        sums = project / "data/SHA256SUMS"
        after = sha256(file.read_bytes()).hexdigest()
        sums.write_text(sums.read_text().replace(before, after))

    return apply


def without_a_rule(rules: dict[str, Any]) -> dict[str, Any]:
    return dict(list(rules.items())[1:])


REFUSED: list[tuple[dict[str, Any], Callable[[Path], None], str, str]] = [
    ({"active": False}, nothing, "active", "no privacy configuration is active"),
    ({"recall_filtering": True}, nothing, "recall_filtering", "recall would be filtered"),
    ({"modes": ["none", "strict"]}, nothing, "modes.1", "'none' or 'deterministic'"),
    ({"model_modes": ["deterministic"]}, nothing, "model_modes.0", "'hybrid' or 'llm'"),
    ({"match": "regex"}, nothing, "match", "'word' or 'substring'"),
    ({"on_undecided": "drop"}, nothing, "on_undecided", "'block' or 'store'"),
    ({"policy_ids": ["RP-13"]}, nothing, "policy_ids", "unknown policy 'RP-13'"),
    ({"policy_ids": []}, nothing, "policy_ids", "no policy is chosen"),
    ({"limit": 100}, nothing, "limit", "would cut the facts of a policy short"),
    ({}, rewritten("rules.json", without_a_rule), "data.rules", "no entry for RP-01"),
    (
        {},
        rewritten("policies.json", lambda of: of[1:]),
        "editions.standard.dataset_path",
        "is none of the policies",
    ),
    (
        {},
        rewritten("dataset.json", lambda of: of[:-1]),
        "editions.standard.dataset_path",
        "RP-12 is not put to the same facts",
    ),
]


@pytest.mark.parametrize(("changed", "files", "key", "message"), REFUSED)
def test_a_refused_configuration_names_its_key(
    project: Path, changed: dict[str, Any], files: Callable[[Path], None], key: str, message: str
) -> None:
    change_params(project, lambda values: values["retention"].update(changed))
    files(project)
    with pytest.raises(InputError, match=message) as caught:
        run(project, "retention.build", "standard")
    assert re.fullmatch(
        rf"(.*/)?params\.yaml, key retention\.{re.escape(key)}", caught.value.where or ""
    )
    assert caught.value.exit_code == 2


def with_model(values: dict[str, Any]) -> None:
    values["model_systems"]["retention"] = {"exact": values["systems"]["retention"]["exact"]}


MODEL_REFUSED: list[tuple[Change, str, str]] = [
    (lambda of: of["retention"]["guard"].update(model="m"), "models", "no model 'm'"),
    (lambda of: of["retention"]["judge"].update(model="m"), "models", "no model 'm'"),
    (
        lambda of: of["retention"]["recorded"].update(editions=["dreams"]),
        "retention.recorded.editions",
        "no edition 'dreams'",
    ),
]


@pytest.mark.parametrize(("change", "key", "message"), MODEL_REFUSED)
def test_a_model_or_edition_that_is_not_there(
    project: Path, change: Change, key: str, message: str
) -> None:
    change_params(project, with_model)
    change_params(project, change)
    with pytest.raises(InputError, match=message) as caught:
        run(project, "retention.build", "standard")
    assert caught.value.where == f"params.yaml, key {key}"


def test_a_byte_that_differs_stops_the_build(project: Path) -> None:
    with (project / "data/retention_policy/dataset.json").open("a") as stream:
        stream.write(" ")
    with pytest.raises(CheckFailed, match="not what its pin says") as caught:
        run(project, "retention.build", "standard")
    assert caught.value.where == "data/retention_policy/dataset.json"


def test_rules_that_are_null_enforce_nothing(project: Path) -> None:
    rewritten("rules.json", lambda _: None)(project)
    run(project, "retention.build", *EDITIONS)
    run(project, "retention.remember", "exact")
    run(project, "retention.score", "exact")
    rows = scores(project)
    for edition in EDITIONS:
        by_mode = [
            [row.score for row in rows if (row.edition, row.mode) == (edition, mode)]
            for mode in ("none", "deterministic")
        ]
        assert by_mode[0] == by_mode[1] and by_mode[0]


# ------------------------------------------------------------------ samples stay apart


@settings(max_examples=8, deadline=None)
@given(order=st.permutations(range(12)), system=st.sampled_from(["exact", "bm25", "sqlite_fts"]))
def test_the_order_of_samples_moves_nothing(order: list[int], system: str) -> None:
    from memrepro.benchmarks.retention.run import Setting
    from memrepro.policy import Governance
    from tests.retention.corpus import RULES

    params = load_params(ROOT, "sample")
    work = Work(root=ROOT, out=ROOT, params=params)
    groups = [ROWS[n * 96 : (n + 1) * 96] for n in order[:4]]
    governance = Governance("deterministic", rules=RULES)
    setting = Setting("standard", "deterministic", system, 5)
    with observing(work, system, ()) as observe:
        together = list(observe(setting, governance, [row for of in groups for row in of], None))
    with observing(work, system, ()) as observe:
        alone = [one for of in groups for one in observe(setting, governance, of, None)]
    assert together == alone


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_move_no_byte(project: Path, workers: int) -> None:
    file = project / RUNS / "observations/bm25/rules.jsonl"
    before = file.read_bytes()
    run_stage(project, "sample", "retention.remember", "bm25", workers=workers)
    assert file.read_bytes() == before
    work = Work(root=project, out=project, params=load_params(project, "sample"))
    assert len(input_cells(work, "standard")) == 1152


# ------------------------------------------------------------------ commands


def test_build_writes_and_checks_the_dataset(project: Path) -> None:
    file = project / "data/retention_policy/dataset.json"
    told = command(project, "retention", "build", "--check")
    assert (told.returncode, told.stdout) == (0, "1152 rows, 96 to drop, 1056 to store\n")
    before = file.read_bytes()
    file.write_bytes(before.replace(b"asthma", b"hay fever", 1))
    failed = command(project, "retention", "build", "--check")
    assert failed.returncode == 1 and "memrepro retention build" in failed.stderr
    assert command(project, "retention", "build").returncode == 0
    assert file.read_bytes() == before


def test_the_rollup_has_a_line_a_run(scored: Path) -> None:
    told = command(scored, "retention", "rollup").stdout.rstrip("\n").split("\n")
    assert len(told) == 1 + len(EDITIONS) * 2 * 2
    (line,) = (line.split() for line in told if line.split()[:3] == ["standard", "exact", "none"])
    assert line[3:] == ["0.9167", "1.0000", "–", "1.0000", "0", "0"]


def test_the_report_holds_rates_tables_grid_and_reasons(scored: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.md"
    told = command(
        scored, "retention", "report", "--system", "exact", "--mode", "deterministic",
        "--max-examples", "12", "--output", str(output),
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    text = output.read_text("utf-8")
    assert "| standard | exact | deterministic | 0.9722 | 0.3333 | – | 1.0000 | 0 | 0 |" in text
    assert "| drop | no | 32 | 32 | 0 | 32 |" in text and "| not_blocked | 32 |" in text
    for policy in POLICIES:
        assert f"### {policy.id}: {policy.statement}" in text
    missed = [fact for fact in facts() if fact.keyword is None]
    for fact in missed:
        assert f"| {fact.id} | {fact.text} | drop | no | rules | yes | not_blocked |" in text
    assert text.count("| not_blocked |") == len(missed) + 1
    picture = ElementTree.parse(tmp_path / "report.svg").getroot()
    squares = list(picture.iter("{http://www.w3.org/2000/svg}title"))
    assert len(squares) == 144 and "(report.svg)" in text
    assert "RP-01, health: 6 of 8 passed" in {one.text for one in squares}


def test_the_number_of_examples_is_an_option(scored: Path) -> None:
    arguments = ("retention", "report", "--system", "bm25", "--edition", "all")
    none = command(scored, *arguments, "--max-examples", "0")
    two = command(scored, *arguments, "--max-examples", "2")
    assert none.stdout.count("### RP-") == 0
    assert two.stdout.count("### RP-") == 2 * 2 * len(EDITIONS)
    assert none.stdout.count("\n## ") == 2 * len(EDITIONS) and ".svg" not in none.stdout


def test_a_run_that_is_not_there(scored: Path) -> None:
    told = command(scored, "retention", "report", "--system", "elephant")
    assert told.returncode == 2 and "memrepro retention rollup" in told.stderr
