"""README's section on a memory system of one's own, word for word, in a checkout of its own."""

import re
import shutil
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.docs.pages import blocks, compare, shell
from tests.github.make import commit, git
from tests.projects import ROOT, copy_checkout

README = (ROOT / "README.md").read_text("utf-8")
# What the text has typed into params.yaml.
LINES = re.search(r"```yaml\n(    word_overlap:\n.*?)```", README, re.DOTALL)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """After `make repro`: an environment to install into, which has this one's packages too."""
    project = copy_checkout(tmp_path / "memrepro")
    for folder in ("data/runs/sample", ".dvc/cache"):
        if (ROOT / folder).is_dir():
            shutil.copytree(ROOT / folder, project / folder, dirs_exist_ok=True)
    git(project, "config", "user.name", "t")
    git(project, "config", "user.email", "t@example.invalid")
    commit(project)
    venv.create(project / ".venv", symlinks=True)
    site = next((project / ".venv/lib").glob("python*/site-packages"))
    (site / "tools.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    for tool in ("memrepro", "dvc"):
        program = project / ".venv/bin" / tool
        text = (Path(sys.prefix) / "bin" / tool).read_text()
        program.write_text(f"#!{project}/.venv/bin/python\n{text.partition(chr(10))[2]}")
        program.chmod(0o755)
    return project


@pytest.mark.slow
def test_ten_lines_of_ones_own_and_the_difference_that_they_make(checkout: Path) -> None:
    tools = checkout / ".venv/bin"
    steps = [block for block in blocks() if block.kind == "newcomer"]
    assert len(steps) == 3 and LINES is not None
    for number, block in enumerate(steps):
        if number == 1:
            params = checkout / "params.yaml"
            before = params.read_text("utf-8")
            opening = "\nsystems:\n  inmind:\n"
            assert before.count(opening) == 1
            params.write_text(before.replace(opening, opening + LINES[1]), encoding="utf-8")
        for command in block.commands:
            # The environment is there: make is not to set it up.
            text = re.sub(r"^make ", "make -o setup ", command.text)
            done = shell(checkout, text, tools)
            assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
            compare(command.output, done.stdout, text)
