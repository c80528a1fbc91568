"""Input files held to their pins before a stage reads them."""

from collections.abc import Iterable
from pathlib import Path

from memrepro.errors import CheckFailed
from memrepro.records import VerifiedFile
from memrepro.sources.check import check_bytes
from memrepro.sources.pins import load_pins
from memrepro.sources.sums import SUMS, UPDATE, parse_sums


def fetched_and_committed(root: Path) -> dict[str, str]:
    """The digests of the sources' pins and of the committed files, by path."""
    pins = {pin.file: pin.sha256 for pin in load_pins(root)}
    return pins | committed(root)


def committed(root: Path) -> dict[str, str]:
    """The digests of the committed data and prompt files, by path."""
    return parse_sums((root / SUMS).read_text("utf-8"))[0]


def hold_to_pins(root: Path, files: Iterable[str], pins: dict[str, str]) -> list[VerifiedFile]:
    """Each file with the digest that it was held to.

    Raises:
        CheckFailed: a file is not what its pin says, or has none.
    """
    verified = []
    for file in files:
        check = check_bytes("pin", root, file, pins.get(file, "a pin"))
        if not check.ok:
            raise CheckFailed(
                check.cause or "the file is not what its pin says",
                where=file,
                expected=check.expected,
                found=check.found,
                hint="memrepro verify" if file in pins else UPDATE,
            )
        verified.append(VerifiedFile(file=file, sha256=pins[file]))
    return verified
