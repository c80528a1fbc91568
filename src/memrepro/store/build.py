"""Builds the tables of a dataset as Parquet, the same bytes from the same files."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from memrepro import __version__
from memrepro.digest import sha256_file, sha256_value
from memrepro.errors import InputError, ServiceError
from memrepro.files import read_json, write_json
from memrepro.params import Params
from memrepro.records import Record
from memrepro.store import connect, names, statements
from memrepro.store.columns import columns
from memrepro.store.inputs import (
    Part,
    files_of,
    metric_rows,
    other_files,
    parts,
    pin_rows,
    prices,
    run_rows,
)
from memrepro.store.rows import load_jsonl, load_records
from memrepro.store.tables import TABLES

STORE = ".memrepro/store"


def build(root: Path, params: Params) -> Path:
    """Build a dataset's tables, unless they are already those of the files that are there.

    A table whose files are not there is empty.

    Returns:
        The folder that holds `<table>.parquet` for each of `TABLES`.

    Raises:
        InputError: a file does not fit.
        ServiceError: the disk refuses.
    """
    folder = root / STORE / params.dataset
    digest = _digest(root, params)
    if not _is_built(folder, digest):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=folder, prefix=".building-") as temporary:
                _write(root, params, Path(temporary))
                for table in TABLES:
                    name = f"{table}.parquet"
                    (Path(temporary) / name).replace(folder / name)
        except (OSError, duckdb.IOException) as error:
            raise ServiceError(
                f"cannot be written: {str(error).splitlines()[0]}",
                where=str(folder),
                hint="free disk space or make the folder writable, then run the same command again",
            ) from error
        write_json(folder / "built.json", {"digest": digest})
    return folder


def _is_built(folder: Path, digest: str) -> bool:
    try:
        built = read_json(folder / "built.json") == {"digest": digest}
    except InputError:
        return False
    return built and all((folder / f"{table}.parquet").is_file() for table in TABLES)


def _digest(root: Path, params: Params) -> str:
    """Of all that the tables' bytes hang on: the files, the queries, the columns, the versions."""
    found = [path for part in parts(params) for path in files_of(root, params, part)]
    return sha256_value(
        {
            "files": {
                path.relative_to(root).as_posix(): sha256_file(path)
                for path in (*found, *other_files(root, params))
            },
            "queries": [_query(table) for table in TABLES],
            "columns": {table: columns(record) for table, record in TABLES.items()},
            "versions": [__version__, duckdb.__version__],
        }
    )


def _query(table: str) -> str | None:
    """The file that fills a table; None for one that is filled from Python."""
    return statements("tables", table) if table in names("tables") else None


def _write(root: Path, params: Params, folder: Path) -> None:
    # What the files hold goes into a schema of its own: some tables are called alike.
    with connect() as connection:
        connection.execute("CREATE SCHEMA stage; SET search_path = 'stage,main'")
        _load(connection, root, params)
        rows: dict[str, Iterable[Record]] = {
            "runs": run_rows(root, params.dataset),
            "metrics": metric_rows(root, params.dataset),
            "sources": pin_rows(root, params.dataset),
        }
        for table, record in TABLES.items():
            query = _query(table)
            if query is None:
                load_records(connection, "filled", rows[table], record)
                query = "FROM filled"
            _write_table(connection, query, record, folder / f"{table}.parquet")


def _write_table(connection: Any, query: str, record: type[Record], path: Path) -> None:
    declared = ", ".join(f'"{name}" {kind}' for name, kind in columns(record).items())
    connection.execute(f"CREATE OR REPLACE TABLE written ({declared})")
    connection.execute(f"INSERT INTO written BY NAME {query}")
    connection.execute(
        "COPY (FROM written ORDER BY ALL) TO $path (FORMAT parquet, COMPRESSION zstd)",
        {"path": str(path)},
    )


def _load(connection: Any, root: Path, params: Params) -> None:
    for part in parts(params):
        files = files_of(root, params, part)
        if part.named:
            _load_named(connection, part, files)
        else:
            load_jsonl(connection, part.table, files, part.record)
    connection.execute(
        "CREATE TABLE call_price (benchmark VARCHAR, step VARCHAR, price_input DOUBLE, "
        "price_output DOUBLE)"
    )
    connection.executemany("INSERT INTO call_price VALUES (?, ?, ?, ?)", list(prices(params)))
    connection.execute(statements("table_rows", "retention_cell"))


def _load_named(connection: Any, part: Part, files: Sequence[Path]) -> None:
    """Load files one by one, with the columns that their paths stand for."""
    named = [name for name in part.named if name]
    load_jsonl(connection, "part", [], part.record)
    empty = ", ".join(f"NULL::VARCHAR AS {name}" for name in named)
    connection.execute(f"CREATE TABLE {part.table} AS SELECT {empty}, * FROM part")
    for file in files:
        load_jsonl(connection, "part", [file], part.record)
        steps = file.with_suffix("").parts[-len(part.named) :]
        values = [step for step, name in zip(steps, part.named, strict=True) if name]
        marks = ", ".join("?" for _ in values)
        connection.execute(f"INSERT INTO {part.table} SELECT {marks}, * FROM part", values)
