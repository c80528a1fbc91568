"""What the user said of themselves, always in sight: a bounded file of first-person statements."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Annotated

from pydantic import Field

from memrepro.memory.base import Resources
from memrepro.memory.history import TranscriptSystem
from memrepro.records import Recalled, Turn

_TIMESTAMP = re.compile(r"^---TIMESTAMP:[^\n]*$", re.MULTILINE)
# A sentence ends at a line end, or at ., ! or ? (with what closes it) before white space. No
# list of abbreviations: the rule stays one that can be checked by eye.
_SENTENCE_END = re.compile(r"""\n+|(?<=[.!?])["'”’)\]*_]*\s+""")
_QUESTION = re.compile(r"""\?[!?"'”’)\]*_\s]*$""")
# Words, with any contraction ('m, 've …) behind them. A dot next to i or me tells i.e. and
# about.me from the pronoun; US in capitals is the country.
_FIRST_PERSON = re.compile(
    r"(?<![\w.])(?:i|me|my|mine|myself|we|(?-i:[Uu]s)|our|ours|ourselves)(?![\w-])(?!\.\w)",
    re.IGNORECASE,
)


def statements(text: str) -> Iterator[str]:
    """The first-person statements of a user's text, in order, each on one line.

    A statement is a sentence that is no question and holds a first-person pronoun. TIMESTAMP
    lines are left out; white space inside a sentence is folded to single blanks.
    """
    for part in split_sentences(_TIMESTAMP.sub("", text)):
        if _FIRST_PERSON.search(part) and not _QUESTION.search(part):
            yield part


def split_sentences(text: str) -> list[str]:
    """Sentences of a text, white space folded, empty ones left out."""
    parts: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        # What closes a sentence (quotes, brackets) stays with it.
        closing = match.group().rstrip()
        parts.append(text[start : match.start()] + closing)
        start = match.end()
    parts.append(text[start:])
    return [folded for part in parts if (folded := " ".join(part.split()))]


def newest_within(lines: Sequence[Recalled], max_lines: int, max_bytes: int) -> list[Recalled]:
    """The newest lines, in their order, that keep within both limits.

    Args:
        lines: oldest first; each counts its UTF-8 bytes and one line end.
        max_lines: upper limit of lines.
        max_bytes: upper limit of bytes of all lines together.

    Returns:
        A tail of `lines`, from which lines that alone pass `max_bytes` were taken out before.
    """
    kept: list[Recalled] = []
    used = 0
    for line in reversed(lines):
        size = len(line.text.encode("utf-8")) + 1
        if size > max_bytes:
            continue
        if used + size > max_bytes or len(kept) == max_lines:
            break
        kept.append(line)
        used += size
    return kept[::-1]


class Statements(TranscriptSystem):
    """Recalls the user's first-person statements, oldest first, whatever is asked.

    Args:
        resources: unused.
        max_lines: at most so many statements; the oldest are dropped first.
        max_bytes: at most so many UTF-8 bytes, line ends included. A statement that alone is
            longer is dropped whole.
    """

    ignores_k = True

    def __init__(
        self,
        resources: Resources,
        *,
        max_lines: Annotated[int, Field(ge=1)] = 200,
        max_bytes: Annotated[int, Field(ge=1)] = 25_000,
    ) -> None:
        super().__init__(resources, max_lines=max_lines, max_bytes=max_bytes)
        self._max_lines = max_lines
        self._max_bytes = max_bytes

    def recall(self, query: str, k: int) -> list[Recalled]:
        """The kept statements; an id is the turn's and the statement's number in it, from 1."""
        lines = list(chain.from_iterable(map(_lines, self.history.turns)))
        return newest_within(lines, self._max_lines, self._max_bytes)


def _lines(turn: Turn) -> list[Recalled]:
    if turn.role != "user":
        return []
    numbered = enumerate(statements(turn.text), start=1)
    return [Recalled(id=f"{turn.id}#{number}", text=text) for number, text in numbered]
