"""Cases 11 and 12: Python's reader and DuckDB's agree on every file; a reader that infers does not.

Rows are score rows, whose columns are a text, an integer, one that may be null, and a boolean.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from memrepro.errors import InputError
from memrepro.files import read_records
from memrepro.records import CIMemoriesAttribute, InMindContext, InMindScore, Record
from memrepro.store import connect
from memrepro.store.rows import load_jsonl

ROW: dict[str, Any] = {
    "system": "a", "task_id": 0, "domain": "diet", "condition": "with_target",
    "metric": "application", "status": "scored", "score": 1, "raised_cap": False,
}  # fmt: skip
CONTEXT: dict[str, Any] = {
    "task_id": 0, "query_kind": "naive", "condition": "with_target", "system": "a",
    "items": [1, 2], "context_sha256": "x", "state_before": "y", "state_after": "z",
}  # fmt: skip
ATTRIBUTE: dict[str, Any] = {
    "profile": 0, "position": 1, "name": "Ada", "key": "pets", "value": ["cat", 2],
    "domain": "home", "statement": "I have a cat.",
}  # fmt: skip


def line(row: dict[str, Any] | None = None, **changed: Any) -> str:
    given = (ROW if row is None else row) | changed
    return json.dumps(given, ensure_ascii=False, separators=(",", ":")) + "\n"


def in_duckdb(path: Path, record: type[Record]) -> list[dict[str, Any]]:
    with connect() as connection:
        load_jsonl(connection, "t", [path], record)
        cursor = connection.execute("SELECT * FROM t")
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def without(key: str) -> str:
    return line({name: x for name, x in ROW.items() if name != key})


MALFORMED: dict[str, tuple[str | bytes, str]] = {
    "byte-order mark": (b"\xef\xbb\xbf" + line().encode(), "line 1: .*byte-order mark"),
    "CRLF": (line() + line().replace("\n", "\r\n"), "line 2: the line ends in CRLF"),
    "an empty line": (line() + "\n" + line(), "line 2: not valid JSON"),
    "a blank last line": (line() + "  \n", "line 2: not valid JSON"),
    "no final newline": (line() + line()[:-1], "line 2: the last line has no line end"),
    "a truncated tail": (line() + line()[:20], "line 2: the last line has no line end"),
    "a cut line": (line() + line()[:20] + "\n", "line 2: not valid JSON"),
    "a key twice": (line()[:-2] + ',"score":0}\n', "line 1: .*'score' stands twice"),
    "a comma too many": (line()[:-2] + ",}\n", "line 1: not valid JSON"),
    "two objects on a line": (line()[:-1] + line(), "line 1: not valid JSON"),
    "an object over two lines": (line().replace(",", ",\n", 1), "line 1: not valid JSON"),
    "NaN": (line(task_id=float("nan")), "line 1: not valid JSON: NaN"),
    "NaN in a text's place": (line(domain=float("nan")), "line 1: not valid JSON: NaN"),
    "a lone surrogate": (line().replace("diet", "\\ud800"), "line 1: a lone surrogate"),
    "bytes that are no UTF-8": (line().encode().replace(b"diet", b"\xff"), "line 1: not UTF-8"),
    "a control character": (line().replace("diet", "\x01"), "line 1: not valid JSON"),
    "a number for a text": (line(system=7), "line 1, field system"),
    "a boolean for a text": (line(system=True), "line 1, field system"),
    "a text for a number": (line(task_id="1"), "line 1, field task_id"),
    "a boolean for a number": (line(task_id=True), "line 1, field task_id"),
    "a fraction for an integer": (line() + line(task_id=1.5), "line 2, field task_id"),
    "1.0 for an integer": (line(task_id=1.0), "line 1, field task_id"),
    "a number for a boolean": (line(raised_cap=0), "line 1, field raised_cap"),
    "a text for a boolean": (line(raised_cap="false"), "line 1, field raised_cap"),
    "a list for a text": (line(domain=["diet"]), "line 1, field domain"),
    "null where none may be": (line(system=None), "line 1, field system"),
    "out of its bounds": (line(score=2), "line 1, field score"),
    "a negative id": (line(task_id=-1), "line 1, field task_id"),
    "no such word": (line(status="done"), "line 1, field status"),
    "a key missing": (line() + without("score"), "line 2, field score"),
    "a key too many": (line(more=None), "line 1, field more"),
    "a list and no object": ("[1]\n", "line 1, field row"),
    "null and no object": (line() + "null\n", "line 2, field row"),
    "20,480 booleans, then 7": (line() * 20_480 + line(raised_cap=7), "line 20481, field raised"),
    "integers, then 1.5": (line() * 20_480 + line(score=1.5), "line 20481, field score"),
    "a column first seen late": (line() * 20_480 + line(late=1), "line 20481, field late"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_both_readers_refuse_with_file_line_and_field(tmp_path: Path, name: str) -> None:
    data, message = MALFORMED[name]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    refusals = []
    for read in (read_records, in_duckdb):
        with pytest.raises(InputError, match=message) as caught:
            read(path, InMindScore)
        refusals.append(str(caught.value))
    assert str(path) in refusals[0]
    assert refusals[0] == refusals[1]


GOOD: dict[str, tuple[str, type[Record]]] = {
    "separators of other kinds": (line(domain="a\u2028b\u2029c\x85d\x0be"), InMindScore),
    "control characters, escaped": (line(domain="\x00\x01\x1f\x7f\r\n\t\"\\/"), InMindScore),
    "escapes for what needs none": (line(domain="X").replace("X", "\\u00e9\\/"), InMindScore),
    "a pair of surrogates": (line(domain="X").replace("X", "\\ud83d\\ude00"), InMindScore),
    "texts like other types": (
        "".join(line(domain=one, task_id=n) for n, one in enumerate(
            ("2024-01-01", "2024-01-01T10:00:00", "12:30:00", "1e5", "007", "null", "true", "",
             "d9428888-122b-11e1-b85c-61cd3cbb3210", "[1]", '{"a":1}', " x ")
        )),
        InMindScore,
    ),
    "keys in another order": (line(dict(reversed(ROW.items()))), InMindScore),
    "spaces between tokens": (json.dumps(ROW) + " \n", InMindScore),
    "null, 20,480 times, then 1": (line(score=None) * 20_480 + line(), InMindScore),
    "the largest number": (line(task_id=2**63 - 1), InMindScore),
    "nothing": ("", InMindScore),
    "lists": (line(CONTEXT) + line(CONTEXT, items=[]), InMindContext),
    "a value of any kind": (
        "".join(line(ATTRIBUTE, value=one) for one in (1, 1.5, "2024-01-01", None, {"a": [True]})),
        CIMemoriesAttribute,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_both_readers_take_odd_rows_and_rewrite_nothing(tmp_path: Path, name: str) -> None:
    data, record = GOOD[name]
    path = tmp_path / "rows.jsonl"
    path.write_text(data, encoding="utf-8", newline="")
    expected = [row.model_dump(mode="json") for row in read_records(path, record)]
    found = in_duckdb(path, record)
    for row in found:
        if "value" in row:
            row["value"] = json.loads(row["value"] or "null")
    assert found == expected
    assert len(found) == data.count("\n")


@pytest.mark.parametrize("items", [[1, None], [1, 1.5], ["1"], [1, "a"], 1, None, [[1]]])
def test_what_is_wrong_in_a_list_is_refused(tmp_path: Path, items: Any) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line(CONTEXT, items=items))
    for read in (read_records, in_duckdb):
        with pytest.raises(InputError, match="line 1, field items"):
            read(path, InMindContext)


def test_a_number_beyond_64_bits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line(task_id=2**64))
    with pytest.raises(InputError, match="cannot be read as table t"):
        in_duckdb(path, InMindScore)


def inferring(path: Path, _: type[Record]) -> list[dict[str, Any]]:
    """What a lazy reader does: DuckDB looks at the first rows and guesses."""
    cursor = duckdb.connect().execute("SELECT * FROM read_json_auto($path)", {"path": str(path)})
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def declaring(path: Path, _: type[Record]) -> list[dict[str, Any]]:
    """What a less lazy one does: columns are given, and DuckDB casts to them."""
    cursor = duckdb.connect().execute(
        "SELECT * FROM read_json($path, format = 'newline_delimited', columns = "
        "{system: 'VARCHAR', task_id: 'BIGINT', domain: 'VARCHAR', condition: 'VARCHAR', "
        "metric: 'VARCHAR', "
        "status: 'VARCHAR', score: 'BIGINT', raised_cap: 'BOOLEAN'})",
        {"path": str(path)},
    )
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@pytest.mark.parametrize("read", [inferring, declaring])
def test_a_lazy_reader_fails_these_cases(
    tmp_path: Path, read: Callable[[Path, type[Record]], list[dict[str, Any]]]
) -> None:
    taken = []
    for name, (data, _) in MALFORMED.items():
        path = tmp_path / "rows.jsonl"
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        try:
            read(path, InMindScore)
        except duckdb.Error:
            continue
        taken.append(name)
    assert {"a fraction for an integer", "a key missing", "byte-order mark", "CRLF"} <= set(taken)
    assert len(taken) > len(MALFORMED) / 2


def test_a_reader_that_infers_rewrites_texts(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line(domain="2024-01-01T10:00:00") * 3)
    assert inferring(path, InMindScore)[0]["domain"] != "2024-01-01T10:00:00"
    assert in_duckdb(path, InMindScore)[0]["domain"] == "2024-01-01T10:00:00"
