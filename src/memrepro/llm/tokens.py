"""Counting tokens: with tiktoken where it and its files are at hand, else by length."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any


def token_counter(model: str, vocabularies: str | None) -> tuple[Callable[[str], int], str]:
    """A counter for a model's prompts, and a sentence that says how it counts.

    Args:
        model: the model's name at its server.
        vocabularies: the folder that `TIKTOKEN_CACHE_DIR` names, if any. Without files in it,
            tiktoken would download its vocabulary, and is not asked.
    """
    encoding = _encoding(model, vocabularies)
    if encoding is None:
        return _by_length, "estimated at four bytes a token (no tiktoken with its files at hand)"
    return (
        lambda text: len(encoding.encode(text, disallowed_special=())),
        f"counted by tiktoken, {encoding.name}",
    )


def _by_length(text: str) -> int:
    return -(-len(text.encode("utf-8")) // 4)


def _encoding(model: str, vocabularies: str | None) -> Any:
    if not vocabularies or not any(Path(vocabularies).glob("*")):
        return None
    try:
        tiktoken = importlib.import_module("tiktoken")
        return tiktoken.encoding_for_model(model)
    except Exception:
        # Not installed, a model it does not know, or a file it would have to download.
        return None
