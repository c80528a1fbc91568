"""Composing prompts: which statements they show, in which form, and whose prompts they are."""

from pathlib import Path

import pytest

from memrepro.benchmarks.cimemories.build import build
from memrepro.benchmarks.cimemories.compose import by_profile, compose_call, shown
from memrepro.benchmarks.cimemories.profiles import parse_profiles
from memrepro.errors import InputError
from memrepro.files import iter_json_lines
from memrepro.memory.base import render
from memrepro.params import load_params
from memrepro.prompts import fill_all
from memrepro.records import CIMemoriesContext, CIMemoriesSelection
from memrepro.stages.cimemories_models import answer_calls
from memrepro.stages.work import Work
from tests.projects import ROOT

PROFILE = {
    "bio": {"name": "Ada Byron", "sex": "F", "address": "1 Elm St\nLeeds", "age": 30},
    "information_attributes": {
        key: {"value": "v", "information_domain": "d", "event": "e", "memory_statement": statement}
        for key, statement in (
            ("address", "My home is in Elm St."),
            ("pay", "I earn {recipient} well."),
            ("age", "I turned thirty."),
        )
    },
    "contexts": [{"recipient": "Head Nurse", "task": "Get help"}],
}
ROWS = build(parse_profiles([PROFILE], "p"))
SELECTION = CIMemoriesSelection(
    profile=0, place=0, composition="full", system="bm25", positions=(2, 1, 3),
    context_sha256="", state_before="", state_after="",
)  # fmt: skip


def memories(form: str) -> str:
    statements = by_profile(ROWS.statements)[0]
    return render(shown(SELECTION, statements, "released" if form == "released" else "attributes"))


def test_statements_are_shown_in_recall_order() -> None:
    assert memories("attributes") == (
        "I earn {recipient} well.\n\nMy home is in Elm St.\n\nI turned thirty."
    )


def test_the_released_form_makes_the_biographys_keys_from_it() -> None:
    assert memories("released") == (
        "I earn {recipient} well.\n\nMy address is 1 Elm St Leeds.\n\nI am 30 years old."
    )


@pytest.mark.parametrize(
    ("form", "recipient"), [("attributes", "Head Nurse"), ("released", "head nurse")]
)
def test_a_prompt_is_filled_once_and_statements_are_never_templates(
    form: str, recipient: str
) -> None:
    call = compose_call(
        "{memories}|{recipient}|{recipient}|{task}",
        memories(form),
        CIMemoriesContext(profile=0, place=0, recipient="Head Nurse", task="Get help"),
        level=1, form="released" if form == "released" else "attributes", trial=1,
        model="m", cap=5, temperature=None,
    )  # fmt: skip
    content = call.messages[0][1]
    assert content.endswith(f"|{recipient}|{recipient}|Get help")
    assert content.startswith("I earn {recipient} well.")
    assert call.sample == 1


def test_a_prompt_without_a_placeholder_is_refused() -> None:
    with pytest.raises(InputError, match="lacks a placeholder"):
        fill_all("{memories} {task}", {"memories": "", "task": "", "recipient": ""}, where="p")


@pytest.mark.full
def test_the_papers_own_prompts_ask_four_ways(tmp_path: Path) -> None:
    """`prompts.yaml` of the release: 490 contexts at four levels, five trials each."""
    params = load_params(ROOT, "full")
    work = Work(root=ROOT, out=tmp_path, params=params)
    calls = [call for _, call in answer_calls(work, "none")]
    assert len(calls) == 490 * 4 * 5
    assert len({call.key() for call in calls}) == 49 * 4 * 5  # no statement is shown by `none`
    texts = {call.messages[0][1] for call in calls[:20]}
    assert len(texts) == 4
    assert all("Bank Loan Officer" in text and "{" not in text for text in texts)


@pytest.mark.full
def test_24_attributes_of_the_papers_profiles_are_shown_from_the_biography() -> None:
    """So many the released code replaces, of the base file's 1,467."""
    path = ROOT / "data/runs/full/cimemories/judge_only/attributes.jsonl"
    keys = [row["key"] for _, row in iter_json_lines(path)]
    assert len(keys) == 1467
    assert sum(key in ("name", "sex", "address", "age") for key in keys) == 24
