"""Strict reading and atomic writing of JSONL (cases 11, 12 and 20 of data files)."""

import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepro.errors import InputError, ServiceError
from memrepro.files import dump_records, iter_json_lines, read_records, write_records, write_text
from memrepro.records import InMindScore, InMindSession, RecalledItem, Turn
from memrepro.store import connect, inmind_metrics
from memrepro.store.rows import load_jsonl

GOOD = '{"item":0,"id":"t0","text":"x"}'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xef\xbb\xbf" + GOOD.encode() + b"\n", "byte-order mark"),
        (GOOD.encode() + b"\r\n", "line 1: the line ends in CRLF"),
        (GOOD.encode() + b"\n" + GOOD.encode(), "line 2: the last line has no line end"),
        (GOOD.encode() + b"\n" + GOOD[:12].encode() + b"\n", "line 2: not valid JSON"),
        (b'{"item":NaN,"id":"t0","text":"x"}\n', "line 1: not valid JSON: NaN"),
        (b'{"item":0,"item":1,"id":"t0","text":"x"}\n', "line 1: .*'item' stands twice"),
        (b'{"item":0,"id":7,"text":"x"}\n', "line 1, field id"),
        (b'{"item":"0","id":"t","text":"x"}\n', "line 1, field item"),
        (b'{"item":true,"id":"t","text":"x"}\n', "line 1, field item"),
        (b'{"item":0,"id":"t","text":"\\ud800"}\n', "line 1: a lone surrogate"),
        (b'{"item":0,"id":"t","text":"\xff"}\n', "line 1: not UTF-8"),
        (b'{"item":0,"id":"t","text":"x","more":1}\n', "line 1, field more"),
        (b'{"item":0,"id":"t"}\n', "line 1, field text"),
        (b"\n", "line 1: not valid JSON"),
        (b"[" * 100_000 + b"\n", "line 1: not valid JSON"),
    ],
)
def test_unsound_files_are_refused_by_line_and_field(
    tmp_path: Path, data: bytes, message: str
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        read_records(path, RecalledItem)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named_with_what_makes_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="dvc repro"):
        list(iter_json_lines(tmp_path / "no.jsonl", hint="dvc repro"))


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_and_python_and_duckdb_agree(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("t") / "rows.jsonl"
    rows = [RecalledItem(item=0, id=text, text=text + "\u2028\u2029\x85\n\r")]
    write_records(path, rows)
    assert read_records(path, RecalledItem) == rows
    with connect() as connection:
        load_jsonl(connection, "t", [path], RecalledItem)
        found = connection.execute("SELECT item, id, text FROM t").fetchall()
    assert found == [(0, rows[0].id, rows[0].text)]


def scores(values: list[int | None]) -> list[InMindScore]:
    return [
        InMindScore(
            system="2024-01-01",  # looks like a date, stays a text
            task_id=number,
            domain="other",
            condition="with_target",
            metric="naive_recall_verbatim",
            status="judge_error" if value is None else "scored",
            score=value,
            raised_cap=False,
        )
        for number, value in enumerate(values)
    ]


def test_types_are_given_and_not_guessed(tmp_path: Path) -> None:
    """Twenty thousand rows without a value and then a 1: what a sample of rows would miss."""
    path = tmp_path / "scores.jsonl"
    write_records(path, scores([None] * 20_480 + [1]))
    with connect() as connection:
        load_jsonl(connection, "s", [path], InMindScore)
        found = connection.execute("SELECT system, count(*), sum(score) FROM s GROUP BY 1")
        assert found.fetchall() == [("2024-01-01", 20_481, 1)]


def test_an_unscored_item_takes_the_headline_away(tmp_path: Path) -> None:
    """Of 4 items 2 pass, 1 fails, 1 is unscored: between 2/4 and 3/4."""
    path = tmp_path / "scores.jsonl"
    write_records(path, scores([1, 1, 0, None]))
    assert inmind_metrics([path]) == {
        "2024-01-01": {
            "naive_recall_verbatim_high": 0.75,
            "naive_recall_verbatim_low": 0.5,
            "naive_recall_verbatim_n_scored": 3,
            "naive_recall_verbatim_n_total": 4,
        }
    }
    write_records(path, scores([1, 1, 0, 0]))
    assert inmind_metrics([path]) == {"2024-01-01": {"naive_recall_verbatim": 0.5}}


def test_a_table_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text('{"system":"s","task_id":"x"}\n')
    with pytest.raises(InputError, match="line 1, field"):
        inmind_metrics([path])


def test_rows_are_sorted_by_identity_and_twins_refused() -> None:
    rows = [RecalledItem(item=n, id="a", text="b") for n in (10, 9, 1)]
    assert [line[:9] for line in dump_records(rows).split("\n")[:-1]] == [
        '{"item":1',
        '{"item":9',
        '{"item":1',
    ]
    with pytest.raises(ValueError, match="identity"):
        dump_records([rows[0], rows[0]])


def test_nested_records_keep_field_order() -> None:
    turn = Turn(id="i", role="user", text="t")
    row = InMindSession(session_index=0, session_id="s", turns=(turn,))
    assert dump_records([row]) == (
        '{"session_index":0,"session_id":"s","turns":[{"id":"i","role":"user","text":"t"}]}\n'
    )


def test_a_full_disk_leaves_the_old_file_and_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ServiceError, match="No space left on device"):
        write_text(path, "new" * 1000)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_a_device_or_pipe_is_written_to_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "told")
    assert os.read(reader, 10) == b"told"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(ServiceError, match="No space left on device"):
        write_text(Path("/dev/full"), "x" * 10)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)
    with pytest.raises(ServiceError, match="Is a directory"):
        write_text(tmp_path, "x")


def test_a_path_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServiceError, match="cannot be written"):
        write_text(tmp_path / "file" / "below.txt", "x")
