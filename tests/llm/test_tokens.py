"""Counting tokens: by length, unless tiktoken knows the model and has its files at hand."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from memrepro.llm.tokens import token_counter

BY_LENGTH = "estimated at four bytes a token (no tiktoken with its files at hand)"


class Encoding:
    """A token a word; special ones only where they are not refused."""

    name = "words"

    def encode(self, text: str, *, disallowed_special: object) -> list[str]:
        assert disallowed_special == ()  # else tiktoken raises at `<|endoftext|>`
        return text.split()


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    def encoding_for_model(model: str) -> Encoding:
        if model != "known":
            raise KeyError(model)
        return Encoding()

    module: ModuleType | SimpleNamespace = SimpleNamespace(encoding_for_model=encoding_for_model)
    monkeypatch.setitem(sys.modules, "tiktoken", module)


@pytest.fixture
def vocabularies(tmp_path: Path) -> str:
    (tmp_path / "file").write_text("x")
    return str(tmp_path)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("four", 1), ("fives", 2), ("äöü", 2), ("🐝", 1)]
)
def test_by_length_four_bytes_are_a_token_and_what_is_begun_counts(text: str, tokens: int) -> None:
    counter, told = token_counter("known", None)
    assert (counter(text), told) == (tokens, BY_LENGTH)


def test_with_its_files_tiktoken_counts(monkeypatch: pytest.MonkeyPatch, vocabularies: str) -> None:
    install(monkeypatch)
    counter, told = token_counter("known", vocabularies)
    assert (counter("one two <|endoftext|>"), told) == (3, "counted by tiktoken, words")


def test_without_files_it_is_not_asked_since_it_would_download_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch)
    for vocabularies in (None, "", str(tmp_path), str(tmp_path / "none")):
        assert token_counter("known", vocabularies)[1] == BY_LENGTH


def test_a_model_that_it_does_not_know_or_no_tiktoken_is_no_hindrance(
    monkeypatch: pytest.MonkeyPatch, vocabularies: str
) -> None:
    install(monkeypatch)
    assert token_counter("local", vocabularies)[1] == BY_LENGTH
    monkeypatch.setitem(sys.modules, "tiktoken", None)  # what makes an import fail
    counter, told = token_counter("known", vocabularies)
    assert (counter("one two"), told) == (2, BY_LENGTH)
