"""`data/SHA256SUMS`: the digests of every committed data and prompt file.

The format is that of `sha256sum`, sorted by path, so that `sha256sum -c data/SHA256SUMS` reads it
too. The file itself is held to the one that Git has.
"""

import os
import re
import subprocess
from pathlib import Path

from memrepro.digest import sha256_file
from memrepro.errors import InputError
from memrepro.sources.check import CRLF, Check, check_bytes

SUMS = "data/SHA256SUMS"
UPDATE = "memrepro verify --update"
_FOLDERS = (
    "data/cimemories",
    "data/sample",
    "data/retention_policy",
    "data/ledger/sample",
    "prompts",
)
_FILES = ("data/sources.toml",)
_LINE = re.compile(r"([0-9a-f]{64})  ([^\\\r\n]+)")


def committed_files(root: Path) -> list[str]:
    """The files that `data/SHA256SUMS` covers, sorted; `.gitignore` files are Git's and DVC's."""
    found = [file for file in _FILES if (root / file).is_file()]
    for folder in _FOLDERS:
        for place, _, names in os.walk(root / folder):
            base = Path(place).relative_to(root).as_posix()
            found += [f"{base}/{name}" for name in names if name != ".gitignore"]
    return sorted(found)


def update_sums(root: Path) -> int:
    """Write `data/SHA256SUMS` anew and return how many files it covers.

    Raises:
        InputError: a file name that the format cannot hold.
        ServiceError: the file cannot be written.
    """
    from memrepro.files import write_text

    files = committed_files(root)
    for file in files:
        if not _LINE.fullmatch(f"{'0' * 64}  {file}"):
            raise InputError("the file name holds a backslash or a line end", where=repr(file))
    write_text(root / SUMS, "".join(f"{sha256_file(root / file)}  {file}\n" for file in files))
    return len(files)


def parse_sums(text: str) -> tuple[dict[str, str], list[str]]:
    """Read a sums file: digests by path, and what is wrong with its lines."""
    digests: dict[str, str] = {}
    faults = [] if text.endswith("\n") or not text else ["the last line has no line end"]
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else [], start=1):
        match = _LINE.fullmatch(line)
        if not match:
            why = "ends in CRLF" if line.endswith("\r") else "is not `<sha256>  <path>`"
            faults.append(f"line {number} {why}")
            match = _LINE.fullmatch(line.rstrip("\r"))
        elif match[2] in digests:
            faults.append(f"line {number} names {match[2]} again")
        if match:
            digests.setdefault(match[2], match[1])
    if list(digests) != sorted(digests):
        faults.append("the lines are not sorted by path")
    return digests, faults


def check_committed(root: Path) -> list[Check]:
    """Check `data/SHA256SUMS` itself, and every committed file against it, both ways."""
    try:
        data = (root / SUMS).read_bytes()
    except OSError as error:
        return [Check("sums", SUMS, False, None, None, f"{error.strerror}; run `{UPDATE}`")]
    # Asked for before the hashing, so that Git works meanwhile.
    head = _start_git(root, f"HEAD:./{SUMS}")
    digests, faults = parse_sums(data.decode("utf-8", errors="replace"))
    checks = [Check("sums", SUMS, False, None, None, fault) for fault in faults]
    checks += [check_bytes("committed", root, file, digest) for file, digest in digests.items()]
    checks += [
        Check("committed", file, False, "an entry in " + SUMS, "none", f"unlisted; run `{UPDATE}`")
        for file in committed_files(root)
        if file not in digests
    ]
    checks.append(_check_head(root, data, head))
    return checks


def _start_git(root: Path, blob: str) -> "subprocess.Popen[bytes] | None":
    command = ["git", "-c", "safe.directory=*", "-C", str(root), "cat-file", "blob", blob]
    try:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None  # no Git here: nothing to compare with


def _blob(process: "subprocess.Popen[bytes] | None") -> bytes | None:
    if process is None:
        return None
    output = process.communicate()[0]
    return output if process.returncode == 0 else None


def _check_head(root: Path, data: bytes, process: "subprocess.Popen[bytes] | None") -> Check:
    """Hold the sums to `HEAD`; a change that is staged is on its way there and passes.

    Without that, no check that runs before a commit could ever pass after `--update`.
    """
    head = _blob(process)
    if head is None or head == data:
        return Check("sums_head", SUMS, True)
    if _blob(_start_git(root, f":./{SUMS}")) == data:
        return Check("sums_head", SUMS, True, cause="differs from HEAD, staged for commit")
    if head == data.replace(b"\r\n", b"\n"):
        return Check("sums_head", SUMS, False, "as in HEAD", "another", CRLF)
    old, new = set(head.split(b"\n")), set(data.split(b"\n"))
    lines = sorted(line[66:].decode("utf-8", "replace") for line in old ^ new)
    names = ", ".join(dict.fromkeys(lines)) or "the order of lines"
    cause = f"entries that differ from HEAD: {names}; if meant: git add {SUMS}"
    return Check("sums_head", SUMS, False, "as in HEAD", "another", cause)
