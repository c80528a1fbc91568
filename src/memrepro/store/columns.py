"""The DuckDB columns of a record, and what its values must be, both from its JSON Schema.

The records are the only list of columns; their schemas, under `schema/`, are what DuckDB is told.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

_TYPES = {"integer": "BIGINT", "number": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN"}
# A value of any kind, as `from_json` names it.
ANY = "JSON"

Schema = Mapping[str, Any]


@cache
def structure(record: type[BaseModel]) -> dict[str, Any]:
    """A record's fields in order, each with its type, in the form that DuckDB's `from_json` takes.

    A list is a list of one type, a record within the record a dict of its own.
    """
    schema = record.model_json_schema()
    return {name: _structure(of, schema) for name, of in schema["properties"].items()}


def columns(record: type[BaseModel]) -> dict[str, str]:
    """A record's columns in field order, each with its SQL type."""
    return {name: _sql(of) for name, of in structure(record).items()}


@cache
def conditions(record: type[BaseModel]) -> str:
    """A SQL condition on rows of the right types: that the record takes their values.

    Null only where the record says so; bounds, enumerations and patterns.
    """
    schema = record.model_json_schema()
    parts = [_condition(f'"{name}"', of, schema) for name, of in schema["properties"].items()]
    return " AND ".join(parts)


def _structure(of: Schema, schema: Schema) -> Any:
    of, _ = _resolved(of, schema)
    if of.get("type") == "array":
        return [_structure(of["items"], schema)]
    if "properties" in of:
        return {name: _structure(one, schema) for name, one in of["properties"].items()}
    return "TIMESTAMP" if of.get("format") == "date-time" else _TYPES.get(of.get("type", ""), ANY)


def _sql(of: Any) -> str:
    if isinstance(of, list):
        return f"{_sql(of[0])}[]"
    if isinstance(of, dict):
        fields = ", ".join(f'"{name}" {_sql(one)}' for name, one in of.items())
        return f"STRUCT({fields})"
    return str(of)


def _resolved(of: Schema, schema: Schema) -> tuple[Schema, bool]:
    """A field's own schema, without references, and whether it may be null."""
    kinds = [one for one in of.get("anyOf", [of]) if one.get("type") != "null"]
    (kind,) = kinds
    if "$ref" in kind:
        kind = schema["$defs"][kind["$ref"].rpartition("/")[2]]
    return kind, len(kinds) < len(of.get("anyOf", kinds))


def _condition(value: str, of: Schema, schema: Schema) -> str:
    kind, nullable = _resolved(of, schema)
    parts = list(_parts(value, kind, schema))
    if not nullable:
        return " AND ".join([f"{value} IS NOT NULL", *parts])
    return f"({value} IS NULL OR {' AND '.join(parts)})" if parts else "true"


def _parts(value: str, kind: Schema, schema: Schema) -> Iterator[str]:
    if "minimum" in kind:
        yield f"{value} >= {kind['minimum']}"
    if "maximum" in kind:
        yield f"{value} <= {kind['maximum']}"
    if "pattern" in kind:
        yield f"regexp_matches({value}, {text(kind['pattern'])})"
    if "enum" in kind or "const" in kind:
        allowed = kind.get("enum") or [kind["const"]]
        yield f"{value} IN ({', '.join(text(one) for one in allowed)})"
    if kind.get("type") == "array":
        inner = _condition("one", kind["items"], schema)
        yield f"len(list_filter({value}, lambda one: NOT ({inner}))) = 0"
    for name, one in kind.get("properties", {}).items():
        yield _condition(f'{value}."{name}"', one, schema)


def text(value: str) -> str:
    """A text as a SQL literal."""
    return "'" + value.replace("'", "''") + "'"
