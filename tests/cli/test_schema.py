"""`memrepro schema`: the committed schemas are the records', and a stale file is named."""

import shutil
from pathlib import Path

import pytest

from tests.commands import Memrepro
from tests.projects import ROOT
from tests.sources.conftest import source, write_pins


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_pins(tmp_path, source())
    shutil.copytree(ROOT / "schema", tmp_path / "schema")
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "schema").iterdir()}


def test_the_committed_schemas_are_current(project: Path, memrepro: Memrepro) -> None:
    assert memrepro(project, "schema", "--check").code == 0
    shutil.rmtree(project / "schema")
    assert memrepro(project, "schema").code == 0
    committed = {path.name: path.read_bytes() for path in (ROOT / "schema").glob("*.schema.json")}
    assert len(committed) > 20
    assert files(project) == committed


def test_what_differs_is_named_and_mended(project: Path, memrepro: Memrepro) -> None:
    before = files(project)
    folder = project / "schema"
    changed = folder / "InMindScore.schema.json"
    changed.write_text(changed.read_text().replace('"integer"', '"number"', 1))
    (folder / "Reply.schema.json").unlink()
    (folder / "Gone.schema.json").write_text("{}\n")
    (folder / "notes.txt").write_text("not a schema\n")
    spoilt = files(project)

    ran = memrepro(project, "schema", "--check")
    assert ran.code == 1
    assert ran.err == (
        "error: schema/InMindScore.schema.json, schema/Reply.schema.json, schema/Gone.schema.json: "
        "schema files differ from the records\n  hint:     memrepro schema\n"
    )
    assert files(project) == spoilt  # a check writes nothing

    assert memrepro(project, "schema").code == 0
    assert files(project) == before | {"notes.txt": b"not a schema\n"}
