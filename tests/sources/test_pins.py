"""`data/sources.toml` is read strictly: each fault by its source and field."""

from pathlib import Path

import pytest

from memrepro.errors import InputError
from memrepro.sources.pins import load_pins

from .conftest import source, write_pins

GOOD = source()


def test_a_pin_as_written(tmp_path: Path) -> None:
    write_pins(tmp_path, source("a"), source("b", origins=("x", "y"), archive_sha256="0" * 64))
    first, second = load_pins(tmp_path)
    assert (first.name, first.file, first.size) == ("a", "data/raw/box/a.txt", 14)
    assert (first.required, first.archive_sha256) == (True, None)
    assert (second.origins, second.archive_sha256) == (("x", "y"), "0" * 64)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[source]\n", "data/sources.toml: not valid TOML"),
        ("source = []\n", "data/sources.toml: holds no [[source]] table"),
        ("source = [1]\n", "data/sources.toml, source 1: is no table"),
        (GOOD + GOOD, "data/sources.toml: two sources with name 'a'"),
        (GOOD + source("b", path="box/a.txt"), "two sources with path 'box/a.txt'"),
        (
            GOOD.replace('licence = "MIT"\n', ""),
            "(a), field licence: the field is missing",
        ),
        (GOOD.replace('name = "a"\n', ""), "source 1 (unnamed), field name: the field is missing"),
        (GOOD.replace("size = 14", 'size = "14"'), "field size: wrong type"),
        (GOOD.replace("size = 14", "size = true"), "field size: wrong type"),
        (GOOD + 'note = "n"\n', "source 1 (a): unknown field 'note'"),
        (GOOD.replace('["/nowhere/at/all"]', "[]"), "field origins: must be a list of addresses"),
        (GOOD.replace('["/nowhere/at/all"]', "[1]"), "field origins: must be a list of addresses"),
        (source(path="../a.txt"), "field path: must be a relative path with / and without .."),
        (source(path="/a.txt"), "field path: must be a relative path with / and without .."),
        (source(path="a//b"), "field path: must be a relative path with / and without .."),
        (source(path="box\\\\a"), "field path: must be a relative path with / and without .."),
        (source(sha256="ABC"), "field sha256: is no SHA-256 in hex"),
        (source(sha256="G" * 64), "field sha256: is no SHA-256 in hex"),
        (source(archive_sha256="0"), "field archive_sha256: is no SHA-256 in hex"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, text: str, told: str) -> None:
    write_pins(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_pins(tmp_path)
    assert told in str(caught.value)


def test_absent_pins(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"data/sources\.toml: cannot be read: No such file") as no:
        load_pins(tmp_path)
    assert no.value.exit_code == 2
