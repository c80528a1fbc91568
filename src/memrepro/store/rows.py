"""JSONL of records as typed tables, read as strictly as `files.read_records` reads it."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import duckdb

from memrepro.errors import InputError
from memrepro.files import BOM, read_bytes, read_records
from memrepro.records import Record
from memrepro.store.columns import ANY, columns, conditions, structure, text

_HINT = "dvc repro"


def load_jsonl(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    files: Sequence[Path],
    record: type[Record],
) -> None:
    """Create a table of records from JSONL files, every column's type given and none guessed.

    DuckDB alone would take 1.5 for 2, 1 for a text, and a line without a key. So a row counts
    where, written again, it is its very line, and fits the record's bounds. Where one does not,
    Python's reader says what is wrong, or takes it: keys in another order are no fault. The two
    readers agree on every file.

    Raises:
        InputError: a file is missing or a row does not fit; names file, line and field.
    """
    expected = _count_lines(files)
    if files and expected is not None and ANY not in columns(record).values():
        listed = ", ".join(text(str(file)) for file in files)
        try:
            _create(connection, table, f"read_ndjson_objects([{listed}])", record, checked=True)
            query = f"SELECT count(*) FROM {table} WHERE {conditions(record)}"
            if connection.execute(query).fetchone() == (expected,):
                return
        except duckdb.Error:
            pass  # Python's reader says it better
    _load_in_python(connection, table, files, record)


def _count_lines(files: Sequence[Path]) -> int | None:
    """How many lines the files have; None where their ends are not as they should be."""
    total = 0
    for file in files:
        data = read_bytes(file, hint=_HINT)
        if data.startswith(BOM) or b"\r" in data or (data and not data.endswith(b"\n")):
            return None
        total += data.count(b"\n")
    return total


def _create(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    lines: str,
    record: type[Record],
    *,
    checked: bool,
    **parameters: object,
) -> None:
    """A table from a relation of JSON; `checked` leaves out what is not written as its line was."""
    reader = "from_json" if checked else "from_json_strict"
    same = "to_json(row)::VARCHAR = json::VARCHAR" if checked else "true"
    connection.execute(
        f"CREATE OR REPLACE TABLE {table} AS SELECT unnest(row) FROM "
        f"(SELECT json, {reader}(json, {text(json.dumps(structure(record)))}) AS row FROM {lines}) "
        f"WHERE {same}",
        parameters,
    )


def _load_in_python(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    files: Sequence[Path],
    record: type[Record],
) -> None:
    rows = (row for file in files for row in read_records(file, record, hint=_HINT))
    try:
        load_records(connection, table, rows, record)
    except duckdb.Error as error:
        # A number beyond 64 bits: Python's reader has none.
        raise InputError(
            f"cannot be read as table {table}: {str(error).splitlines()[0]}",
            where=", ".join(str(file) for file in files[:3]),
            hint=_HINT,
        ) from error


def load_records(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    rows: Iterable[Record],
    record: type[Record],
) -> None:
    """Create a table from records."""
    texts = [json.dumps(row.model_dump(mode="json"), ensure_ascii=False) for row in rows]
    lines = "(SELECT unnest($rows::VARCHAR[])::JSON AS json)"
    _create(connection, table, lines, record, checked=False, rows=texts)
