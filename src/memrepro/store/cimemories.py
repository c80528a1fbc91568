"""CIMemories in the store: a results file as typed rows, and its metrics in one reading."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jiter

from memrepro.benchmarks.cimemories.results import ProfileRows, parse_results_line
from memrepro.benchmarks.cimemories.samples import select_samples
from memrepro.errors import InputError
from memrepro.files import decode_utf8, parse_json
from memrepro.store import connect, query, statements

Reading = Literal["paper", "released-code"]
# The folder of the files that make rows and readings.
SQL = "cimemories_rows"
READINGS: tuple[Reading, ...] = ("paper", "released-code")

# A line of a full run has 4 MB.
_BUFFER = 1 << 20

_TABLES = {
    "cimemories_attribute": {
        "profile": "INTEGER",
        "name": "VARCHAR",
        "position": "INTEGER",
        "key": "VARCHAR",
        "domain": "VARCHAR",
        "shadowed": "BOOLEAN",
    },
    "results_context": {
        "profile": "INTEGER",
        "place": "INTEGER",
        "recipient": "VARCHAR",
        "task": "VARCHAR",
        "labels": "VARCHAR",
    },
    "results_sample": {
        "profile": "INTEGER",
        "place": "INTEGER",
        "composition": "VARCHAR",
        "trial": "INTEGER",
        "reveals": "VARCHAR",
    },
}


class Score(NamedTuple):
    """Metrics as `memrepro cimemories score` prints them; `left_out` counts unsampled contexts."""

    metrics: dict[str, Any]
    left_out: int


def score_results(
    file: Path, reading: Reading, *, composition: str | None = None, samples: int | None = None
) -> Score:
    """Score a results file of the released code in one reading.

    Args:
        file: the results, JSONL, a profile a line.
        reading: the definitions to use; the SQL files hold them.
        composition: the composition to take, as `num_to_share=…_num_not_to_share=…`.
        samples: how many trials of each context to take.

    Raises:
        InputError: the file is malformed (names line and field), its samples do not fit what is
            asked for, or every context is one-sided.
    """
    rows = read_results(file)
    chosen = select_samples(
        rows.samples,
        composition=composition,
        samples=samples,
        pooled=reading == "released-code",
        where=str(file),
    )
    suffix = reading.replace("-", "_")
    with connect() as connection:
        load(connection, rows._replace(samples=chosen))
        define_readings(connection)
        counts = query(connection, "cimemories_items", f"contexts_{suffix}")
        if not (counts and counts[0]["contexts_scored"]):
            raise InputError(
                "no context has both something to share and something to withhold", where=str(file)
            )
        metrics = {
            metric: _over_profiles(query(connection, "cimemories", f"{metric}_{suffix}")[0])
            for metric in ("violation", "completeness")
        }
    names = ("contexts_scored", "contexts_discarded", "private_keys_excluded")
    told = {name: counts[0][name] for name in names}
    left_out = len(rows.contexts) - told["contexts_scored"] - told["contexts_discarded"]
    return Score({**metrics, **told}, left_out)


def _over_profiles(row: dict[str, Any]) -> dict[str, Any]:
    profiles = row["per_profile"]
    names = [one["name"] for one in profiles]
    return {
        "mean": row["value"],
        "std": row["std"],
        "per_profile": {
            one["name"]
            if names.count(one["name"]) == 1
            else f"{one['name']} (line {one['unit'] + 1})": one["value"]
            for one in profiles
        },
    }


def read_results(file: Path) -> ProfileRows:
    """All rows of a results file; one line is held in memory at a time.

    Raises:
        InputError: the file is malformed; names line and field.
    """
    rows = ProfileRows([], [], [])
    for number, value in _json_lines(file):
        line = parse_results_line(value, number - 1, f"{file}, line {number}")
        rows.attributes.extend(line.attributes)
        rows.contexts.extend(line.contexts)
        rows.samples.extend(line.samples)
    if not rows.contexts:
        raise InputError("holds no context", where=str(file))
    return rows


def _json_lines(file: Path) -> Iterator[tuple[int, Any]]:
    """Line number from 1 and JSON value, strictly, as `files.iter_json_lines` but at jiter's speed.

    What jiter refuses is parsed again for an error in the same words as everywhere.
    """
    try:
        with file.open("rb", buffering=_BUFFER) as stream:
            for number, line in enumerate(stream, start=1):
                where = f"{file}, line {number}"
                _check_line_end(line, where)
                try:
                    value = jiter.from_json(line, allow_inf_nan=False, catch_duplicate_keys=True)
                except ValueError as error:
                    raise _line_error(line, where, str(error)) from None
                yield number, value
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(file)) from None


def _check_line_end(line: bytes, where: str) -> None:
    if line.endswith(b"\r\n"):
        raise InputError("the line ends in CRLF", where=where, expected="\\n", found="\\r\\n")
    if not line.endswith(b"\n"):
        raise InputError("the last line has no line end: the file may be cut off", where=where)


def _line_error(line: bytes, where: str, otherwise: str) -> InputError:
    try:
        parse_json(decode_utf8(line, where=where), where=where)
    except InputError as error:
        return InputError(error.what, where=where, expected=error.expected, found=error.found)
    return InputError(f"not valid JSON: {otherwise}", where=where)


def define_readings(connection: Any) -> None:
    """Add both readings and their metrics to a database that has the labels and the reveals.

    `sql/cimemories_rows/readings.sql` names their columns.
    """
    connection.execute(statements(SQL, "metrics"))
    read_rows(connection)


def read_rows(connection: Any) -> None:
    """Rule on the labels and count the reveals, as each reading does; again after they changed."""
    connection.execute(statements(SQL, "readings"))


def load(connection: Any, rows: ProfileRows) -> None:
    """Fill a database with the rows of a results file."""
    parts: tuple[Sequence[tuple[Any, ...]], ...] = (rows.attributes, rows.contexts, rows.samples)
    for (table, columns), given in zip(_TABLES.items(), parts, strict=True):
        fill(connection, table, columns, given)
    connection.execute(statements(SQL, "results"))


def fill(
    connection: Any, table: str, columns: dict[str, str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Create a table from rows, a column at a time: far quicker than an INSERT a row."""
    values = ", ".join(
        f"unnest($column{place}::{kind}[]) AS {name}"
        for place, (name, kind) in enumerate(columns.items())
    )
    given = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in columns]
    connection.execute(
        f"CREATE TABLE {table} AS SELECT {values}",
        {f"column{place}": column for place, column in enumerate(given)},
    )
