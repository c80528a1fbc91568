"""A commit's outputs of stages: Git does not hold them, DVC does, in its cache or in a remote."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

# Puts a file of the project into the folder of a side; where it cannot, says why.
Bring = Callable[[str], str | None]


class _Opened(NamedTuple):
    """DVC's files at a commit, whether a remote is behind them, and what of an absent one is said.

    Its type is not named, so that DVC is imported only where it is used.
    """

    files: Any
    remote: bool
    absent: str


@contextmanager
def open_outputs(root: Path, commit: str, folder: Path) -> Iterator[Bring]:
    """A function that copies a file below a folder, as DVC has it at a commit.

    Its first call opens DVC, which takes seconds. Nothing that DVC or a remote's library raises
    comes through; a remote that failed is not asked again, the cache still is.

    Args:
        root: the project; nothing in it is written to.
        commit: the commit's full name.
        folder: where files go, under their own names.
    """
    with ExitStack() as stack:
        opened: list[_Opened] = []

        def bring(file: str) -> str | None:
            failure = ""
            while True:
                try:
                    if not opened:
                        opened.append(_open(stack, root, commit, failure))
                    return _copy(opened[0], file, folder / file)
                except Exception as error:  # of DVC, of Git, of any kind of remote
                    failure = " ".join(str(error).split())
                    if _is_missing_dvc(error):
                        return 'is not read: DVC is missing; pip install "memrepro[pipeline]"'
                    if not opened or not opened[0].remote:
                        return f"is not read: DVC says: {failure}"
                    opened.clear()

        yield bring


def _is_missing_dvc(error: Exception) -> bool:
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    return name is not None and name.partition(".")[0] == "dvc"


def _open(stack: ExitStack, root: Path, commit: str, failure: str) -> _Opened:
    """DVC's files at a commit, behind them the remote of the working tree unless that failed.

    The commit's own configuration will not do: the remote may have come later, and DVC takes a
    relative path in it for one below `/`. Nor will DVC's opening of a project by its path, which
    opens the working tree first, and makes folders in it.
    """
    from dvc.config import Config
    from dvc.fs import DVCFileSystem, GitFileSystem
    from dvc.repo import Repo
    from dvc.scm import SCM

    own = Config(str(root / ".dvc"))
    name = own["core"].get("remote") or ""
    scm = SCM(str(root))
    inner = root.resolve().relative_to(Path(scm.root_dir).resolve())
    repo = Repo(
        root_dir=(Path("/") / inner).as_posix(),
        fs=GitFileSystem(scm=scm, rev=commit),
        scm=scm,
        config={
            "core": {"remote": "" if failure else name},
            "remote": own["remote"],
            "cache": own["cache"],
        },
    )
    if failure:
        absent = f"is not in the DVC cache, and the remote {name} fails: {failure}; dvc remote list"
    elif name:
        absent = (
            f"is neither in the DVC cache nor pushed to the remote {name}; "
            "run dvc push --all-commits where it was made"
        )
    else:
        absent = (
            "is neither in the DVC cache nor pushed to a remote, as none is set up; where it was "
            "made, run dvc remote add --local -d NAME URL and dvc push --all-commits"
        )
    files = DVCFileSystem(repo=stack.enter_context(repo))
    return _Opened(files, bool(name) and not failure, absent)


def _copy(opened: _Opened, file: str, target: Path) -> str | None:
    try:
        content = opened.files.read_bytes(f"/{file}")
    except Exception as error:
        # The listing of a folder that is an output can be what is absent: DVC wraps that.
        if not isinstance(error.__cause__ or error, FileNotFoundError):
            raise
        return opened.absent
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return None
