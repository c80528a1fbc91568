"""`memrepro fetch` and `memrepro verify`: what they print and write, and their exit codes."""

import json
from pathlib import Path

import pytest

from memrepro.sources.sums import update_sums
from tests.commands import Memrepro

from .conftest import TEXT, sha, source, write_pins

FILE = "data/raw/box/a.txt"


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMREPRO_MIRROR", raising=False)


@pytest.fixture
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirror")
    (folder / "box").mkdir()
    for name in "abc":
        (folder / f"box/{name}.txt").write_bytes(TEXT)
    return folder


def test_fetch_says_where_each_file_came_from_and_each_licence_once(
    tmp_path: Path, mirror: Path, memrepro: Memrepro, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pins(tmp_path, source("a"), source("b"), source("c", group="h", licence="CC0-1.0"))
    ran = memrepro(tmp_path, "fetch", "--mirror", str(mirror))
    assert ran.code == 0, ran.err
    assert ran.out == (
        f"data/raw/box/a.txt  from {mirror}/box/a.txt\n"
        f"data/raw/box/b.txt  from {mirror}/box/b.txt\n"
        f"data/raw/box/c.txt  from {mirror}/box/c.txt\n"
        "fetched 3 files, 0 were there\n"
        "g: licence MIT; cite arXiv:0\n"
        "h: licence CC0-1.0; cite arXiv:0\n"
    )
    assert (tmp_path / FILE).read_bytes() == TEXT
    (tmp_path / "data/raw/box/c.txt").unlink()
    monkeypatch.setenv("MEMREPRO_MIRROR", str(mirror))
    again = memrepro(tmp_path, "fetch", "--group", "g", "--group", "h")
    assert again.out.endswith("fetched 1 files, 2 were there\nh: licence CC0-1.0; cite arXiv:0\n")


def test_fetch_says_what_an_origin_was_refused_for(
    tmp_path: Path, mirror: Path, memrepro: Memrepro
) -> None:
    (mirror / "box/a.txt").write_bytes(b"other\n")
    write_pins(tmp_path, source("a", origins=(str(mirror / "box/b.txt"),)))
    ran = memrepro(tmp_path, "fetch", "--mirror", str(mirror))
    assert ran.code == 0
    assert ran.err == (
        f"a: refused {mirror}/box/a.txt: expected {sha(TEXT)} (14 bytes), "
        f"got {sha(b'other' + bytes([10]))} (6 bytes); discarded\n"
    )
    assert f"{FILE}  from {mirror}/box/b.txt\n" in ran.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("--dataset", "sample"),
            ["no source of dataset 'sample'", "memrepro fetch --dataset full"],
        ),
        (("--group", "x"), ["no group 'x'", "expected: g", "found:    x"]),
    ],
)
def test_fetch_of_what_there_is_not(
    tmp_path: Path, memrepro: Memrepro, arguments: tuple[str, ...], told: list[str]
) -> None:
    write_pins(tmp_path, source())
    ran = memrepro(tmp_path, "fetch", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert all(words in ran.err for words in told)


@pytest.fixture
def sound(project: Path) -> Path:
    """The small project without InMind's prompts, of which it has one only."""
    (project / "prompts/inmind").rename(project / "prompts/mine")
    update_sums(project)
    return project


def test_verify_prints_every_check_as_json(sound: Path, memrepro: Memrepro) -> None:
    (sound / FILE).write_bytes(b"x")
    for arguments in (("--json",), ("--json", "--inputs-only", "--dataset", "full")):
        ran = memrepro(sound, "verify", *arguments)
        assert ran.code == 1
        told = json.loads(ran.out)
        assert told["ok"] is False
        assert {
            "name": "fetched",
            "file": FILE,
            "ok": False,
            "expected": sha(TEXT),
            "found": sha(b"x"),
            "cause": None,
        } in told["checks"]
        assert [check["file"] for check in told["checks"] if not check["ok"]] == [FILE]
        assert f"checks failed: {FILE}" in ran.err
    (sound / FILE).write_bytes(TEXT)
    ran = memrepro(sound, "verify", "--json")
    assert (ran.code, json.loads(ran.out)["ok"]) == (0, True)


def test_verify_update_takes_in_what_was_changed(sound: Path, memrepro: Memrepro) -> None:
    (sound / "prompts/mine/role.txt").write_text("Otherwise.\n")
    (sound / "prompts/new.txt").write_text("new\n")
    failed = memrepro(sound, "verify")
    assert failed.code == 1
    assert failed.out.splitlines()[1] == (
        "FAILED prompts/new.txt (committed): expected an entry in data/SHA256SUMS, found none: "
        "unlisted; run `memrepro verify --update`"
    )
    ran = memrepro(sound, "verify", "--update")
    assert ran.code == 0
    assert ran.err == "data/SHA256SUMS: 5 files\n"
    assert (
        f"{sha(b'new' + bytes([10]))}  prompts/new.txt\n" in (sound / "data/SHA256SUMS").read_text()
    )
    assert memrepro(sound, "verify").code == 0


def test_verify_knows_two_data_sets(project: Path, memrepro: Memrepro) -> None:
    ran = memrepro(project, "verify", "--dataset", "huge")
    assert ran.code == 2
    assert "no such data set" in ran.err and "expected: full or sample" in ran.err
