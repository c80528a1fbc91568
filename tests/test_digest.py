"""Canonical JSON by hand, and digests against published ones."""

import hashlib
from pathlib import Path

import pytest

from memrepro.digest import (
    canonical_json,
    digest_file,
    seed_of,
    sha256_file,
    sha256_text,
    sha256_tree,
    sha256_value,
)

# FIPS 180-2, appendix B.1; the empty message: NIST's example vectors for SHA-256.
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        # By code point: upper case before lower, ä after z.
        ({"ä": None, "b": 1, "B": [1.5, "x y"]}, '{"B":[1.5,"x y"],"b":1,"ä":null}'),
        ({"outer": {"b": 1, "a": 2}}, '{"outer":{"a":2,"b":1}}'),
        # Only what JSON must escape is escaped.
        ('"ü\u2028\n😀', '"\\"ü\u2028\\n😀"'),
        ((1, 2), "[1,2]"),
        ({}, "{}"),
    ],
    ids=str,
)  # fmt: skip
def test_canonical_json_by_hand(value: object, text: str) -> None:
    assert canonical_json(value) == text


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_json_cannot_say_is_an_error(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"score": number})
    with pytest.raises(TypeError):
        canonical_json({1, 2})


def test_texts_and_values_as_published() -> None:
    assert (sha256_text("abc"), sha256_text("")) == (ABC, EMPTY)
    # The value's text has the quotation marks: five bytes. A text is hashed as UTF-8.
    assert sha256_value("abc") == hashlib.sha256(b'"abc"').hexdigest()
    assert sha256_text("ü") == hashlib.sha256(b"\xc3\xbc").hexdigest()


def test_a_seed_is_the_digest_of_the_identity_as_a_list() -> None:
    assert seed_of(7, "bio") == int(hashlib.sha256(b'[7,"bio"]').hexdigest(), 16)
    assert seed_of(7, "bio") != seed_of(7, "bio", 0)


def test_files_as_published(tmp_path: Path) -> None:
    """RFC 1321, appendix A.5, for MD5; a million `a`: FIPS 180-2, appendix B.3."""
    file = tmp_path / "file"
    file.write_bytes(b"abc")
    assert sha256_file(file) == digest_file(file, "sha256") == ABC
    assert digest_file(file, "md5") == "900150983cd24fb0d6963f7d28e17f72"
    file.write_bytes(b"a" * 1_000_000)
    assert sha256_file(file) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    with pytest.raises(FileNotFoundError):
        sha256_file(tmp_path / "missing")


def test_bytes_are_hashed_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\xff\r\n\x00")
    assert sha256_file(file) == hashlib.sha256(b"\xff\r\n\x00").hexdigest()


def test_a_tree_is_its_files_by_path(tmp_path: Path) -> None:
    """Sorted as text, in which `.` stands before `/`; an empty folder counts for nothing."""
    (tmp_path / "a" / "deep").mkdir(parents=True)
    (tmp_path / "none").mkdir()
    (tmp_path / "a.txt").write_bytes(b"")
    (tmp_path / "a" / "deep" / "z").write_bytes(b"abc")
    text = f'[["a.txt","{EMPTY}"],["a/deep/z","{ABC}"]]'
    assert sha256_tree(tmp_path) == hashlib.sha256(text.encode()).hexdigest()
    before = sha256_tree(tmp_path)
    (tmp_path / "a.txt").rename(tmp_path / "b.txt")
    assert sha256_tree(tmp_path) != before
