"""Canonical JSON, and SHA-256 of values, files and trees."""

import hashlib
import json
from pathlib import Path


def canonical_json(value: object) -> str:
    """One text for one JSON value: sorted keys, no white space, no escapes beyond JSON's own.

    Raises:
        ValueError: the value holds NaN or an infinity, which JSON cannot say.
        TypeError: the value is no JSON value.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def sha256_text(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, in hex."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def sha256_value(value: object) -> str:
    """SHA-256 of a value's canonical JSON, in hex."""
    return sha256_text(canonical_json(value))


def seed_of(*identity: object) -> int:
    """A seed for a random generator from a row's identity, so that adding a row moves no other.

    Args:
        identity: JSON values: the seed of the params, and what tells the row from every other.
    """
    return int(sha256_value(identity), 16)


def digest_file(path: Path, algorithm: str) -> str:
    """Digest of a file's bytes by an algorithm that `hashlib` knows, in hex.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    return digest_file(path, "sha256")


def sha256_tree(root: Path) -> str:
    """SHA-256 over the sorted relative paths and file digests below a folder, in hex."""
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return sha256_value([[name, sha256_file(root / name)] for name in names])
