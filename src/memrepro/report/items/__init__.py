"""The items of each benchmark for the report's list: rows, and the texts that they point to.

What many items show (turns, statements, facts) is stored once and named by number.
"""

from collections.abc import Iterable
from typing import Any, Literal

# What an item came to; `left out`: no metric counts it.
Outcome = Literal["won", "lost", "error", "left out"]
OUTCOMES: tuple[Outcome, ...] = ("won", "lost", "error", "left out")


class Shared:
    """Distinct values in the order of their first appearance, each with its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, value: str) -> int:
        """The number of a value, which is added if it is new."""
        return self._numbers.setdefault(value, len(self._numbers))

    def numbers(self, values: Iterable[str]) -> list[int]:
        """The numbers of several."""
        return [self.number(value) for value in values]

    def values(self) -> list[str]:
        """All of them, by number."""
        return list(self._numbers)


def without_empty(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what is None, false or empty, which the page takes what is missing for.

    Numbers stay, 0 too: there is a task 0.
    """
    return {
        key: value
        for key, value in row.items()
        if value or (isinstance(value, int) and value is not False)
    }
