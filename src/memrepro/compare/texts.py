"""What the items of a comparison are about, where the stages' inputs lie in the working tree."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from memrepro.files import iter_json_lines


def item_texts(root: Path, dataset: str, path: str) -> dict[str, str]:
    """The texts of a metric's items by id; empty where the inputs are not at hand.

    Raises:
        InputError: a file of them cannot be read.
    """
    benchmark, metric = path.partition("/")[0], path.rpartition("/")[2]
    read = _READERS.get(benchmark)
    return dict(read(root / f"data/runs/{dataset}/{benchmark}", metric)) if read else {}


def _inmind(folder: Path, metric: str) -> Iterator[tuple[str, str]]:
    query = "naive_query" if metric.startswith("naive_") else "query"
    for row in _rows(folder / "inputs/tasks.jsonl"):
        yield str(row["task_id"]), f"{row[query]} [fact: {row['user_message']}]"


def _cimemories(folder: Path, metric: str) -> Iterator[tuple[str, str]]:
    if metric.startswith("completeness"):
        for row in _rows(folder / "inputs/contexts.jsonl"):
            yield f"{row['profile']}/{row['place']}", f"{row['recipient']}: {row['task']}"
        return
    for row in _rows(folder / "judge_only/attributes.jsonl"):
        yield f"{row['profile']}/{row['position']}", row["statement"]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.is_file():
        yield from (row for _, row in iter_json_lines(path))


_READERS: dict[str, Callable[[Path, str], Iterator[tuple[str, str]]]] = {
    "inmind": _inmind,
    "cimemories": _cimemories,
}
