"""`memrepro doctor`: what a person who helps would ask first. No key's value is ever read out."""

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from memrepro import __version__
from memrepro.cli.check import stale_stages
from memrepro.cli.project import find_root
from memrepro.cli.sources import MIRROR
from memrepro.errors import MemreproError
from memrepro.params import DATASETS, Dataset, load_params

# Name of a fact to what is so.
Facts = dict[str, str]


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the facts as JSON.")] = False,
) -> None:
    """Show versions, engine, disk, mirror, which keys are set, and whether the checkout is whole.

    Exits 0 whatever it finds: it describes, `memrepro verify` judges. Keys are told to be set or
    not, and never shown.
    """
    sections = {"versions": _versions()}
    root, sections["checkout"] = _checkout()
    if root is not None:
        sections["containers"] = _containers(root)
        sections["keys"] = _keys(root)
    sections["surroundings"] = _surroundings(root or Path.cwd())
    typer.echo(json.dumps(sections, ensure_ascii=True, indent=2) if as_json else _text(sections))


def _text(sections: dict[str, Facts]) -> str:
    lines = []
    for title, facts in sections.items():
        lines += [title, *(f"  {name:16} {value}" for name, value in facts.items())]
    return "\n".join(lines)


def _versions() -> Facts:
    return {
        "memrepro": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "dvc": _installed("dvc"),
        "git": _git(),
        "duckdb": _installed("duckdb"),
        "openai": _installed("openai"),
        "onnxruntime": _installed("onnxruntime"),
        "mem0ai": _installed("mem0ai"),
    }


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _git() -> str:
    try:
        done = subprocess.run(["git", "--version"], capture_output=True, text=True)
    except OSError as error:
        return f"cannot be run: {error.strerror}"
    return done.stdout.strip().removeprefix("git version ") or "does not answer"


def _checkout() -> tuple[Path | None, Facts]:
    """The project, if there is one, and what of it is there."""
    try:
        root = find_root()
    except MemreproError as error:
        return None, {"project": error.what}
    return root, {
        "commit": _commit(root),
        "fetched": _told(root, _fetched),
        **{f"{dataset} params": _told(root, partial(_params, dataset)) for dataset in DATASETS},
        "locks": _told(root, _locks),
    }


def _told(root: Path, ask: Callable[[Path], str]) -> str:
    """An answer, or in its place what is wrong, in a line and without where the project lies."""
    try:
        return ask(root)
    except MemreproError as error:
        text = f"{error.where}: {error.what}" if error.where else error.what
        return text.replace(f"{root}/", "").replace(str(root), ".").splitlines()[0]


def _commit(root: Path) -> str:
    def git(*arguments: str) -> str:
        command = ["git", "-c", "safe.directory=*", "-C", str(root), *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    if shutil.which("git") is None or not (commit := git("rev-parse", "--short=10", "HEAD")):
        return "not a Git clone"
    changed = len(git("status", "--porcelain").splitlines())
    shallow = ", shallow" if git("rev-parse", "--is-shallow-repository") == "true" else ""
    return f"{commit}, {changed} files changed{shallow}"


def _fetched(root: Path) -> str:
    from memrepro.sources.pins import load_pins

    pins = [pin for pin in load_pins(root) if pin.required]
    there = sum((root / pin.file).is_file() for pin in pins)
    return f"{there} of {len(pins)} files of the papers' data"


def _params(dataset: Dataset, root: Path) -> str:
    systems = load_params(root, dataset).systems
    return ", ".join(f"{name} {len(rows)} systems" for name, rows in systems)


def _locks(root: Path) -> str:
    stale = stale_stages(root)
    return f"{len(stale)} stages stale, e.g. {stale[0]}" if stale else "in step"


def _containers(root: Path) -> Facts:
    return {
        "runner": os.environ.get("MEMREPRO_RUNNER", "auto"),
        "engine": _told(root, _engine),
        "image": _told(root, _image),
    }


def _engine(_: Path) -> str:
    from memrepro.runner.engine import find_engine

    found = find_engine()
    return f"{found.kind} {found.version}"


def _image(root: Path) -> str:
    from memrepro.runner.image import current_image

    return current_image(root).id


def _keys(root: Path) -> Facts:
    """Whether the variables that the params name are set; their values stay where they are."""
    names: set[str] = set()
    for dataset in DATASETS:
        try:
            models = load_params(root, dataset).models.values()
        except MemreproError:
            continue  # said under checkout
        names.update(model.api_key_env for model in models if model.api_key_env)
    return {name: "set" if os.environ.get(name) else "not set" for name in sorted(names)}


def _surroundings(folder: Path) -> Facts:
    free = shutil.disk_usage(folder).free
    return {"disk": f"{free / 1e9:.1f} GB free", "mirror": _mirror(), "cores": str(os.cpu_count())}


def _mirror() -> str:
    """An address can hold a password, a path a person's name: only the kind is told."""
    mirror = os.environ.get(MIRROR)
    if not mirror:
        return "none"
    if "://" in mirror:
        return "an address"
    return "a folder" if Path(mirror).is_dir() else "a folder that is not there"


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(doctor)
