"""`data/sources.toml`: the pin of every outside file."""

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from memrepro.errors import InputError

SOURCES = "data/sources.toml"
RAW = "data/raw"


class Source(NamedTuple):
    """One outside file: where it lies below `data/raw`, where it comes from, what it must be."""

    name: str
    dataset: str
    group: str
    required: bool
    path: str
    origins: tuple[str, ...]
    size: int
    sha256: str
    licence: str
    citation: str
    archive_sha256: str | None = None

    @property
    def file(self) -> str:
        """Its path below the project root."""
        return f"{RAW}/{self.path}"


_TYPES = {"required": bool, "origins": list, "size": int}


def load_pins(root: Path) -> tuple[Source, ...]:
    """Read and check the pins of a project.

    Raises:
        InputError: the file is missing, no TOML, or a source has a missing, unknown or wrong field.
    """
    try:
        data = tomllib.loads((root / SOURCES).read_bytes().decode("utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=SOURCES) from None
    except ValueError as error:  # TOML and UTF-8 faults alike
        raise InputError(f"not valid TOML: {error}", where=SOURCES) from None
    tables = data.get("source")
    if not isinstance(tables, list) or not tables:
        raise InputError("holds no [[source]] table", where=SOURCES)
    pins = tuple(_source(number, table) for number, table in enumerate(tables, start=1))
    for field in ("name", "path"):
        values = [getattr(pin, field) for pin in pins]
        for value in values:
            if values.count(value) > 1:
                raise InputError(f"two sources with {field} {value!r}", where=SOURCES)
    return pins


def _source(number: int, table: Any) -> Source:
    if not isinstance(table, dict):
        raise InputError("is no table", where=f"{SOURCES}, source {number}")
    where = f"{SOURCES}, source {number} ({table.get('name', 'unnamed')})"
    for field in Source._fields:
        kind = _TYPES.get(field, str)
        if field not in table:
            if field in Source._field_defaults:
                continue
            raise InputError("the field is missing", where=f"{where}, field {field}")
        if type(table[field]) is not kind:
            raise InputError(
                "wrong type",
                where=f"{where}, field {field}",
                expected=kind.__name__,
                found=repr(table[field]),
            )
    if unknown := sorted(set(table) - set(Source._fields)):
        raise InputError(f"unknown field {unknown[0]!r}", where=where)
    origins = table["origins"]
    if not origins or not all(type(origin) is str for origin in origins):
        raise InputError("must be a list of addresses", where=f"{where}, field origins")
    _check_path(table["path"], where)
    for field in ("sha256", "archive_sha256"):
        value = table.get(field, "0" * 64)
        if len(value) != 64 or set(value) - set("0123456789abcdef"):
            raise InputError("is no SHA-256 in hex", where=f"{where}, field {field}", found=value)
    return Source(**{**table, "origins": tuple(origins)})


def _check_path(path: str, where: str) -> None:
    parts = path.split("/")
    if "\\" in path or any(part in ("", ".", "..") for part in parts):
        raise InputError(
            "must be a relative path with / and without ..",
            where=f"{where}, field path",
            found=repr(path),
        )
