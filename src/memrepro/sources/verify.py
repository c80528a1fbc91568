"""Check every fetched, committed and generated file against its digest. Reads, never writes."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from memrepro.errors import InputError
from memrepro.sources.check import Check, Report, check_bytes
from memrepro.sources.pins import RAW, SOURCES, Source, load_pins
from memrepro.sources.sums import check_committed

Protocol = Callable[[Path], Iterable[Check]]

_UPSTREAM_SUMS = "inmind/benchmark/dataset/SHA256SUMS"
_UPSTREAM_MANIFEST = "inmind/evaluation/background/manifest.json"
_LOCKS = ("dvc.lock", "full/dvc.lock")

# The form in which DVC writes its lock; anything else is left to the YAML parser.
_OUTS = re.compile(r"^    outs:\n((?:    - .*\n(?:      .*\n)*)+)", re.MULTILINE)
_OUT = re.compile(
    r"    - path: ([\w./@-]+)\n      hash: md5\n      md5: ([0-9a-f]{32}(?:\.dir)?)\n"
    r"      size: \d+\n(?:      nfiles: \d+\n)?(?:      isexec: true\n)?"
)


def verify(
    root: Path,
    dataset: str | None = None,
    *,
    protocols: Sequence[Protocol] = (),
    generated: bool = True,
) -> Report:
    """Check all that the project pins.

    Args:
        root: the project root.
        dataset: `full` demands every required source; a fetched file is checked whenever there.
        protocols: further checks over the data, handed in by the caller: each benchmark's own.
        generated: also hold stage outputs to what `dvc.lock` and `full/dvc.lock` recorded.
    """
    checks = check_committed(root)
    try:
        pins = load_pins(root)
    except InputError as error:
        checks.append(Check("sources", SOURCES, False, None, None, f"{error.where}: {error.what}"))
        pins = ()
    checks += _fetched(root, pins, demanded=dataset == "full")
    checks += _upstream(root, pins)
    if generated:
        checks += _generated(root)
    for protocol in protocols:
        checks += protocol(root)
    return Report(tuple(checks))


def _fetched(root: Path, pins: Iterable[Source], *, demanded: bool) -> Iterable[Check]:
    for pin in pins:
        if (root / pin.file).exists():
            yield check_bytes("fetched", root, pin.file, pin.sha256)
        elif demanded and pin.required:
            yield Check(
                "fetched", pin.file, False, pin.sha256, None, "missing; run `memrepro fetch`"
            )


def _upstream(root: Path, pins: Iterable[Source]) -> Iterable[Check]:
    """Hold what the authors publish as their digests to our pins."""
    digests = {pin.path: pin.sha256 for pin in pins}
    if (root / RAW / _UPSTREAM_SUMS).is_file():
        text = (root / RAW / _UPSTREAM_SUMS).read_text("utf-8", errors="replace")
        for line in text.split("\n"):
            if line.strip():
                digest, _, name = line.partition("  ")
                yield _published(_UPSTREAM_SUMS, f"inmind/{name.strip()}", digest, digests)
    if (root / RAW / _UPSTREAM_MANIFEST).is_file():
        yield from _manifest(root, digests)


def _manifest(root: Path, digests: dict[str, str]) -> Iterable[Check]:
    from memrepro.files import read_json

    file = f"{RAW}/{_UPSTREAM_MANIFEST}"
    try:
        manifest = read_json(root / file)
    except InputError as error:
        yield Check("upstream", file, False, None, None, f"{error.where}: {error.what}")
        return
    manifest = manifest if isinstance(manifest, dict) else {}
    name = f"{_UPSTREAM_MANIFEST.rpartition('/')[0]}/{manifest.get('file')}"
    yield _published(_UPSTREAM_MANIFEST, name, str(manifest.get("sha256")), digests)


def _published(source: str, path: str, digest: str, digests: dict[str, str]) -> Check:
    pinned = digests.get(path)
    if pinned == digest:
        return Check("upstream", f"{RAW}/{source}", True)
    cause = f"what it publishes for {path} is not our pin in {SOURCES}"
    return Check("upstream", f"{RAW}/{source}", False, pinned or "a pin", digest, cause)


def _generated(root: Path) -> Iterable[Check]:
    for lock in _LOCKS:
        for path, digest in _lock_outs(root / lock):
            if digest.endswith(".dir"):
                yield from _generated_folder(root, path, digest)
            elif (root / path).is_file():
                check = check_bytes("generated", root, path, digest, algorithm="md5")
                yield check if check.ok else check._replace(cause=check.cause or _stale(lock))


def _stale(lock: str) -> str:
    return f"not what {lock} recorded; run `dvc repro`"


def _generated_folder(root: Path, path: str, digest: str) -> Iterable[Check]:
    """Files of an output folder, where DVC's own listing of it lies in its cache."""
    listing = root / ".dvc/cache/files/md5" / digest[:2] / digest[2:]
    if not (root / path).is_dir() or not listing.is_file():
        return
    for entry in json.loads(listing.read_text("utf-8")):
        file = f"{path}/{entry['relpath']}"
        check = check_bytes("generated", root, file, entry["md5"], algorithm="md5")
        yield check if check.ok else check._replace(cause=check.cause or _stale("dvc.lock"))


def _lock_outs(path: Path) -> list[tuple[str, str]]:
    try:
        text = path.read_text("utf-8")
    except OSError:
        return []  # nothing was generated yet
    found: list[tuple[str, str]] = []
    for block in _OUTS.findall(text):
        outs = _OUT.findall(block)
        if len(outs) != block.count("    - path: "):
            return _lock_outs_yaml(text)
        found += outs
    return found if len(_OUTS.findall(text)) == text.count("outs:") else _lock_outs_yaml(text)


def _lock_outs_yaml(text: str) -> list[tuple[str, str]]:
    import yaml

    lock: Any = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return [
        (out["path"], out["md5"])
        for stage in (lock.get("stages") or {}).values()
        for out in stage.get("outs", [])
        if "md5" in out
    ]
