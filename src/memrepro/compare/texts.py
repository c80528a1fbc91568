"""What the items of a comparison are about, and what the system did with them, on each side."""

from collections.abc import Callable, Iterator
from typing import Any

from memrepro.benchmarks.inmind.judge_model import JUDGED
from memrepro.compare.revision import Tree, naming
from memrepro.errors import InputError
from memrepro.files import iter_json_lines

# The named texts of one item, in the order in which they are read; empty where none is at hand.
Text = dict[str, str]
Entry = tuple[str, Text]


def item_texts(tree: Tree, dataset: str, path: str) -> dict[str, Text]:
    """The texts of a metric's items on one side, by id; what is not at hand `tree.missing` tells.

    InMind: query, fact, and the answer, or the context where no answer is judged. CIMemories:
    statement, or recipient and task. Retention: policy and fact.

    Raises:
        InputError: a file cannot be read, or its rows are not as this version writes them.
    """
    benchmark, *place = path.split("/")
    read = _READERS.get(benchmark)
    folder = f"data/runs/{dataset}/{benchmark}"
    with naming(tree):
        try:
            return dict(read(tree, folder, place)) if read else {}
        except (KeyError, TypeError, IndexError) as error:
            raise InputError(
                "its texts are not as this version writes them",
                where=f"{tree.name}: {folder}",
                found=f"no {error}",
                hint="memrepro diff without --texts",
            ) from None


def _inmind(tree: Tree, folder: str, place: list[str]) -> Iterator[Entry]:
    system, metric = place
    kind = "naive" if metric.startswith("naive_") else "indirect"
    bare = metric.endswith("_without_target") or metric == "unprompted_warning"
    about = (kind, "without_target" if bare else "with_target")
    judged = JUDGED.get(metric.removesuffix("_gated"))
    part = "answer" if judged and judged.reads_answer else "context"
    read = _answers if part == "answer" else _contexts
    shown = dict(read(tree, folder, system, about))
    query = "naive_query" if kind == "naive" else "query"
    for row in _rows(tree, f"{folder}/inputs/tasks.jsonl"):
        task = row["task_id"]
        known = {part: shown[task]} if task in shown else {}
        yield str(task), {"query": row[query], "fact": row["user_message"], **known}


def _answers(
    tree: Tree, folder: str, system: str, about: tuple[str, str]
) -> Iterator[tuple[int, str]]:
    for row in _rows(tree, f"{folder}/answers/{system}.jsonl"):
        if (row["query_kind"], row["condition"]) == about:
            yield row["task_id"], f"none: {row['status']}" if row["text"] is None else row["text"]


def _contexts(
    tree: Tree, folder: str, system: str, about: tuple[str, str]
) -> Iterator[tuple[int, str]]:
    items = {
        row["item"]: row["text"] for row in _rows(tree, f"{folder}/contexts/{system}/items.jsonl")
    }
    for row in _rows(tree, f"{folder}/contexts/{system}/contexts.jsonl"):
        if (row["query_kind"], row["condition"]) == about:
            yield row["task_id"], "\n\n".join(items[item] for item in row["items"])


def _cimemories(tree: Tree, folder: str, place: list[str]) -> Iterator[Entry]:
    if place[-1].startswith("completeness"):
        for row in _rows(tree, f"{folder}/inputs/contexts.jsonl"):
            text = {"recipient": row["recipient"], "task": row["task"]}
            yield f"{row['profile']}/{row['place']}", text
        return
    for row in _rows(tree, f"{folder}/judge_only/attributes.jsonl"):
        yield f"{row['profile']}/{row['position']}", {"statement": row["statement"]}


def _retention(tree: Tree, folder: str, place: list[str]) -> Iterator[Entry]:
    """The scores call a fact by its name, which the system under test does not see."""
    names = {
        (row["policy_id"], row["fact_id"]): row["name"]
        for row in _rows(tree, f"{folder}/judge_only/{place[0]}/cells.jsonl")
    }
    for row in _rows(tree, f"{folder}/inputs/{place[0]}/cells.jsonl"):
        policy = row["policy_id"]
        if name := names.get((policy, row["fact_id"])):
            yield f"{policy}/{name}", {"policy": row["policy"], "fact": row["text"]}


def _rows(tree: Tree, file: str) -> Iterator[dict[str, Any]]:
    if path := tree.output(file):
        yield from (row for _, row in iter_json_lines(path))


_READERS: dict[str, Callable[[Tree, str, list[str]], Iterator[Entry]]] = {
    "inmind": _inmind,
    "cimemories": _cimemories,
    "retention": _retention,
}
