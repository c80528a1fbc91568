"""Selection by systems that break the contract, and prompts of another form than the release's."""

import hashlib
from pathlib import Path

import pytest

from memrepro.benchmarks.cimemories.remember import select
from memrepro.errors import InputError, ProtocolError
from memrepro.memory.base import MemorySystem, Resources, render
from memrepro.memory.full_context import FullContext
from memrepro.params import load_params
from memrepro.records import (
    CIMemoriesComposition,
    CIMemoriesContext,
    CIMemoriesSelection,
    CIMemoriesStatement,
    Recalled,
    Session,
    Turn,
)
from memrepro.stages.cimemories_models import answer_calls
from memrepro.stages.work import Work
from tests.compare.project import new_project
from tests.projects import change_params

STATEMENTS = [
    CIMemoriesStatement(profile=2, position=n, statement=f"Statement {n}.", released="R.")
    for n in (1, 2, 3)
]
CONTEXT = CIMemoriesContext(profile=2, place=4, recipient="Bank", task="ask for a loan")
COMPOSED = CIMemoriesComposition(profile=2, place=4, composition="iid=2", positions=(1, 3))


class Remembering(FullContext):
    """Takes its queries in."""

    def recall(self, query: str, k: int) -> list[Recalled]:
        self.ingest(Session(id="q", turns=(Turn(id="q", role="user", text=query),)))
        return super().recall(query, k)[:1]


class Inventing(FullContext):
    """Brings back what it never took in."""

    def recall(self, query: str, k: int) -> list[Recalled]:
        return [Recalled(id="m0002", text="Statement 2.")]


def rows(kind: type[MemorySystem], folder: Path) -> list[CIMemoriesSelection]:
    return list(
        select(
            lambda: kind(Resources(folder)),
            lambda memory, context, facts: memory,
            STATEMENTS,
            [CONTEXT],
            [COMPOSED],
            5,
            system="s",
            render=render,
        )
    )


def test_what_is_left_out_is_neither_in_memory_nor_in_the_numbering(tmp_path: Path) -> None:
    (row,) = rows(FullContext, tmp_path)
    assert row.positions == (1, 3)
    shown = b"Statement 1.\n\nStatement 3."
    assert row.context_sha256 == hashlib.sha256(shown).hexdigest()


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (Remembering, "the state changed at context 4 of profile 2"),
        (Inventing, "an item came back that was never retained at context 4 of profile 2"),
    ],
)
def test_a_system_that_breaks_the_contract_is_refused(
    tmp_path: Path, kind: type[MemorySystem], told: str
) -> None:
    with pytest.raises(ProtocolError, match=told) as caught:
        rows(kind, tmp_path)
    assert caught.value.exit_code == 1
    assert caught.value.hint == "recall must only read, and return retained facts under their ids"


@pytest.mark.parametrize(
    "text", ["[]", "task_solving: {1: a, 2: b, 3: c}\nadversary_reveal: {1: r}", "task_solving:"]
)
def test_a_file_of_prompts_that_lacks_one_is_named(tmp_path: Path, text: str) -> None:
    project = new_project(tmp_path)
    (project / "prompts.yaml").write_text(text)
    change_params(
        project, lambda values: values["cimemories"]["data"].update(prompts="prompts.yaml")
    )
    work = Work(root=project, out=project, params=load_params(project, "sample"))
    with pytest.raises(InputError, match="lacks a prompt") as caught:
        list(answer_calls(work, "bm25"))
    assert caught.value.where == f"{project}/prompts.yaml"
    assert "task_solving with a text a level" in str(caught.value)
