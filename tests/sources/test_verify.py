import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from memrepro.cli import sources as cli
from memrepro.errors import CheckFailed
from memrepro.sources.fetch import fetch
from memrepro.sources.sums import update_sums
from memrepro.sources.verify import verify
from memrepro.stages.checks import inmind_checks

FILES = [
    "data/sources.toml",
    "data/SHA256SUMS",
    "data/raw/box/a.txt",
    "data/sample/x.jsonl",
    "data/sample/y/z.json",
    "prompts/inmind/role.txt",
]
DAMAGES = {
    "flip": lambda b: (
        b[:3] + bytes([b[3] ^ 1]) + b[4:] if len(b) > 3 else bytes([b[0] ^ 1]) + b[1:]
    ),
    "cut": lambda b: b[:-1],
    "add": lambda b: b + b" ",
    "crlf": lambda b: b.replace(b"\n", b"\r\n", 1),
    "not_toml_or_utf8": lambda b: b"\xff[[" + b,
}


def git(root: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(root), *arguments]
    subprocess.run(command, check=True, capture_output=True)


def test_good_project_passes(project: Path) -> None:
    assert verify(project, "full").ok


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", FILES)
def test_damage_is_named(project: Path, file: str, damage: str) -> None:
    git(project, "init", "-q")
    git(project, "add", "-f", "data/SHA256SUMS")
    git(project, "commit", "-qm", "x")
    path = project / file
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    failed = [check for check in verify(project).failed if check.file == file]
    assert failed
    if damage == "crlf":
        assert any("CRLF" in (check.cause or "") for check in failed)


def test_missing_and_unlisted_are_named(project: Path) -> None:
    (project / "data/raw/box/a.txt").unlink()
    (project / "data/sample/x.jsonl").unlink()
    (project / "prompts/new.txt").write_text("new\n")
    assert {c.file for c in verify(project).failed} == {"data/sample/x.jsonl", "prompts/new.txt"}
    assert "data/raw/box/a.txt" in {c.file for c in verify(project, "full").failed}


def test_changed_sums_pass_once_staged(project: Path) -> None:
    git(project, "init", "-q")
    git(project, "add", "-f", ".")
    git(project, "commit", "-qm", "x")
    (project / "data/sample/x.jsonl").write_text("{}\n")
    update_sums(project)
    (failed,) = verify(project).failed
    assert failed.file == "data/SHA256SUMS"
    assert "data/sample/x.jsonl" in (failed.cause or "")
    git(project, "add", "data/SHA256SUMS")
    assert verify(project).ok


@pytest.mark.parametrize("quote", ["", "'"], ids=["as_dvc_writes", "by_yaml"])
def test_generated_files_are_held_to_the_lock(project: Path, quote: str) -> None:
    (project / "metrics.json").write_text("{}\n")
    digest = hashlib.md5(b"{}\n").hexdigest()
    (project / "dvc.lock").write_text(
        "schema: '2.0'\nstages:\n  score:\n    cmd: x\n    deps:\n    - path: a\n      hash: md5\n"
        f"      md5: {'0' * 32}\n      size: 1\n    outs:\n    - path: {quote}metrics.json{quote}\n"
        f"      hash: md5\n      md5: {digest}\n      size: 3\n"
    )
    assert verify(project).ok
    (project / "metrics.json").write_text("{} \n")
    assert [c.file for c in verify(project).failed] == ["metrics.json"]
    assert verify(project, generated=False).ok


def test_command_prints_and_fails(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    (project / "data/sources.toml").write_text("[[broken")
    with pytest.raises(CheckFailed, match=r"data/sources\.toml"):
        cli.quick_verify(["verify", "--dataset", "sample"])
    assert "FAILED data/sources.toml" in capsys.readouterr().out
    assert not cli.quick_verify(["verify", "--help"])


@pytest.mark.full
def test_real_data(tmp_path: Path) -> None:
    mirror = os.environ["MEMREPRO_MIRROR"]
    pins = Path(__file__).parents[2] / "data/sources.toml"
    (tmp_path / "data").mkdir()
    (tmp_path / "data/sources.toml").write_bytes(pins.read_bytes())
    update_sums(tmp_path)
    fetch(tmp_path, mirror=mirror, groups=["inmind", "cimemories"])
    report = verify(tmp_path, protocols=[inmind_checks])
    assert report.ok
    assert {"fetched", "upstream", "protocol", "schema", "placeholders"} <= {
        check.name for check in report.checks
    }
