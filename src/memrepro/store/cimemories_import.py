"""Reads the Hugging Face edition of CIMemories, CSV or Parquet, with explicit types."""

from pathlib import Path

import duckdb

from memrepro.benchmarks.cimemories.label_import import ImportedLabel
from memrepro.errors import InputError
from memrepro.store import connect, query

_COLUMNS = {
    "name": "VARCHAR",
    "attribute": "VARCHAR",
    "memory_statement": "VARCHAR",
    "label": "DOUBLE",
    "prompt": "VARCHAR",
    "adv_reveal_prompt": "VARCHAR",
}
# The longest prompts hold a whole profile.
_LINE = 10_000_000


def read_labels(path: Path) -> list[ImportedLabel]:
    """The edition's rows; of a prompt only the recipient and task are kept.

    Args:
        path: a `.csv` or a `.parquet` file.

    Raises:
        InputError: the file is missing, of another kind, or lacks a column or fits not its type.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise InputError("no labels to import", where=str(path), expected="a .csv or .parquet file")
    if not path.is_file():
        raise InputError("the file is missing", where=str(path))
    columns = "{" + ", ".join(f"{name!r}: {kind!r}" for name, kind in _COLUMNS.items()) + "}"
    reader = "read_parquet($file)"
    if path.suffix == ".csv":
        reader = (
            f"read_csv($file, columns = {columns}, header = true, auto_detect = false, "
            f"""quote = '"', escape = '"', max_line_size = {_LINE})"""
        )
    with connect() as connection:
        try:
            connection.execute(
                f"CREATE TABLE imported AS SELECT * FROM {reader}", {"file": str(path)}
            )
            rows = query(connection, "cimemories_items", "imported_labels")
        except duckdb.Error as error:
            raise InputError(
                f"cannot be read as labels: {str(error).splitlines()[0]}",
                where=str(path),
                expected=f"columns {', '.join(_COLUMNS)}",
            ) from None
    return [ImportedLabel(**row) for row in rows]
