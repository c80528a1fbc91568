"""`memrepro query` and `memrepro shell`: SQL over what the pipeline left behind."""

import contextlib
import csv
import importlib
import io
import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memrepro.cli.output import emit
from memrepro.cli.project import find_root
from memrepro.errors import InputError
from memrepro.files import dump_json

if TYPE_CHECKING:
    from memrepro.store.browse import Result


def query(
    sql: Annotated[str | None, typer.Argument(help="One statement, which reads.")] = None,
    form: Annotated[str, typer.Option("--format", help="table, csv, json or parquet.")] = "table",
    output: Annotated[Path | None, typer.Option(help="Write to this file.")] = None,
    list_tables: Annotated[
        bool, typer.Option("--list", help="List the tables and their columns.")
    ] = False,
) -> None:
    """Ask the tables of both datasets: runs, items, answers, verdicts, calls, metrics and more."""
    from memrepro.store.browse import build_all, listing, opened, run, write_parquet

    if (sql is None) != list_tables:
        raise InputError("say a statement, or --list", hint='memrepro query "FROM metrics"')
    if form not in (*_FORMATS, "parquet"):
        expected = ", ".join((*_FORMATS, "parquet"))
        raise InputError(f"no format {form!r}", where="--format", expected=expected)
    folders = build_all(find_root())
    if form == "parquet" and sql is not None:
        if output is None:
            raise InputError("Parquet goes to a file", where="--format", hint="--output FILE")
        write_parquet(folders, sql, output)
        return
    with opened(folders) as connection:
        found = (
            _listed(listing(connection)) if sql is None else _FORMATS[form](run(connection, sql))
        )
    emit(found, output)


def shell() -> None:
    """Start a DuckDB prompt with the tables in place: DuckDB's own, if it is installed."""
    from memrepro.store.browse import build_all, setup

    folders = build_all(find_root())
    program = shutil.which("duckdb")
    if program:
        statements = "; ".join(setup(folders))
        raise typer.Exit(
            subprocess.run([program, "-cmd", f"{statements};"], check=False).returncode
        )
    _prompt(folders)


def _prompt(folders: dict[str, Path]) -> None:
    """Read statements, each up to its semicolon, until the end of the input."""
    from memrepro.store.browse import opened, run

    with contextlib.suppress(ImportError):
        importlib.import_module("readline")  # lines can be edited and called back

    with opened(folders) as connection, contextlib.suppress(EOFError):
        while True:
            lines = [input("memrepro> ")]
            while lines[-1].strip() and not lines[-1].rstrip().endswith(";"):
                lines.append(input("      ... "))
            if sql := "\n".join(lines).strip():
                try:
                    emit(_table(run(connection, sql)), None)
                except InputError as error:
                    print(f"error: {error}", file=sys.stderr)


def _listed(tables: dict[str, tuple[str, list[tuple[str, ...]]]]) -> str:
    lines = []
    for table, (comment, columns) in tables.items():
        lines.append(f"{table}: {comment}")
        lines += [f"  {name:18} {kind:10} {told}" for name, kind, told in columns]
        lines.append("")
    return "\n".join(lines)


def _table(result: "Result") -> str:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if not result.rows:
        return "no rows\n"
    table = Table(*(escape(name) for name in result.columns), box=None)
    for row in result.rows:
        table.add_row(*(escape(_shown(value)) for value in row))
    text = io.StringIO()
    # As wide as its contents: a pipe has no width, and a terminal wraps by itself.
    Console(file=text, width=100_000).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else _cell(value)


def _csv(result: "Result") -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows([_cell(value) for value in row] for row in result.rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    plain = _plain(value)
    if plain is None:
        return ""
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _json(result: "Result") -> str:
    rows = [dict(zip(result.columns, map(_plain, row), strict=True)) for row in result.rows]
    return dump_json(rows)


def _plain(value: Any) -> Any:
    """A value of DuckDB's as JSON has it; what is no number is null."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


_FORMATS: dict[str, Callable[["Result"], str]] = {"table": _table, "csv": _csv, "json": _json}


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    app.command()(query)
    app.command()(shell)
