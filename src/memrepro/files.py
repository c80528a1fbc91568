"""Atomic, sorted, strict JSONL of records.

A line ends at a line feed and nowhere else: U+2028, U+2029 and U+0085 are ordinary characters
inside a string, so `str.splitlines` is never used. pydantic is loaded where a record is made or
refused, not before: `memrepro verify` reads JSON through here and needs none.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memrepro.errors import InputError, ServiceError

if TYPE_CHECKING:
    from pydantic import ValidationError

    from memrepro.records import Record

R = TypeVar("R", bound="Record")

BOM = b"\xef\xbb\xbf"


class _DuplicateKey(ValueError):
    """A key that stands twice in one JSON object."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise _DuplicateKey(f"key {key!r} stands twice in one object")
        value[key] = item
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def parse_json(text: str, *, where: str) -> Any:
    """Parse one JSON value strictly: no duplicate key, no NaN or infinity, no lone surrogate.

    Raises:
        InputError: the text is not such a value; names `where`.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("a lone surrogate stands in a string", where=where) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}", where=where) from None
    return value


def decode_utf8(data: bytes, *, where: str) -> str:
    """Bytes as UTF-8 text without a byte-order mark.

    Raises:
        InputError: a byte-order mark or bytes that are not UTF-8.
    """
    if data.startswith(BOM):
        raise InputError(
            "the file begins with a byte-order mark",
            where=f"{where}, line 1",
            expected="UTF-8 without BOM",
            found="EF BB BF",
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"not UTF-8: {error.reason}", where=f"{where}, line {line}") from None


def read_bytes(path: Path, *, hint: str | None = None) -> bytes:
    """A file's bytes.

    Raises:
        InputError: the file is missing, a folder or unreadable.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path), hint=hint) from None


def read_text(path: Path, *, hint: str | None = None) -> str:
    """A file's text.

    Raises:
        InputError: the file cannot be read, begins with a byte-order mark or is not UTF-8.
    """
    return decode_utf8(read_bytes(path, hint=hint), where=str(path))


def read_json(path: Path, *, hint: str | None = None) -> Any:
    """A file's one JSON value, strictly.

    Raises:
        InputError: as `read_text` and `parse_json`.
    """
    return parse_json(read_text(path, hint=hint), where=str(path))


def iter_json_lines(path: Path, *, hint: str | None = None) -> Iterator[tuple[int, Any]]:
    """Yield (line number from 1, JSON value) of a JSONL file, strictly.

    Raises:
        InputError: BOM, CRLF, an empty line, no final newline, or a line that is not strict JSON.
    """
    text = read_text(path, hint=hint)
    if not text:
        return
    lines = text.split("\n")
    unfinished = lines.pop()
    for number, line in enumerate(lines, start=1):
        where = f"{path}, line {number}"
        if line.endswith("\r"):
            raise InputError("the line ends in CRLF", where=where, expected="\\n", found="\\r\\n")
        yield number, parse_json(line, where=where)
    if unfinished:
        raise InputError(
            "the last line has no line end: the file may be cut off",
            where=f"{path}, line {len(lines) + 1}",
        )


def validate(record: type[R], value: Any, *, where: str) -> R:
    """A JSON value as a record.

    Raises:
        InputError: names `where` and the first field at fault.
    """
    from pydantic import ValidationError

    try:
        return record.model_validate_json(json.dumps(value, ensure_ascii=False))
    except ValidationError as error:
        raise _field_error(error, where) from None


def _field_error(error: "ValidationError", where: str) -> InputError:
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or "row"
    return InputError(
        str(first["msg"]), where=f"{where}, field {field}", found=repr(first["input"])[:200]
    )


def read_records(path: Path, record: type[R], *, hint: str | None = None) -> list[R]:
    """All rows of a JSONL file as records, in file order.

    Args:
        path: the file.
        record: what each row is.
        hint: what to type where the file is missing.

    Raises:
        InputError: any fault of the file, with file, line and field.
    """
    return [
        validate(record, value, where=f"{path}, line {number}")
        for number, value in iter_json_lines(path, hint=hint)
    ]


def _identity(row: "Record") -> tuple[Any, ...]:
    return tuple(getattr(row, field) for field in row.identity)


def dump_records(rows: Iterable["Record"]) -> str:
    """Rows as JSONL text, sorted by identity.

    Raises:
        ValueError: two rows share an identity, or a text holds a lone surrogate.
    """
    ordered = sorted(rows, key=_identity)
    for left, right in pairwise(ordered):
        if _identity(left) == _identity(right):
            raise ValueError(f"two rows with identity {_identity(left)}")
    return "".join(
        json.dumps(
            row.model_dump(mode="json"), ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
        + "\n"
        for row in ordered
    )


def write_records(path: Path, rows: Iterable["Record"]) -> None:
    """Write rows sorted by identity to a JSONL file, atomically."""
    write_text(path, dump_records(rows))


def dump_json(value: object) -> str:
    """A JSON value as text for people: two-space indent, final newline, no needless escapes."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def write_json(path: Path, value: object) -> None:
    """Write a JSON value as `dump_json` says, atomically."""
    write_text(path, dump_json(value))


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all: temporary file beside it, fsync, rename.

    A device or pipe, such as `/dev/stdout`, is written to: a rename would put a file in its place.

    Raises:
        ServiceError: the disk is full or the folder cannot be written; the old file stays.
    """
    data = text.encode("utf-8")
    try:
        if is_special(path):
            path.write_bytes(data)
        else:
            _replace(path, data)
    except OSError as error:
        raise ServiceError(
            f"cannot be written: {error.strerror}",
            where=str(path),
            hint="free disk space or make the folder writable, then run the same command again",
        ) from None


def is_special(path: Path) -> bool:
    """Whether a path is no place for a file: a device, a pipe, a folder, a name below /dev."""
    return path.is_relative_to("/dev") or (path.exists() and not path.is_file())


def _replace(path: Path, data: bytes) -> None:
    import tempfile  # slow to load, and only needed here

    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(temporary).unlink(missing_ok=True)
        raise


def leaves(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value of nested JSON objects that is none itself, with the keys that lead to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*place, key))
    else:
        yield place, value
