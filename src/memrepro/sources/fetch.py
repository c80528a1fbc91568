"""Fetch pinned files: from a mirror or their origins, held to size and SHA-256 before they count.

A download goes to `data/raw/.partial/`, is checked there and only then moved into place, so that
a file below `data/raw` is whole or absent, and a wrong file already there stays until the right
one has been verified.
"""

import contextlib
import errno
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

import pooch
from pooch.utils import get_logger

from memrepro.digest import sha256_file
from memrepro.errors import InputError, ServiceError
from memrepro.sources.pins import RAW, Source, load_pins

PARTIAL = f"{RAW}/.partial"
_TIMEOUT = 30  # seconds without a byte
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
Downloader = Callable[[str, str, object], None]


class Fetched(NamedTuple):
    """What became of one source: where it came from (None: it was there), what was refused."""

    source: Source
    origin: str | None
    refused: tuple[str, ...]


class _Refused(Exception):
    """An origin did not yield the pinned bytes."""


def fetch(
    root: Path,
    dataset: str = "full",
    mirror: str | None = None,
    groups: Collection[str] | None = None,
    progress: bool = False,
) -> list[Fetched]:
    """Fetch the required sources of a dataset, or those of the named groups.

    Args:
        root: the project root.
        dataset: which sources; `full`.
        mirror: folder or URL asked before the origins, by each source's `path`.
        groups: groups to fetch instead of the required ones.
        progress: draw a progress bar.

    Raises:
        InputError: no source of that dataset or group.
        ServiceError: some source could not be had from any origin, or the disk refused. All
            others are fetched first.
    """
    sources = _select(load_pins(root), dataset, groups)
    results: list[Fetched] = []
    missing: list[str] = []
    try:
        for source in sources:
            result = _fetch_one(root, source, mirror, progress)
            results.append(result)
            if result.origin is None and not _is_right(root / source.file, source):
                missing += [f"{source.name} ({source.file})", *map("  {}".format, result.refused)]
    finally:
        with contextlib.suppress(OSError):
            (root / PARTIAL).rmdir()
    if missing:
        count = sum(not line.startswith("  ") for line in missing)
        raise ServiceError(
            f"{count} of {len(sources)} sources could not be fetched; nothing of them was kept",
            found="\n    ".join(["", *missing]),
            hint="check the network, or give a folder or URL that has them: "
            "memrepro fetch --mirror DIR_OR_URL",
        )
    return results


def _select(pins: tuple[Source, ...], dataset: str, groups: Collection[str] | None) -> list[Source]:
    known = sorted({pin.group for pin in pins if pin.dataset == dataset})
    if not known:
        raise InputError(f"no source of dataset {dataset!r}", hint="memrepro fetch --dataset full")
    if unknown := sorted(set(groups or ()) - set(known)):
        raise InputError(f"no group {unknown[0]!r}", expected=", ".join(known), found=unknown[0])
    return [
        pin
        for pin in pins
        if pin.dataset == dataset and (pin.group in groups if groups else pin.required)
    ]


def _is_right(path: Path, source: Source) -> bool:
    return path.is_file() and sha256_file(path) == source.sha256


def _fetch_one(root: Path, source: Source, mirror: str | None, progress: bool) -> Fetched:
    target = root / source.file
    if _is_right(target, source):
        return Fetched(source, None, ())
    refused: list[str] = []
    first = [f"{mirror.rstrip('/')}/{quote(source.path)}"] if mirror else []
    for origin in (*first, *source.origins):
        with _disk(root, source):
            try:
                _from_origin(root, source, origin, target, progress)
                return Fetched(source, origin, tuple(refused))
            except _Refused as reason:
                refused.append(f"{origin}: {reason}")
            except OSError as error:  # requests' errors too
                if error.errno in _DISK:
                    raise
                refused.append(f"{origin}: {error.strerror or error}")
    return Fetched(source, None, tuple(refused))


@contextlib.contextmanager
def _disk(root: Path, source: Source) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ServiceError(
            f"cannot be written: {error.strerror}; nothing half-written was kept",
            where=source.file,
            hint=f"free {source.size} bytes or make {root / RAW} writable, "
            "then run the same command again",
        ) from error


def _from_origin(root: Path, source: Source, origin: str, target: Path, progress: bool) -> None:
    """Get one source from one origin into place.

    Raises:
        _Refused: the origin has not got the pinned bytes.
        OSError: the origin or the disk failed.
    """
    get_logger().setLevel("WARNING")
    address, _, member = origin.partition("#")
    with _workspace(root, target) as folder:
        try:
            pooch.retrieve(
                address,
                known_hash=f"sha256:{source.sha256}",
                fname=target.name,
                path=folder,
                downloader=_checked(source, address, member, progress),
            )
            (folder / target.name).chmod(0o644)
            (folder / target.name).replace(target)
        except (ValueError, KeyError, zipfile.BadZipFile, tarfile.TarError) as error:
            raise _Refused(str(error)) from error


@contextlib.contextmanager
def _workspace(root: Path, target: Path) -> Iterator[Path]:
    """A folder on the target's own file system, so that the last move is atomic."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        (root / PARTIAL).mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=root / PARTIAL))
    except OSError as error:  # whatever it is, it is the disk's and not an origin's
        raise OSError(errno.EROFS, error.strerror or str(error)) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _checked(source: Source, address: str, member: str, progress: bool) -> Downloader:
    """A pooch downloader that unpacks a member and holds the result to size and digest."""
    bare = _transport(address, progress)

    def download(url: str, output: str, pooch_: object) -> None:
        place = Path(output)
        bare(url, output, pooch_)
        if member:
            _hold(place, source.archive_sha256, None)
            _unpack(place, member)
        _hold(place, source.sha256, source.size)

    return download


def _hold(path: Path, sha256: str | None, size: int | None) -> None:
    have = path.stat().st_size
    found = sha256_file(path)
    if sha256 is not None and found != sha256:
        sizes = "" if size is None else f" ({size} bytes)"
        raise _Refused(f"expected {sha256}{sizes}, got {found} ({have} bytes); discarded")
    if size is not None and have != size:
        raise _Refused(f"expected {size} bytes, got {have}; discarded")


def _transport(address: str, progress: bool) -> Downloader:
    scheme = urlsplit(address).scheme
    if scheme in ("http", "https"):
        web: Downloader = pooch.HTTPDownloader(progressbar=progress, timeout=_TIMEOUT)
        return web
    return _from_index if scheme == "pypi" else _from_folder


def _from_folder(url: str, output: str, _: object) -> None:
    shutil.copyfile(unquote(url.removeprefix("file://")), output)


def _from_index(url: str, output: str, _: object) -> None:
    """Let pip fetch a wheel, from whatever index the user's pip is set to."""
    spec = url.removeprefix("pypi:")
    with tempfile.TemporaryDirectory(dir=Path(output).parent) as folder:
        options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet"]
        command = [sys.executable, "-m", "pip", "download", *options, "-d", folder, spec]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            lines = done.stderr.strip().split("\n")
            raise _Refused(f"pip download: {lines[-1] or 'no wheel'}")
        wheels[0].replace(output)


def _unpack(archive: Path, member: str) -> None:
    """Put one member in the place of its archive."""
    part = archive.with_name(archive.name + ".member")
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as box, box.open(member) as inner, part.open("wb") as outer:
            shutil.copyfileobj(inner, outer)
    else:
        with tarfile.open(archive) as tar:
            stream = tar.extractfile(member)
            if stream is None:
                raise _Refused(f"{member} is no file in the archive")
            with part.open("wb") as outer:
                shutil.copyfileobj(stream, outer)
    part.replace(archive)
