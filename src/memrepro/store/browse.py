"""Reads the tables: views over the Parquet files, through which nothing can be written.

Every reader has a database of its own in memory, so that none waits for another.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import duckdb

from memrepro.errors import InputError, ServiceError
from memrepro.files import is_special
from memrepro.params import DATASETS, load_params
from memrepro.store import connect
from memrepro.store.build import build
from memrepro.store.columns import text
from memrepro.store.tables import TABLES

_EXPLAIN = re.compile(r"\s*EXPLAIN(\s+ANALYZE)?\s", re.IGNORECASE)
_HINT = "memrepro query --list"


class Result(NamedTuple):
    """What a statement came to: names of columns, and rows."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


def build_all(root: Path) -> dict[str, Path]:
    """Build what is not up to date; the folder of each dataset's tables.

    Raises:
        InputError: a stage output does not fit.
    """
    return {name: build(root, load_params(root, name)) for name in DATASETS}


def setup(folders: Mapping[str, Path], writable: Sequence[Path] = ()) -> list[str]:
    """The statements that put the views in place and then lock the database.

    Afterwards it opens no file but the tables' and those of `writable`.
    """
    statements = [one for table in TABLES for one in _view(table, folders)]
    tables = [folder / f"{table}.parquet" for folder in folders.values() for table in TABLES]
    allowed = ", ".join(text(str(path)) for path in (*tables, *writable))
    settings = (
        f"allowed_paths = [{allowed}]",
        "temp_directory = ''",
        "enable_external_access = false",
        "lock_configuration = true",
    )
    return statements + [f"SET {setting}" for setting in settings]


def _view(table: str, folders: Mapping[str, Path]) -> Iterator[str]:
    record = TABLES[table]
    selects = [
        f"SELECT {text(name)} AS dataset, * FROM read_parquet({text(f'{folder}/{table}.parquet')})"
        for name, folder in folders.items()
    ]
    yield f"CREATE VIEW {table} AS {' UNION ALL '.join(selects)}"
    yield f"COMMENT ON VIEW {table} IS {text(record.__doc__ or '')}"
    yield f"COMMENT ON COLUMN {table}.dataset IS 'sample or full'"
    for name, field in record.model_fields.items():
        yield f'COMMENT ON COLUMN {table}."{name}" IS {text(field.description or "")}'


@contextmanager
def opened(
    folders: Mapping[str, Path], writable: Sequence[Path] = ()
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the views in place, locked."""
    with connect() as connection:
        for statement in setup(folders, writable):
            connection.execute(statement)
        yield connection


def run(connection: duckdb.DuckDBPyConnection, sql: str) -> Result:
    """Run one statement that reads.

    Raises:
        InputError: it is none, it would write, or DuckDB refuses it.
    """
    query = _reading(connection, sql)
    try:
        cursor = connection.execute(query)
        return Result([column[0] for column in cursor.description or ()], cursor.fetchall())
    except duckdb.Error as error:
        raise _refused(error) from error


def write_parquet(folders: Mapping[str, Path], sql: str, output: Path) -> None:
    """Write what one reading statement comes to as Parquet, whole or not at all.

    Raises:
        InputError: as `run`, or the output is no place for a file.
        ServiceError: the disk refuses.
    """
    if is_special(output):
        raise InputError("Parquet goes to a file", where=str(output), hint="--output FILE")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=output.parent, prefix=f".{output.name}.") as folder:
            path = Path(folder).resolve() / "result.parquet"
            with opened(folders, [path]) as connection:
                _copy(connection, _reading(connection, sql), path)
            path.replace(output)
    except OSError as error:
        raise ServiceError(f"cannot be written: {error.strerror}", where=str(output)) from None


def _copy(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    try:
        connection.execute(
            f"COPY ({query}\n) TO {text(str(path))} "
            "(FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)"
        )
    except duckdb.IOException as error:
        raise ServiceError(str(error).splitlines()[0], where=str(path)) from error
    except duckdb.Error as error:
        raise _refused(error) from error


def _reading(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    """The text of the one statement, which is a query or explains one."""
    try:
        statements = connection.extract_statements(sql)
        if len(statements) != 1:
            raise InputError("not one statement", where="SQL", found=f"{len(statements)}")
        explained = _EXPLAIN.sub("", sql, count=1) if _EXPLAIN.match(sql) else sql
        (statement,) = connection.extract_statements(explained)
    except duckdb.Error as error:
        raise _refused(error) from error
    if statement.type != duckdb.StatementType.SELECT:
        raise InputError(
            "the tables are read-only", where="SQL", expected="SELECT", found=statement.type.name
        )
    return str(statements[0].query).rstrip().rstrip(";")


def _refused(error: duckdb.Error) -> InputError:
    return InputError(str(error).splitlines()[0], where="SQL", hint=_HINT)


def listing(connection: duckdb.DuckDBPyConnection) -> dict[str, tuple[str, list[tuple[str, ...]]]]:
    """Every table with its comment, and its columns as name, type and comment."""
    cursor = connection.execute(
        "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() "
        "WHERE NOT internal ORDER BY table_name, column_index"
    )
    found: dict[str, tuple[str, list[tuple[str, ...]]]] = {
        table: (record.__doc__ or "", []) for table, record in TABLES.items()
    }
    for table, *column in cursor.fetchall():
        found[table][1].append(tuple(column))
    return found
