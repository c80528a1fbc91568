"""A revision's files, brought from Git and DVC into a folder; the working tree as it lies."""

import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from memrepro.compare.outputs import Bring, open_outputs
from memrepro.errors import InputError

WORKING_TREE = "the working tree"
# All that every comparison reads; the rest of a revision stays in Git.
_WANTED = re.compile(
    r"metrics/[^/]+\.json"
    r"|data/runs/[^/]+/signatures\.jsonl"
    r"|data/runs/[^/]+/[^/]+/(scores|labels)/[^/]+\.jsonl"
    r"|prompts/.+"
    r"|(full/)?(params\.yaml|dvc\.lock)"
    r"|data/SHA256SUMS|data/sources\.toml|requirements/runtime\.txt|Dockerfile"
)
_FOLDERS = ("metrics", "data", "prompts", "full", "params.yaml", "dvc.lock", "requirements")
_BLOCK = 1 << 20


def _as_it_lies(file: str) -> str:
    return "is not there; run dvc repro"


@dataclass(frozen=True)
class Tree:
    """One side of a comparison: how it was asked for, its commit if it has one, where to read.

    `bring` adds a stage's output to a revision's files; `missing` says of each that was asked for
    and is not at hand, why.
    """

    name: str
    commit: str | None
    root: Path
    bring: Bring = _as_it_lies
    missing: dict[str, str] = field(default_factory=dict)

    def path(self, file: str) -> Path | None:
        """A file of this side; None if it has none of that name."""
        path = self.root / file
        return path if path.is_file() else None

    def output(self, file: str) -> Path | None:
        """A stage's output, of a revision through DVC; None, and told in `missing`, if not at hand.

        `path` is for what is committed, and never opens DVC.
        """
        if self.path(file) is None and file not in self.missing and (why := self.bring(file)):
            self.missing[file] = why
        return self.path(file)

    def files(self, pattern: str) -> list[Path]:
        """The files of this side that match, sorted."""
        return sorted(path for path in self.root.glob(pattern) if path.is_file())


@contextmanager
def open_tree(root: Path, revision: str | None) -> Iterator[Tree]:
    """A revision's files, or those of the working tree where none is named; neither is touched.

    Raises:
        InputError: Git is missing, this is no clone, or it has no such commit.
    """
    if revision is None:
        yield Tree(WORKING_TREE, None, root)
        return
    commit = resolve(root, revision)
    with (
        tempfile.TemporaryDirectory(prefix="memrepro-diff-") as folder,
        open_outputs(root, commit, Path(folder)) as bring,
    ):
        _extract(root, commit, Path(folder))
        yield Tree(revision, commit, Path(folder), bring)


@contextmanager
def naming(*trees: Tree) -> Iterator[None]:
    """Let errors name `REVISION:file` in place of where its files lie for now."""
    try:
        yield
    except InputError as error:
        told = {key: _named(str(value), trees) for key, value in vars(error).items() if value}
        if told.get("where") != error.where:
            told.pop("hint", None)  # what a commit holds is mended by no command
        raise InputError(told.pop("what"), **told) from None


def _named(text: str, trees: Sequence[Tree]) -> str:
    for tree in trees:
        if tree.commit:
            text = text.replace(f"{tree.root}/", f"{tree.name}:")
    return text


def resolve(root: Path, revision: str) -> str:
    """The commit that a revision names.

    Raises:
        InputError: Git is missing, this is no clone, or it has no such commit; says so where a
            shallow clone is the cause.
    """
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    found = _git(root, *asked)
    if found.returncode == 0:
        return found.stdout.decode().strip()
    shallow = _git(root, "rev-parse", "--is-shallow-repository")
    if shallow.returncode != 0:
        raise InputError(
            "not a Git clone: no revision can be read",
            where=str(root),
            found=shallow.stderr.decode(errors="replace").strip(),
            hint="git clone the project, and run memrepro diff there",
        )
    if shallow.stdout.strip() == b"true":
        raise InputError(
            "no such commit: this clone is shallow and lacks the older ones",
            where=revision,
            hint="git fetch --unshallow; in CI, actions/checkout with fetch-depth: 0",
        )
    raise InputError("no such commit", where=revision, hint="git log --oneline")


def _git(root: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(_command(root, *arguments), capture_output=True, check=False)
    except OSError as error:
        raise InputError(f"git cannot be started: {error.strerror}", hint="install git") from None


def _command(root: Path, *arguments: str) -> list[str]:
    return ["git", "-c", "safe.directory=*", "-C", str(root), *arguments]


def _extract(root: Path, commit: str, folder: Path) -> None:
    """Write a commit's wanted files below a folder, through one `git cat-file`."""
    listed = _git(root, "ls-tree", "-r", "-z", commit, "--", *_FOLDERS, "Dockerfile")
    if listed.returncode != 0:
        raise InputError(
            "git ls-tree failed", where=commit, found=listed.stderr.decode(errors="replace").strip()
        )
    with subprocess.Popen(
        _command(root, "cat-file", "--batch"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin and process.stdout
        for entry in filter(None, listed.stdout.decode("utf-8", "surrogateescape").split("\0")):
            about, _, name = entry.partition("\t")
            mode, kind, blob = about.split(" ")
            if kind != "blob" or mode == "120000" or not _WANTED.fullmatch(name):
                continue
            process.stdin.write(f"{blob}\n".encode())
            process.stdin.flush()
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with (folder / name).open("wb") as target:
                _copy(process.stdout, target, f"{commit}:{name}")
        process.stdin.close()


def _copy(source: IO[bytes], target: IO[bytes], where: str) -> None:
    """One object of `git cat-file --batch`: `<id> <kind> <size>`, the bytes, a line end."""
    header = source.readline().split()
    if len(header) != 3:
        raise InputError(
            "Git does not have the file's content", where=where, hint="git fetch --refetch"
        )
    left = int(header[2])
    while left:
        block = source.read(min(left, _BLOCK))
        if not block:
            raise InputError("git cat-file ended early", where=where, hint="git fsck")
        target.write(block)
        left -= len(block)
    source.read(1)
