"""Every command in README and documentation is run, or known to the command line and marked."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrepro.cli.reference import commands
from tests.cimemories.results import context, profile
from tests.docs.pages import NEEDS, RUNS, Block, blocks, compare, pages, shell
from tests.projects import ROOT, copy_checkout

BLOCKS = blocks()
COMMANDS = commands()
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def chosen(*kinds: str) -> list[Block]:
    return [block for block in BLOCKS if block.kind in kinds]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_a_block_with_commands_says_what_is_done_with_it(block: Block) -> None:
    said = block.kind
    assert said in {*RUNS, "newcomer"} or (said.startswith("needs ") and said[6:] in NEEDS), block.test


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_commands_and_options_exist(block: Block) -> None:
    for command in block.commands:
        for words in re.findall(r"\bmemrepro ([^|;&()]*)", command.text):
            known = _known(words.split())
            options = {word.partition("=")[0] for word in words.split() if word.startswith("--")}
            assert options <= known, (command.text, options - known)
        unquoted = re.sub("'[^']*'", "", command.text)
        for words in re.findall(r"(?:^|; |&& )make ([^|;&]*)", unquoted):
            named = {word for word in words.split() if re.fullmatch("[a-z-]+", word)}
            assert named <= TARGETS, command.text


def _known(words: list[str]) -> set[str]:
    """The options of the command that the words call."""
    for end in (2, 1):
        found = COMMANDS.get(" ".join(["memrepro", *words[:end]]))
        if found is not None:
            return {name for one in found.params for name in one.opts} | {"--help"}
    assert words[:1] in (["--help"], ["--debug"], ["--version"]), words
    return set(words)


def test_commands_that_the_text_names_exist() -> None:
    first = {path.split()[1] for path in COMMANDS}
    for page in pages():
        named = re.findall(r"`memrepro ([a-z][a-z-]*)", page.read_text(encoding="utf-8"))
        assert set(named) <= first, page


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _commit(copy_checkout(tmp_path_factory.mktemp("docs") / "memrepro"))


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = copy_checkout(tmp_path_factory.mktemp("docs") / "memrepro")
    # What is reproduced here already need not be again: DVC holds it to the lock.
    for folder in ("data/runs/sample", ".dvc/cache"):
        if (ROOT / folder).is_dir():
            shutil.copytree(ROOT / folder, project / folder, dirs_exist_ok=True)
    _commit(project)
    done = shell(project, "dvc repro -q")
    assert done.returncode == 0, done.stderr
    return project


def _commit(project: Path) -> Path:
    # What is committed here is committed there, and what DVC ignores is ignored.
    git = ["git", "-C", str(project), "-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "state"], check=True)
    return project


@pytest.fixture
def restored(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A copy of the project that is as it was again after the block."""
    project: Path = request.getfixturevalue(request.param)
    yield project
    subprocess.run(["git", "-C", str(project), "checkout", "-q", "."], check=True)
    subprocess.run(["git", "-C", str(project), "clean", "-fdq"], check=True)


@pytest.mark.parametrize("restored", ["fresh"], indirect=True)
@pytest.mark.parametrize("block", chosen("runs", "results.jsonl"), ids=lambda block: block.place)
def test_runs_in_a_fresh_clone(block: Block, restored: Path) -> None:
    if block.kind == "results.jsonl":
        _write_results(restored / "results.jsonl")
    _run(block, restored)


@pytest.mark.slow
@pytest.mark.parametrize("restored", ["reproduced"], indirect=True)
@pytest.mark.parametrize("block", chosen("reproduced"), ids=lambda block: block.place)
def test_runs_once_the_sample_is_reproduced(block: Block, restored: Path) -> None:
    _run(block, restored)
    if any("dvc repro" in command.text for command in block.commands):
        subprocess.run(["git", "-C", str(restored), "checkout", "-q", "."], check=True)
        assert shell(restored, "dvc repro -q").returncode == 0


def _run(block: Block, project: Path) -> None:
    for number, command in enumerate(block.commands, start=1):
        done = shell(project, command.text)
        wanted = block.exit_code if number == len(block.commands) else 0
        assert done.returncode == wanted, f"{command.text}\n{done.stdout}{done.stderr}"
        compare(command.output, done.stdout, command.text)


def _write_results(file: Path) -> None:
    statements = {"salary": "I earn 50,000 dollars.", "diet": "I eat no meat."}
    labels = {"I earn 50,000 dollars.": "private", "I eat no meat.": "necessary"}
    one = context("Chef", "plan a dinner", labels, [{"salary": 0, "diet": 1}])
    file.write_text(json.dumps(profile("Ada", statements, [one])) + "\n", encoding="utf-8")
