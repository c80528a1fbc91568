"""Building and finding the image, with an engine that is a script: what it is asked and given."""

import json
import os
from pathlib import Path

import pytest

from memrepro.errors import InputError, ServiceError
from memrepro.runner.engine import find_engine
from memrepro.runner.image import choose_image, find_image, recipe
from tests.commands import Memrepro
from tests.containers.engine import asked, inspected, put_engine
from tests.sources.conftest import source, write_pins

FILES = [
    "Dockerfile", "LICENSE", "LICENSE-DATA", "pyproject.toml", "requirements/build.txt",
    "requirements/dense.txt", "requirements/runtime.txt", "src/memrepro/inner/x.py",
    "src/memrepro/x.py",
]  # fmt: skip
BASE = "python:3.11-slim-bookworm"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files of a recipe, some with odd modes, and others that belong to none."""
    root = tmp_path / "checkout"
    for name in (*FILES, "src/memrepro/__pycache__/x.pyc", "tests/x.py", ".env"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{name}\n")
    (root / "Dockerfile").chmod(0o600)
    (root / "src/memrepro/x.py").chmod(0o777)
    write_pins(root, source())
    return root


def engine_that_builds(programs: Path, root: Path, base: str, extras: str) -> None:
    """A build keeps its context and its environment; the image is there from then on."""
    labels = {
        "memrepro.recipe": recipe(root).digest,
        "memrepro.extras": extras,
        "memrepro.base": BASE,
        "memrepro.base.digest": "sha256:b",
    }
    put_engine(
        programs,
        f'build*) for last; do :; done; /bin/cp -rp "$last" {programs}/context; '
        f'echo "kit $DOCKER_BUILDKIT" >> {programs}/log; echo Step 1;; '
        f"'image ls'*) [ -d {programs}/context ] && echo sha256:1;; "
        f"'image inspect {BASE}') echo '{base}';; "
        f"'image inspect sha256:1') echo '{inspected(labels)}';;",
    )


def test_a_build_is_labelled_with_its_recipe_and_given_its_files_alone(
    programs: Path, checkout: Path, memrepro: Memrepro
) -> None:
    (checkout / "ca.pem").write_text("PEM")
    base = json.dumps([{"Id": "sha256:a", "RepoDigests": ["python@sha256:b", "x@sha256:c"]}])
    engine_that_builds(programs, checkout, base, "dense")
    before = os.umask(0o077)
    try:
        ran = memrepro(checkout, "image", "build", "--network", "host", "--ca", "ca.pem")
    finally:
        os.umask(before)
    assert ran.code == 0, ran.err
    digest = recipe(checkout).digest
    assert ran.out.splitlines() == [
        "engine       docker 20.10.24",
        "image        sha256:1",
        f"recipe       {digest}",
        "extras       dense",
        f"base         {BASE}",
        "base_digest  sha256:b",
        "size         123 MB",
    ]
    assert ran.err == "Step 1\n"  # the engine's output is no result

    (build,) = (line for line in asked(programs) if line.startswith("build "))
    for words in (
        f"--tag memrepro:{digest[:12]}",
        f"--build-arg=BASE={BASE}",
        "--build-arg=EXTRAS=dense",
        f"--label=memrepro.recipe={digest}",
        f"--label=memrepro.recipe.source={recipe(checkout).source}",
        "--label=memrepro.base.digest=sha256:b",
        "--network=host",
        f"--secret=id=ca,src={checkout}/ca.pem",
    ):
        assert f" {words} " in build
    assert "kit 1" in asked(programs)

    context = programs / "context"
    given = sorted(path for path in context.rglob("*") if path.is_file())
    assert [path.relative_to(context).as_posix() for path in given] == FILES
    assert {path.stat().st_mode & 0o777 for path in given} == {0o644}
    folders = [context, *(path for path in context.rglob("*") if path.is_dir())]
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o755}


def test_a_base_from_no_registry_goes_by_its_id(
    programs: Path, checkout: Path, memrepro: Memrepro
) -> None:
    engine_that_builds(programs, checkout, json.dumps([{"Id": "sha256:own"}]), "")
    ran = memrepro(checkout, "image", "build", "--extras", "")
    assert ran.code == 0, ran.err
    (build,) = (line for line in asked(programs) if line.startswith("build "))
    assert " --label=memrepro.base.digest=sha256:own " in build
    assert " --build-arg=EXTRAS= " in build
    assert "--network" not in build and "--secret" not in build


@pytest.mark.parametrize(
    ("arguments", "cases", "code", "told"),
    [
        (("--extras", "dense mem0"), "", 2, ["--extras: no extra 'mem0'", "expected: dense"]),
        (("--ca", "none.pem"), "", 2, ["none.pem: no such file"]),
        (
            ("--base", "debian:x"),
            "pull*|*debian:x) exit 1;;",
            5,
            ["the base image debian:x is not here and cannot be pulled", "--base IMAGE"],
        ),
        (
            (),
            'build*) exit 3;; *inspect*) echo \'[{"Id": "b"}]\';;',
            5,
            ["docker could not build the image (exit 3); see above", "--network host --ca"],
        ),
    ],
)
def test_a_build_that_cannot_be(
    programs: Path,
    checkout: Path,
    memrepro: Memrepro,
    arguments: tuple[str, ...],
    cases: str,
    code: int,
    told: list[str],
) -> None:
    put_engine(programs, cases)
    ran = memrepro(checkout, "image", "build", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert all(words in ran.err for words in told), ran.err


def test_a_base_that_is_not_here_is_pulled(
    programs: Path, checkout: Path, memrepro: Memrepro
) -> None:
    """Inspected in vain, pulled, inspected once more."""
    put_engine(
        programs,
        f"pull*) echo > {programs}/pulled;; build*) exit 1;; "
        f'*{BASE}) [ -f {programs}/pulled ] && echo \'[{{"Id": "sha256:p"}}]\';;',
    )
    assert memrepro(checkout, "image", "build").code == 5  # only the build failed
    calls = [line for line in asked(programs) if BASE in line]
    assert calls[:3] == [f"image inspect {BASE}", f"pull {BASE}", f"image inspect {BASE}"]
    assert "--label=memrepro.base.digest=sha256:p" in calls[3]


def test_the_image_with_most_extras_is_taken_and_then_the_newest(
    programs: Path, checkout: Path, memrepro: Memrepro
) -> None:
    wanted = recipe(checkout)
    images = [
        {
            "Id": f"sha256:{name}", "Created": created, "Size": 1_000_000,
            "Config": {"Labels": {"memrepro.recipe": wanted.digest, "memrepro.extras": extras}},
        }
        for name, created, extras in (("a", "2027", ""), ("b", "2025", "x"), ("c", "2026", "x"))
    ]  # fmt: skip
    listed = f"*label=memrepro.recipe={wanted.digest}) echo sha256:a sha256:b sha256:c;;"
    put_engine(programs, f"{listed} *inspect*) echo '{json.dumps(images)}';;")
    shown = memrepro(checkout, "image", "show").out
    assert "image        sha256:c\n" in shown
    assert "extras       x\n" in shown and "size         1 MB\n" in shown


def test_an_image_that_vanished_in_between_is_none(programs: Path, checkout: Path) -> None:
    put_engine(programs, "*'image ls'*) echo sha256:a;; *inspect*) exit 1;;")
    assert find_image(find_engine(), recipe(checkout)) is None


def test_without_an_image_the_host_stands_in_unless_docker_is_demanded(
    programs: Path, checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put_engine(programs, "")
    assert choose_image(checkout, required=False) is None
    assert capfd.readouterr().err == (
        "runner: on the host, not in a container: no memrepro image is built (make image)\n"
    )
    with pytest.raises(InputError, match="no memrepro image is built"):
        choose_image(checkout, required=True)
    (programs / "docker").unlink()
    with pytest.raises(ServiceError, match="no container engine is installed"):
        choose_image(checkout, required=True)
