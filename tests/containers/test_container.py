"""A stage in a container of an engine that is a script: what comes back, and each way to fail."""

import json
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memrepro.errors import InputError, ServiceError
from memrepro.runner.attempt import Attempt
from memrepro.runner.container import container_name, run_in_container
from memrepro.runner.engine import find_engine
from memrepro.runner.image import Image
from memrepro.stages.declarations import Declaration
from tests.containers.engine import PODMAN_VERSION, asked, put_engine

OUTPUT = "data/runs/sample/x.txt"
STAGE = Declaration("x.make", "a", ("data/in",), (OUTPUT,), ())
FACTS = {"facts": {"python": "3.11.9", "worker_pids": [1]}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of one input, as its own user would have it."""
    root = tmp_path / "project"
    (root / "data/in").mkdir(parents=True)
    for name in ("data/in/a.txt", "params.yaml"):
        (root / name).write_text("x")
        (root / name).chmod(0o644)
    (root / "data/in").chmod(0o755)
    return root


@pytest.fixture
def folders(tmp_path: Path) -> Attempt:
    folders = Attempt(tmp_path / "out", tmp_path / "replaced", tmp_path / "staging")
    for folder in (folders.out, folders.replaced, folders.staging):
        folder.mkdir()
    return folders


def stage_that(folders: Attempt, ends: str, report: object = None, wrote: str | None = None) -> str:
    """What a container leaves in the staging folder, and how it ends."""
    if report is not None:
        (folders.staging / "report.json").write_text(json.dumps(report))
    if wrote is not None:
        (folders.staging / OUTPUT).parent.mkdir(parents=True)
        (folders.staging / OUTPUT).write_text(wrote)
    return f"'rm '*) ;; run*) {ends};;"


def run(root: Path, folders: Attempt, **options: Any) -> dict[str, Any]:
    labels = {"memrepro.recipe": "r", "memrepro.base.digest": "sha256:b"}
    image = Image(find_engine(), "sha256:1", "2026", 1, labels)
    values = {"workers": 2, "progress": False, **options}
    return run_in_container(image, root, "sample", STAGE, folders, **values)


def test_outputs_are_taken_over_and_facts_told(
    programs: Path, root: Path, folders: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMREPRO_MEMORY", "2g")
    put_engine(programs, stage_that(folders, "exit 0", FACTS, "made"))
    facts = run(root, folders, progress=True)
    assert (folders.out / OUTPUT).read_text() == "made"
    assert not (folders.out / "report.json").exists()
    assert folders.staging.stat().st_mode & 0o777 == 0o777  # for a user of another id
    assert facts == {
        "runner": "docker", "engine": "docker 20.10.24", "image": "sha256:1", "recipe": "r",
        "extras": "", "base": "", "base_digest": "sha256:b", "python": "3.11.9",
        "worker_pids": [1],
    }  # fmt: skip
    _, removed, ran = asked(programs)
    name = container_name(root, "sample.x.make@a")
    assert removed == f"rm --force --volumes {name}"
    assert f" --name={name} " in ran and " --memory=2g " in ran
    assert f" --mount=type=bind,src={root}/data/in,dst=/project/data/in,readonly " in ran
    assert f" --mount=type=bind,src={root}/params.yaml,dst=/project/params.yaml,readonly " in ran
    assert f" --mount=type=bind,src={folders.staging},dst=/out " in ran
    assert ran.endswith(
        " sha256:1 python -P -m memrepro.runner.inside x.make --dataset sample --workers 2 "
        "--system a --progress"
    )


def test_an_error_inside_is_raised_outside_with_the_hosts_paths(
    programs: Path, root: Path, folders: Attempt
) -> None:
    said = {
        "type": "InputError", "what": "not valid JSON", "where": "/project/data/in/a.txt, line 3",
        "expected": None, "found": "x", "hint": "git checkout",
    }  # fmt: skip
    put_engine(programs, stage_that(folders, "exit 2", {"error": said}))
    with pytest.raises(InputError) as caught:
        run(root, folders)
    assert str(caught.value) == (
        f"{root}/data/in/a.txt, line 3: not valid JSON\n  found:    x\n  hint:     git checkout"
    )


@pytest.mark.parametrize(
    ("code", "report", "told"),
    [
        (125, None, "the engine could not start the container; see above"),
        (127, None, "the engine could not start the container; see above"),
        (137, FACTS, "the container was killed: from outside, or for want of memory"),
        (1, None, "the stage crashed in its container (exit 1); see above"),
        (0, None, "the stage crashed in its container (exit 0); see above"),
    ],
)
def test_a_container_that_ends_badly_leaves_nothing(
    programs: Path, root: Path, folders: Attempt, code: int, report: object, told: str
) -> None:
    put_engine(programs, stage_that(folders, f"exit {code}", report, "half"))
    with pytest.raises(ServiceError) as caught:
        run(root, folders)
    assert caught.value.what == told
    if code == 137:
        assert caught.value.found == "a limit of 4g"
        assert caught.value.hint == "MEMREPRO_MEMORY=8g dvc repro"
    assert not list(folders.out.iterdir())


@pytest.mark.parametrize(
    ("name", "mode", "shown"),
    [("data/in/a.txt", 0o640, "-rw-r-----"), ("data/in", 0o750, "drwxr-x---")],
)
def test_an_input_that_the_containers_user_cannot_read_is_named(
    programs: Path, root: Path, folders: Attempt, name: str, mode: int, shown: str
) -> None:
    (root / name).chmod(mode)
    put_engine(programs, stage_that(folders, "exit 0", FACTS, "made"))
    with pytest.raises(InputError, match="the container's user cannot read an input") as caught:
        run(root, folders)
    assert (caught.value.where, caught.value.found) == (name, shown)
    assert caught.value.hint == f"chmod -R o+rX {name}"
    assert not [line for line in asked(programs) if line.startswith("run")]


def test_who_runs_podman_is_the_user_inside_and_may_read_its_own(
    programs: Path, root: Path, folders: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "data/in/a.txt").chmod(0o600)
    put_engine(programs, stage_that(folders, "exit 0", FACTS, "made"), PODMAN_VERSION)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert run(root, folders)["runner"] == "podman"


def test_a_leftover_that_cannot_be_removed_stops_the_stage(
    programs: Path, root: Path, folders: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("memrepro.runner.container.time", SimpleNamespace(sleep=waits.append))
    put_engine(programs, "'rm '*) echo 'device is busy' >&2; exit 1;;")
    with pytest.raises(ServiceError, match="an earlier run cannot be removed") as caught:
        run(root, folders)
    assert caught.value.found == "device is busy"
    assert caught.value.hint == f"docker rm --force {container_name(root, 'sample.x.make@a')}"
    assert sum(waits) == pytest.approx(10)  # seconds

    put_engine(
        programs,
        "'rm '*) echo 'Error: No such container: x' >&2; exit 1;; "
        + stage_that(folders, "exit 0", FACTS, "made"),
    )
    assert run(root, folders)["python"] == "3.11.9"  # nothing to remove is no hindrance


def test_an_interruption_waits_for_the_container_which_ends_with_its_input(
    programs: Path, root: Path, folders: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client reads until its input ends, as a container does; then it says so."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    ended = programs / "ended"
    put_engine(programs, stage_that(folders, f"/bin/cat; /bin/sleep 0.1; echo > {ended}"))
    engine = find_engine()
    before = signal.signal(signal.SIGALRM, interrupt)
    # Set just before the client is started.
    monkeypatch.setattr(
        "memrepro.runner.container.remove",
        lambda *_: signal.setitimer(signal.ITIMER_REAL, 0.3) and None,
    )
    try:
        with pytest.raises(KeyboardInterrupt):
            image = Image(engine, "sha256:1", "2026", 1, {})
            run_in_container(image, root, "sample", STAGE, folders, workers=1, progress=False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ended.exists()


def test_two_checkouts_have_two_names_for_one_stage(tmp_path: Path) -> None:
    one = container_name(tmp_path / "one", "sample.inmind.remember@bm25")
    two = container_name(tmp_path / "two", "sample.inmind.remember@bm25")
    assert one != two
    assert one.endswith("-sample.inmind.remember-bm25")  # without what an engine forbids
