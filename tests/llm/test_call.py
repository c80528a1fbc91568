"""What moves a call's key and what does not (case 7), and replay in order (case 8)."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memrepro.benchmarks.inmind.answer import answer_call
from memrepro.errors import InputError
from memrepro.llm.call import Call, Reply, failed
from memrepro.llm.ledger import read_shard, resolve, write_shard
from memrepro.params import Model, load_params
from memrepro.stages.steps import steps
from tests.projects import ROOT

CALL = Call(
    model="m",
    messages=(("system", "You help."), ("user", "Which pan?")),
    cap=256,
    temperature=0.0,
)


def test_the_key_is_the_hash_of_the_canonical_json() -> None:
    """Written out by hand: sorted keys, no white space."""
    text = (
        '{"messages":[["system","You help."],["user","Which pan?"]],"model":"m",'
        '"parameters":{"cap":256,"temperature":0.0},"response_format":null,"sample":0}'
    )
    assert CALL.key() == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"model": "m-2"},
        {"messages": (("system", "You help."), ("user", "Which pot?"))},
        {"messages": (("user", "You help."), ("user", "Which pan?"))},
        {"messages": (("user", "Which pan?"), ("system", "You help."))},
        {"cap": 257},
        {"temperature": 0.1},
        {"temperature": None},
        {"response_format": {"type": "json_object"}},
        {"sample": 1},
    ],
    ids=str,
)
def test_what_can_change_a_reply_changes_the_key(change: dict[str, Any]) -> None:
    assert replace(CALL, **change).key() != CALL.key()


MODEL = {
    "identity": "m",
    "name": "m",
    "base_url": "http://127.0.0.1:1/v1",
    "temperature": 0.0,
}


def key_of(**changes: object) -> str:
    """The key of an answer call as the params make it."""
    model = Model.model_validate({**MODEL, **changes})
    return answer_call(
        "Remember: {context}", "A fact.", "A query?",
        model=model.identity, cap=64, temperature=model.temperature,
    ).key()  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "https://elsewhere.example/v1"},
        {"name": "served-under-another-name"},
        {"timeout": 1.0},
        {"attempts": 1},
        {"concurrency": 64},
        {"requests_per_minute": 1},
        {"tokens_per_minute": 1},
        {"api_key_env": "ANOTHER_KEY"},
        {"cap_parameter": "max_tokens"},
        {"price_input": 9.0, "price_output": 9.0},
    ],
    ids=str,
)
def test_where_and_how_patiently_it_is_asked_does_not(change: dict[str, object]) -> None:
    assert key_of(**change) == key_of()


@pytest.mark.parametrize("change", [{"identity": "m-2"}, {"temperature": 1.0}], ids=str)
def test_identity_and_temperature_of_the_params_do(change: dict[str, object]) -> None:
    assert key_of(**change) != key_of()


def test_five_samples_of_one_prompt_replay_in_order(tmp_path: Path) -> None:
    samples = [replace(CALL, sample=n) for n in range(5)]
    replies = [
        Reply(
            key=call.key(), text=f"reply {n}", failure=None, detail=None, finish_reason="stop",
            prompt_tokens=1, completion_tokens=1, model="m",
        )
        for n, call in enumerate(samples)
    ]  # fmt: skip
    write_shard(tmp_path / "shard.jsonl", reversed(replies))
    find = read_shard(tmp_path / "shard.jsonl").get
    texts = [reply.text for reply, _ in (resolve(find, call) for call in samples) if reply]
    assert texts == ["reply 0", "reply 1", "reply 2", "reply 3", "reply 4"]


def test_a_cut_off_reply_gives_way_to_the_one_with_the_raised_cap() -> None:
    cut = failed(CALL.key(), "length", "half a tho")
    raised = replace(CALL, cap=512)
    whole = failed(raised.key(), "refusal", "no").model_copy(
        update={"text": "a thought", "failure": None, "detail": None}
    )
    assert resolve({cut.key: cut}.get, CALL) == (cut, False)
    assert resolve({cut.key: cut, whole.key: whole}.get, CALL) == (whole, True)
    other = failed(CALL.key(), "empty", "")
    assert resolve({other.key: other, whole.key: whole}.get, CALL) == (other, False)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"key": "a"}\n', "field text"),
        ('{"key": "a", "key": "b"}\n', "stands twice"),
        ("{", "cut off"),
        ("[]\n", "line 1"),
    ],
)
def test_a_shard_is_read_strictly(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "shard.jsonl"
    path.write_text(line)
    with pytest.raises(InputError, match=message):
        read_shard(path)


def test_a_key_twice_in_a_shard_is_refused(tmp_path: Path) -> None:
    row = json.dumps(failed("a" * 64, "empty", "x").model_dump())
    (tmp_path / "shard.jsonl").write_text(f"{row}\n{row}\n")
    with pytest.raises(InputError) as caught:
        read_shard(tmp_path / "shard.jsonl")
    assert str(caught.value) == (
        f"{tmp_path / 'shard.jsonl'}, line 2: a key stands twice in a shard\n  found:    {'a' * 64}"
    )


def test_the_papers_caps_and_temperature_are_those_of_the_full_params() -> None:
    """Paper, section on answers and judging: 16,384 and 4,096 completion tokens, no temperature."""
    params = load_params(ROOT, "full")
    assert [(step.name, step.settings.cap) for step in steps(params, "inmind", "bm25")] == [
        ("answer", 16384),
        ("judge", 4096),
    ]
    model = params.models["gpt-5-mini"]
    assert (model.identity, model.temperature) == ("gpt-5-mini", None)
