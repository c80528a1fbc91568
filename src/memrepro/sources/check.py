"""A check's outcome, and the one check most are made of: do these bytes have this digest?"""

import hashlib
from pathlib import Path
from typing import NamedTuple

from memrepro.digest import digest_file

CRLF = "CRLF line ends: with LF the digest is right (git config core.autocrlf false, check out)"


class Check(NamedTuple):
    """One thing that was looked at. `file` is relative to the project root."""

    name: str
    file: str
    ok: bool
    expected: str | None = None
    found: str | None = None
    cause: str | None = None


class Report(NamedTuple):
    """All checks of one `verify`, in the order made."""

    checks: tuple[Check, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks whose answer is no."""
        return tuple(check for check in self.checks if not check.ok)

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(check.ok for check in self.checks)


def check_bytes(
    name: str, root: Path, file: str, expected: str, *, algorithm: str = "sha256"
) -> Check:
    """Compare a file's digest with the expected one; say `missing`, or CRLF where that is why."""
    path = root / file
    try:
        found = digest_file(path, algorithm)
    except FileNotFoundError:
        return Check(name, file, False, expected, None, "missing")
    except OSError as error:
        return Check(name, file, False, expected, None, f"cannot be read: {error.strerror}")
    if found == expected:
        return Check(name, file, True)
    unix = path.read_bytes().replace(b"\r\n", b"\n")
    crlf = hashlib.new(algorithm, unix).hexdigest() == expected
    return Check(name, file, False, expected, found, CRLF if crlf else None)
