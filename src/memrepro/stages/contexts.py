"""The contexts that a system's remember step recorded, each text held to its digest."""

from pathlib import Path

from memrepro.digest import sha256_text
from memrepro.errors import CheckFailed
from memrepro.files import read_records
from memrepro.memory.base import render
from memrepro.records import Condition, InMindContext, QueryKind, Recalled, RecalledItem

Place = tuple[int, QueryKind, Condition]


class Contexts:
    """One system's contexts; a text, which can be large, is put together when it is asked for.

    Args:
        folder: the remember step's output of the system.

    Raises:
        InputError: the system was not run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.rows = read_records(folder / "contexts.jsonl", InMindContext, hint="dvc repro")
        self._items = read_records(folder / "items.jsonl", RecalledItem, hint="dvc repro")
        self._by_place = {(row.task_id, row.query_kind, row.condition): row for row in self.rows}

    def text(self, place: Place) -> str:
        """The exact context shown at a task, query kind and condition.

        Raises:
            CheckFailed: it does not have its recorded digest.
        """
        row = self._by_place[place]
        items = (self._items[item] for item in row.items)
        text = render([Recalled(id=item.id, text=item.text) for item in items])
        if sha256_text(text) != row.context_sha256:
            raise CheckFailed(
                f"the context of task {row.task_id} is not the one recorded",
                where=str(self._folder),
                expected=row.context_sha256,
                found=sha256_text(text),
                hint="dvc repro --force",
            )
        return text
