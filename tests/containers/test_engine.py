"""Which engine and image a stage runs in, and what is said where there is none (case 18)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memrepro.errors import InputError, ServiceError
from memrepro.runner.engine import find_engine
from memrepro.runner.image import Image, current_image, find_image, recipe
from tests.containers.engine import DOCKER_VERSION, PODMAN_VERSION, put
from tests.projects import ROOT, copy_checkout

NO_DAEMON = (
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. "
    "Is the docker daemon running?"
)
NO_PERMISSION = (
    "permission denied while trying to connect to the Docker daemon socket at "
    "unix:///var/run/docker.sock"
)


def answering(version: str, images: str = "", inspected: str = "[]") -> str:
    """A client with an engine behind it, and what it says of its images."""
    return (
        f"case \"$1 $2\" in version*) echo '{version}';; 'image ls') printf '{images}';; "
        f"'image inspect') echo '{inspected}';; esac"
    )


def test_no_engine_at_all(programs: Path) -> None:
    with pytest.raises(ServiceError, match="no container engine is installed") as caught:
        find_engine()
    assert "MEMREPRO_RUNNER=host dvc repro" in str(caught.value)


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        (NO_DAEMON, "its engine does not answer", "systemctl start docker"),
        (NO_PERMISSION, "this user may not talk to docker", "usermod -aG docker"),
    ],
)
def test_an_engine_that_does_not_answer(programs: Path, said: str, message: str, hint: str) -> None:
    put(programs, "docker", f"echo '{said}' >&2; exit 1")
    with pytest.raises(ServiceError, match=message) as caught:
        find_engine()
    assert hint in str(caught.value)
    assert caught.value.exit_code == 5


def test_podman_stands_in_for_a_docker_that_does_not_answer(programs: Path) -> None:
    put(programs, "docker", f"echo '{NO_DAEMON}' >&2; exit 1")
    put(programs, "podman", answering(PODMAN_VERSION))
    assert (find_engine().client, find_engine().kind) == ("podman", "podman")


def test_podman_is_known_under_dockers_name(programs: Path) -> None:
    put(programs, "docker", answering(PODMAN_VERSION))
    assert find_engine().kind == "podman"


def test_a_client_that_hangs_or_cannot_be_run_is_no_traceback(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(programs, "docker", "exec /bin/sleep 60")
    monkeypatch.setattr("memrepro.runner.engine._TIMEOUT", 0.2)
    with pytest.raises(ServiceError, match="docker did not answer within 0 s") as caught:
        find_engine()
    assert caught.value.where == "docker version"
    assert "MEMREPRO_RUNNER=host dvc repro" in (caught.value.hint or "")
    (programs / "docker").write_text("#!/no/such/shell\n")
    with pytest.raises(ServiceError, match="docker cannot be run: No such file or directory"):
        find_engine()


@pytest.mark.parametrize(
    ("client", "version", "user", "arguments"),
    [
        ("docker", DOCKER_VERSION, 1000, []),
        ("podman", PODMAN_VERSION, 0, ["--security-opt=label=disable", "--read-only-tmpfs=false"]),
        (
            "podman",
            PODMAN_VERSION,
            1000,
            [
                "--security-opt=label=disable",
                "--read-only-tmpfs=false",
                "--userns=keep-id:uid=65532,gid=65532",
            ],
        ),
    ],
)
def test_only_podman_is_told_more_and_only_without_root_whose_the_user_is(
    programs: Path,
    monkeypatch: pytest.MonkeyPatch,
    client: str,
    version: str,
    user: int,
    arguments: list[str],
) -> None:
    put(programs, client, answering(version))
    monkeypatch.setattr("os.geteuid", lambda: user)
    assert find_engine().arguments == arguments


def test_the_asked_engine_is_taken_or_refused(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(programs, "docker", answering(DOCKER_VERSION))
    assert find_engine().version == "20.10.24"
    monkeypatch.setenv("MEMREPRO_ENGINE", "nerdctl")
    with pytest.raises(ServiceError, match="no container engine") as caught:
        find_engine()
    assert caught.value.expected == "nerdctl on the PATH"


def test_an_absent_image_is_told_from_an_older_one(programs: Path) -> None:
    put(programs, "docker", answering(DOCKER_VERSION))
    with pytest.raises(InputError, match="no memrepro image is built") as caught:
        current_image(ROOT)
    assert caught.value.hint == "make image"
    now = recipe(ROOT)
    labels = {
        "memrepro.recipe": "f" * 64,
        "memrepro.recipe.dockerfile": now.dockerfile,
        "memrepro.recipe.source": now.source,
        "memrepro.recipe.lock": "e" * 64,
        "memrepro.extras": "",
    }
    images = [{"Id": "sha256:1", "Created": "2026", "Size": 1, "Config": {"Labels": labels}}]
    # Only a search for any recipe finds it.
    script = (
        f"version*) echo '{DOCKER_VERSION}';; *label=memrepro.recipe) echo sha256:1;; "
        f"'image inspect'*) echo '{json.dumps(images)}';;"
    )
    put(programs, "docker", f'case "$*" in {script} esac')
    with pytest.raises(InputError, match="built from another dependency lock than") as caught:
        current_image(ROOT)
    assert caught.value.exit_code == 2
    assert caught.value.hint == "make image"


def stage(project: Path, runner: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memrepro", "stage", "inmind.verify", "--dataset", "sample"],
        cwd=project,
        env={**os.environ, "MEMREPRO_RUNNER": runner, **environment},
        capture_output=True,
        text=True,
    )


def test_auto_says_in_one_line_that_it_runs_on_the_host(tmp_path: Path) -> None:
    project = copy_checkout(tmp_path / "checkout")
    result = stage(project, "auto", PATH="/nowhere")
    assert result.returncode == 0, result.stderr
    (line,) = result.stderr.splitlines()
    assert line == (
        "runner: on the host, not in a container: no container engine is installed "
        "(MEMREPRO_RUNNER=docker tells more)"
    )
    assert '"runner": "host"' in (project / "data/provenance/sample/inmind.verify.json").read_text(
        "utf-8"
    )


def test_a_runner_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    result = stage(ROOT, "cloud")
    assert result.returncode == 2
    assert "expected: auto, docker, host" in result.stderr


@pytest.mark.docker
def test_auto_takes_the_container(image: Image, tmp_path: Path) -> None:
    project = copy_checkout(tmp_path / "checkout")
    result = stage(project, "auto")
    assert (result.returncode, result.stderr) == (0, "")
    record = json.loads((project / "data/provenance/sample/inmind.verify.json").read_text())
    assert record["runner"] == image.engine.kind
    assert record["image"] == image.id
    assert record["recipe"] == recipe(ROOT).digest
    assert record["base_digest"].startswith("sha256:")


@pytest.mark.docker
def test_a_real_engine_out_of_reach(image: Image, tmp_path: Path) -> None:
    if image.engine.kind == "podman":
        pytest.skip("Podman has no daemon")
    project = copy_checkout(tmp_path / "checkout")
    away = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    result = stage(project, "docker", **away)
    assert result.returncode == 5
    assert "is installed, but its engine does not answer" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.docker
@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("requirements/runtime.txt", "dependency lock"),
        ("Dockerfile", "Dockerfile"),
        ("src/memrepro/digest.py", "package source"),
    ],
)
def test_a_real_image_older_than_the_checkout(
    image: Image, tmp_path: Path, file: str, part: str
) -> None:
    project = copy_checkout(tmp_path / "checkout")
    with (project / file).open("a") as stream:
        stream.write("# changed\n")
    result = stage(project, "docker")
    assert result.returncode == 2
    assert f"the image was built from another {part} than this checkout's" in result.stderr
    assert result.stderr.endswith("  hint:     make image\n")
    assert stage(project, "auto").returncode == 0


@pytest.mark.docker
def test_an_image_without_build_tools(image: Image) -> None:
    """And with a command of ours, the user that is not root, and no DVC."""
    probe = (
        "for name in pip gcc cc make git dvc; do command -v $name; done; "
        "python -c 'import dvc' 2>&1 | tail -1; id -u; python -m memrepro --version"
    )
    found = image.engine.ask("run", "--rm", "--network=none", image.id, "sh", "-c", probe)
    assert found.stdout.splitlines() == [
        "ModuleNotFoundError: No module named 'dvc'",
        "65532",
        "memrepro 0.1.0",
    ]
    assert find_image(image.engine, recipe(ROOT)) == image


def test_the_recipe_is_the_files_bytes_and_nothing_else(tmp_path: Path) -> None:
    """Another machine: other times, modes and leftovers of Python's."""
    first = copy_checkout(tmp_path / "one")
    other = copy_checkout(tmp_path / "two")
    for path in (other / "src").rglob("*.py"):
        path.chmod(0o600)
        os.utime(path, (1, 1))
    (other / "src/memrepro/__pycache__").mkdir()
    (other / "src/memrepro/__pycache__/x.pyc").write_bytes(b"x")
    (other / "requirements/lock.txt").write_text("another linter\n")
    assert recipe(first) == recipe(other) == recipe(ROOT)
    (other / "src/memrepro/errors.py").write_text("")
    assert recipe(other).source != recipe(first).source
    assert recipe(other).lock == recipe(first).lock
    (first / "Dockerfile").unlink()
    with pytest.raises(InputError, match="recipe is missing"):
        recipe(first)
