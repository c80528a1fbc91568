"""README and the documentation as fenced blocks, and the commands in them.

A block with commands has an HTML comment before it, `<!-- test: … -->`, that says what a test does:

- `runs`: run it in a fresh copy of the checkout;
- `results.jsonl`: the same, with a results file of CIMemories' released code there;
- `reproduced`: run it where the sample has been reproduced;
- `newcomer`: run it after the others of its kind, as `test_newcomer.py` does;
- `exit N` behind one of these: its last command exits with N, not 0;
- `needs key`, `needs network`, `needs docker`, `needs server` (a model's), `needs both datasets`:
  do not run it; its commands are only held to the command line and the Makefile.

A command begins with `$ ` and goes on while a double quote is open; what follows it up to the next
is its output, line for line but for `…`, which stands for anything. Where nothing is run, commands may stand without the `$ `.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.github.make import surroundings
from tests.projects import ROOT

NEEDS = {"key", "network", "docker", "server", "both datasets"}
RUNS = {"runs", "results.jsonl", "reproduced"}
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!-- test: ([^\n]*?) -->\n\s*\Z")
_BARE = re.compile(r"^(?:memrepro|make|dvc|export)\b")


@dataclass(frozen=True)
class Command:
    """One command, and the lines that it is said to print."""

    text: str
    output: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, what the comment before it says, and its commands."""

    file: Path
    line: int
    test: str | None
    commands: tuple[Command, ...]

    @property
    def place(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"

    @property
    def kind(self) -> str:
        """What the comment says, without the exit code."""
        return (self.test or "").partition(", exit ")[0]

    @property
    def exit_code(self) -> int:
        return int((self.test or "").partition(", exit ")[2] or 0)


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks() -> list[Block]:
    """Every fenced block with a command."""
    return [block for page in pages() for block in _blocks(page) if block.commands]


def _blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        comment = _COMMENT.search(text, 0, match.start())
        lines = match[3].split("\n")[:-1]
        shell = match[2] in ("", "sh", "bash", "console")
        yield Block(
            file=page,
            line=text.count("\n", 0, match.start()) + 1,
            test=comment[1] if comment else None,
            commands=tuple(_commands(lines)) if shell else (),
        )


def _commands(lines: list[str]) -> Iterator[Command]:
    if not any(line.startswith("$ ") for line in lines):
        yield from (Command(line, ()) for line in lines if _BARE.match(line))
        return
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        first = start + 1
        while "\n".join(lines[start:first]).count('"') % 2:  # goes on to the closing quote
            first += 1
        yield Command("\n".join(lines[start:first])[2:], tuple(lines[first:end]))


def shell(
    project: Path, text: str, tools: Path = Path(sys.executable).parent
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a project, with the programs of an environment."""
    environment = {
        **surroundings(),
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "200",
    }
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", text],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def compare(said: tuple[str, ...], printed: str, command: str) -> None:
    """Each line that is said to be printed is, in this order; `…` stands for anything."""
    lines = iter(printed.split("\n"))
    for line in said:
        pattern = re.compile(".*".join(map(re.escape, line.rstrip().split("…"))))
        assert any(pattern.fullmatch(one.rstrip()) for one in lines), (
            f"{command}\nprinted:\n{printed}\nin which is not, or not in its place:\n{line}"
        )
