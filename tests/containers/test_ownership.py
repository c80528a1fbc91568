"""Whose files a run leaves behind: a user's own, or root's over a user's checkout (case 16)."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrepro.errors import InputError
from memrepro.runner.image import Image
from memrepro.runner.ownership import refuse_root_over_another_user
from tests.projects import copy_checkout

OWNER = 1234
STAGES = ["inmind.build", "inmind.remember@bm25", "inmind.judge@bm25"]

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="hands files to another user")


@pytest.fixture
def checkout() -> Iterator[Path]:
    """A checkout of user 1234's, in a place that everybody can reach."""
    folder = Path(tempfile.mkdtemp(prefix="memrepro-owner-"))
    folder.chmod(0o755)
    try:
        yield give_away(copy_checkout(folder / "checkout"))
    finally:
        shutil.rmtree(folder)


def give_away(root: Path) -> Path:
    for path in (root, *root.rglob("*")):
        os.chown(path, OWNER, OWNER, follow_symlinks=False)
    return root


def repro(
    root: Path, runner: str, *, owner: bool, docker: bool = True
) -> subprocess.CompletedProcess[str]:
    """`dvc repro` as root, or as user 1234 with or without the right to talk to Docker."""
    become: list[str] = []
    if owner:
        import grp

        group = str(grp.getgrnam("docker").gr_gid) if docker else str(OWNER)
        # It may read what root may, for the Python that runs these tests can lie in root's home.
        reading = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
        become = ["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", f"--groups={group}", *reading]
    home = root.parent / ("home-owner" if owner else "home-root")
    home.mkdir(exist_ok=True)
    if owner:
        os.chown(home, OWNER, OWNER)
    return subprocess.run(
        [*become, sys.executable, "-m", "dvc", "repro", *STAGES],
        cwd=root,
        env={
            **os.environ,
            "HOME": str(home),
            "LOGNAME": "owner" if owner else "root",  # user 1234 is in no passwd file
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "MEMREPRO_RUNNER": runner,
        },
        capture_output=True,
        text=True,
    )


def owners(root: Path) -> set[int]:
    return {path.lstat().st_uid for path in (root, *root.rglob("*"))}


@pytest.mark.docker
@needs_root
@pytest.mark.parametrize("runner", ["host", "docker"])
def test_the_owners_run_leaves_only_the_owners_files(
    checkout: Path, image: Image, runner: str
) -> None:
    result = repro(checkout, runner, owner=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert (checkout / "data/runs/sample/inmind/verdicts/bm25/verbatim.jsonl").is_file()
    assert (checkout / ".dvc/cache/files").is_dir()
    assert owners(checkout) == {OWNER}
    provenance = (checkout / "data/provenance/sample/inmind.build.json").read_text()
    assert f'"runner": "{runner}"' in provenance


@pytest.mark.docker
@needs_root
@pytest.mark.parametrize("before", [False, True], ids=["fresh", "after the owner's run"])
def test_root_is_stopped_before_anything_runs(checkout: Path, before: bool) -> None:
    if before:
        assert repro(checkout, "host", owner=True).returncode == 0
        # A stage must run: what DVC brings back from its run cache is DVC's own doing.
        params = checkout / "params.yaml"
        params.write_text(params.read_text().replace("k: 5", "k: 4"))
        give_away(checkout)
    result = repro(checkout, "docker", owner=False)
    assert result.returncode != 0
    assert "belongs to uid 1234, and you are root" in result.stderr
    assert f"sudo -u '#{OWNER}' dvc repro" in result.stderr
    assert not (checkout / "data/runs/sample/inmind/contexts/bm25").exists()
    assert owners(checkout) == {OWNER}
    # And the owner can go on.
    again = repro(checkout, "host", owner=True)
    assert again.returncode == 0, again.stderr
    assert owners(checkout) == {OWNER}


@needs_root
@pytest.mark.parametrize(("owner", "shown"), [(OWNER, "uid 1234"), (65534, "nobody (uid 65534)")])
def test_what_dvc_made_as_root_is_given_back_before_root_is_refused(
    tmp_path: Path, owner: int, shown: str
) -> None:
    """The cache that a `dvc repro` of root's began, in a checkout with files of a third user's."""
    (tmp_path / ".dvc/cache/files").mkdir(parents=True)
    for name in (".dvc/cache/files/new", ".dvc/lock", "roots.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / ".dvc/link").symlink_to("nowhere")
    (tmp_path / ".dvc/third").write_text("x")
    os.chown(tmp_path / ".dvc/third", 4321, 4321)
    for path in (tmp_path, tmp_path / ".dvc"):
        os.chown(path, owner, owner)
    with pytest.raises(InputError) as caught:
        refuse_root_over_another_user(tmp_path)
    assert caught.value.what == f"this checkout belongs to {shown}, and you are root"
    assert caught.value.hint == (
        f"sudo -u '#{owner}' dvc repro, or make it root's: chown -R root {tmp_path}"
    )
    found = {
        path.relative_to(tmp_path).as_posix(): path.lstat().st_uid for path in tmp_path.rglob("*")
    }
    assert found == {
        ".dvc": owner,
        ".dvc/cache": owner,
        ".dvc/cache/files": owner,
        ".dvc/cache/files/new": owner,
        ".dvc/link": owner,
        ".dvc/lock": owner,
        ".dvc/third": 4321,
        "roots.txt": 0,
    }


@needs_root
def test_root_in_its_own_checkout_and_an_owner_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_root_over_another_user(tmp_path)
    os.chown(tmp_path, OWNER, OWNER)
    monkeypatch.setattr("os.geteuid", lambda: OWNER)
    refuse_root_over_another_user(tmp_path)


@needs_root
def test_make_stops_root_as_well(checkout: Path) -> None:
    result = subprocess.run(["make", "-C", str(checkout)], capture_output=True, text=True)
    assert result.returncode == 2
    assert "belongs to uid 1234, and you are root" in result.stderr
    assert not (checkout / ".venv").exists()


@pytest.mark.docker
@needs_root
def test_an_engine_that_this_user_may_not_use_is_named(checkout: Path) -> None:
    """Case 18: engine without permission."""
    result = repro(checkout, "docker", owner=True, docker=False)
    assert "may not talk to" in result.stderr
    assert "usermod -aG docker" in result.stderr
    assert "exited with 5" in result.stderr
    assert "Traceback" not in result.stderr
    assert owners(checkout) == {OWNER}


@pytest.mark.docker
@needs_root
def test_inputs_that_the_container_cannot_read_are_named(checkout: Path, image: Image) -> None:
    (checkout / "data/sample/inmind/tasks.jsonl").chmod(0o600)
    result = repro(checkout, "docker", owner=True)
    assert "chmod -R o+rX data/sample/inmind/tasks.jsonl" in result.stderr
    assert "exited with 2" in result.stderr
