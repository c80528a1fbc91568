"""What `verify` holds beside the pins: the authors' own digests, output folders, the protocol."""

import hashlib
import json
from pathlib import Path

import pytest

from memrepro.sources.check import Check
from memrepro.sources.verify import verify
from memrepro.stages.checks import cimemories_checks, inmind_checks
from tests.projects import ROOT

from .conftest import TEXT, sha, source, write_pins

SUMS = "data/raw/inmind/benchmark/dataset/SHA256SUMS"
MANIFEST = "data/raw/inmind/evaluation/background/manifest.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two pins of InMind's."""
    write_pins(
        tmp_path,
        source("tasks", path="inmind/tasks.jsonl"),
        source("rows", path="inmind/evaluation/background/rows.jsonl"),
    )
    return tmp_path


def write(root: Path, file: str, text: str) -> None:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(text)


def found(root: Path, name: str) -> list[Check]:
    return [check for check in verify(root).checks if check.name == name]


def test_the_authors_digests_are_our_pins(root: Path) -> None:
    write(root, SUMS, f"{sha(TEXT)}  tasks.jsonl\n\n")
    write(root, MANIFEST, json.dumps({"file": "rows.jsonl", "sha256": sha(TEXT)}))
    assert found(root, "upstream") == [
        Check("upstream", SUMS, True),
        Check("upstream", MANIFEST, True),
    ]


def test_a_digest_of_the_authors_that_is_not_our_pin_is_told(root: Path) -> None:
    write(root, SUMS, f"{'a' * 64}  tasks.jsonl\n{'b' * 64}  new.jsonl\n")
    write(root, MANIFEST, json.dumps({"file": "rows.jsonl", "sha256": "c" * 64}))
    changed, unknown, rows = found(root, "upstream")
    assert not (changed.ok or unknown.ok or rows.ok)
    assert (changed.expected, changed.found) == (sha(TEXT), "a" * 64)
    assert changed.cause == (
        "what it publishes for inmind/tasks.jsonl is not our pin in data/sources.toml"
    )
    assert (unknown.expected, unknown.found) == ("a pin", "b" * 64)
    assert (rows.file, rows.found) == (MANIFEST, "c" * 64)


@pytest.mark.parametrize(
    ("text", "cause"), [("{", "not valid JSON"), ("[]", "for inmind/evaluation/background/None")]
)
def test_a_manifest_of_another_form_fails_and_does_not_crash(
    root: Path, text: str, cause: str
) -> None:
    write(root, MANIFEST, text)
    (check,) = found(root, "upstream")
    assert not check.ok
    assert cause in (check.cause or "")


def test_files_of_an_output_folder_are_held_to_dvcs_listing(root: Path) -> None:
    digest = "0123456789abcdef0123456789abcdef.dir"
    lock = (
        "schema: '2.0'\nstages:\n  build:\n    cmd: x\n    outs:\n    - path: data/runs/inputs\n"
        f"      hash: md5\n      md5: {digest}\n      size: 5\n      nfiles: 2\n"
    )
    write(root, "dvc.lock", lock)
    listing = [
        {"md5": hashlib.md5(text.encode()).hexdigest(), "relpath": name}
        for name, text in {"a.jsonl": "{}\n", "in/b.jsonl": "1\n"}.items()
    ]
    assert found(root, "generated") == []  # nothing was generated yet
    write(root, "data/runs/inputs/a.jsonl", "{}\n")
    assert found(root, "generated") == []  # nor is DVC's listing at hand
    write(root, f".dvc/cache/files/md5/{digest[:2]}/{digest[2:]}", json.dumps(listing))
    write(root, "data/runs/inputs/in/b.jsonl", "1\n")
    assert [check.ok for check in found(root, "generated")] == [True, True]

    write(root, "data/runs/inputs/a.jsonl", "{} \n")
    (root / "data/runs/inputs/in/b.jsonl").unlink()
    changed, missing = found(root, "generated")
    assert (changed.file, changed.ok) == ("data/runs/inputs/a.jsonl", False)
    assert changed.cause == "not what dvc.lock recorded; run `dvc repro`"
    assert (missing.file, missing.cause) == ("data/runs/inputs/in/b.jsonl", "missing")


PROFILES = "data/sample/cimemories/profiles.json"


def test_each_profile_is_read(root: Path) -> None:
    assert list(cimemories_checks(root)) == []  # absent, which is not for this check to say
    text = (ROOT / PROFILES).read_text("utf-8")
    write(root, PROFILES, text)
    assert list(cimemories_checks(root)) == [Check("profiles", PROFILES, True)]
    write(root, PROFILES, "[]x")
    (unsound,) = cimemories_checks(root)
    assert (unsound.name, unsound.ok) == ("format", False)
    assert PROFILES in (unsound.cause or "")


def test_a_profile_that_is_not_as_described_is_named(root: Path) -> None:
    write(root, PROFILES, '[{"name": 7}]')
    (check,) = cimemories_checks(root)
    assert (check.name, check.file, check.ok) == ("profiles", PROFILES, False)
    assert (check.cause or "").startswith(f"{PROFILES}, profile ")


def test_rows_that_are_no_json_are_a_fault_of_their_own(root: Path) -> None:
    write(root, "data/sample/inmind/tasks.jsonl", '{"task_id": 1}\n{"task_id"\n')
    (check,) = inmind_checks(root)
    assert (check.name, check.ok) == ("format", False)
    assert "tasks.jsonl, line 2" in (check.cause or "")
