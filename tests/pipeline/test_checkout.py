"""A checkout with other line-end settings holds the same bytes (case 13)."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(
        ["git", *identity, "-C", str(folder), *arguments], check=True, capture_output=True
    )


def test_autocrlf_moves_no_byte_of_what_is_pinned(tmp_path: Path) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    shutil.copyfile(ROOT / ".gitattributes", origin / ".gitattributes")
    for name in (
        "data/cimemories",
        "data/retention_policy",
        "data/sample",
        "prompts",
        "schema",
        "src/memrepro/store",
        "metrics",
    ):
        shutil.copytree(ROOT / name, origin / name)
    git(origin, "init", "-q")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "x")
    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", str(origin), str(clone))
    names = [
        path.relative_to(origin)
        for path in origin.rglob("*")
        if path.is_file() and ".git" not in path.parts and "__pycache__" not in path.parts
    ]
    assert len(names) > 20
    for path in names:
        assert (clone / path).read_bytes() == (origin / path).read_bytes(), path
