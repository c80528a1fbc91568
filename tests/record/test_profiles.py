"""Profiles whose attributes a model writes: what is asked, refused, asked again, and resumed."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from memrepro.benchmarks.cimemories.generate import outlines
from memrepro.benchmarks.cimemories.model_profiles import (
    ATTEMPTS,
    Order,
    order_call,
    orders,
    read_reply,
)
from memrepro.benchmarks.cimemories.profiles import parse_profile
from memrepro.benchmarks.cimemories.tables import DOMAINS, slug
from memrepro.cli.cimemories_generate import load_tables
from memrepro.errors import InputError, ServiceError, Stopped
from memrepro.llm.call import Reply, failed
from memrepro.record.profiles import Wanted, record_profiles
from memrepro.record.shard import Progress, Terms
from tests.llm.fault_server import REFUSAL, Answer, completion, error, serving
from tests.projects import ROOT, copy_inputs
from tests.record.driver import model

TABLES = load_tables(ROOT)
PROMPT = (ROOT / "prompts/cimemories/generate.txt").read_text("utf-8")
PEOPLE = outlines(TABLES, profiles=2, seed=3)
CALLS = 3 * len(DOMAINS)  # a profile


def entries(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Seven entries that no other order's repeat."""
    place = f"{given['domain']} in the {given['event']}"
    return [
        {
            "key": f"{given['domain']}_note_{n}",
            "value": 1000 * n,
            "statement": f"Note {n} on {place} has {1000 * n:,} words.",
        }
        for n in range(1, 8)
    ]


def written(body: dict[str, Any], _: int = 0) -> Answer:
    return completion(json.dumps({"attributes": entries(asked(body))}))


def asked(body: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = json.loads(body["messages"][-1]["content"])
    return given


def run(folder: Path, url: str, profiles: int = 1, **terms: Any) -> list[dict[str, Any]]:
    wanted = Wanted(TABLES, profiles, 12, 3, PROMPT, 512)
    values = {"budget": None, "retry_failed": False, **terms}
    row = {"concurrency": 8, "attempts": 1, **values.pop("row", {})}
    progress = Progress(show=lambda _: None)
    return record_profiles(
        folder, wanted, Terms("m", model(url, **row), "none", **values), progress
    )


def test_a_model_writes_seven_attributes_an_order(tmp_path: Path) -> None:
    with serving(written) as server:
        values = run(tmp_path, server.url, 2)
        assert server.total == 2 * CALLS
        assert run(tmp_path, server.url, 2) == values
        assert server.total == 2 * CALLS
        assert run(tmp_path, server.url, 1) == values[:1]
        assert server.total == 2 * CALLS
    for value, outline in zip(values, PEOPLE, strict=True):
        parse_profile(value, "x")
        given = value["information_attributes"]
        assert len(given) == 12 + 189
        assert value["bio"] == outline.bio._asdict()
        last = outline.events[2].event
        assert given[f"{slug(last)}_education_note_7"] == {
            "value": 7000,
            "information_domain": "education",
            "event": last,
            "memory_statement": f"Note 7 on education in the {last} has 7,000 words.",
        }
        assert list(given)[-1] == f"{slug(last)}_education_note_7"


def test_the_model_is_told_the_person_and_held_to_the_form(tmp_path: Path) -> None:
    with serving(written) as server:
        run(tmp_path, server.url, row={"structured_output": "json_schema", "temperature": 0.7})
    body = next(one for one in server.bodies if asked(one)["domain"] == "legal")
    assert body["messages"][0] == {"role": "system", "content": PROMPT}
    assert asked(body)["person"] == PEOPLE[0].bio._asdict()
    assert asked(body)["count"] == 7
    assert f"I am {PEOPLE[0].bio.age} years old." in asked(body)["known"]
    assert body["temperature"] == 0.7
    assert body["max_completion_tokens"] == 512
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["attributes"]["minItems"] == 7


def test_a_refused_reply_is_asked_for_again_as_another_sample(tmp_path: Path) -> None:
    bad = [completion("I'd rather not."), REFUSAL, completion('{"attributes": []}')]

    def behaviour(body: dict[str, Any], before: int) -> Answer:
        return bad[before] if asked(body)["domain"] == "health" and before < 3 else written(body)

    with serving(behaviour) as server:
        values = run(tmp_path, server.url)
        assert server.total == CALLS + 3 * 3
        assert run(tmp_path, server.url) == values
        assert server.total == CALLS + 3 * 3
    with serving(written) as server:
        (tmp_path / "other").mkdir()
        assert run(tmp_path / "other", server.url) == values


def test_an_order_whose_every_reply_is_refused_ends_the_run(tmp_path: Path) -> None:
    def behaviour(body: dict[str, Any], _: int) -> Answer:
        return completion("Sorry.") if asked(body)["domain"] == "housing" else written(body)

    with serving(behaviour) as server, pytest.raises(InputError) as caught:
        run(tmp_path, server.url)
    assert server.total == CALLS - 3 + 3 * ATTEMPTS
    said = str(caught.value)
    assert f"profile 0 ({PEOPLE[0].bio.name}), {PEOPLE[0].events[0].event}, housing" in said
    assert f"{ATTEMPTS} replies of models.m were refused" in said
    assert "2 more orders" in said
    assert "hint" in said


def test_domains_that_contradict_each_other_are_asked_again(tmp_path: Path) -> None:
    """The later order in the profile is the one that is refused, whichever reply came first."""

    def behaviour(body: dict[str, Any], before: int) -> Answer:
        given = asked(body)
        rows = entries(given)
        if given["domain"] in ("finance", "schedule") and not before:
            amount = 500 if given["domain"] == "finance" else 600
            rows[0] |= {
                "key": f"{given['domain']}_fee",
                "value": amount,
                "statement": f"The fee for the {given['event']} was ${amount}.",
            }
        return completion(json.dumps({"attributes": rows}))

    with serving(behaviour) as server:
        (value,) = run(tmp_path, server.url)
    assert server.total == CALLS + 3
    keys = "".join(value["information_attributes"])
    assert "finance_fee" in keys
    assert "schedule_fee" not in keys


def test_a_budget_stops_and_what_came_is_not_sent_again(tmp_path: Path) -> None:
    row = {"price_output": 100.0, "concurrency": 1}  # a call's most is $0.0512, its cost $0.0007
    with serving(written) as server:
        with pytest.raises(Stopped):
            run(tmp_path, server.url, budget=0.06, row=row)
        before = server.total
        assert 0 < before < CALLS
        run(tmp_path, server.url, row=row)
        assert server.total == CALLS


def test_a_server_that_is_down_is_an_error_of_its_own(tmp_path: Path) -> None:
    with serving(error(500, "oops")) as server, pytest.raises(ServiceError, match="every one of"):
        run(tmp_path, server.url)
    with serving(written) as server:
        run(tmp_path, server.url, retry_failed=True)
        assert server.total == CALLS


ORDER = orders(PEOPLE)[3]


def reply(text: str | None) -> Reply:
    good = failed("k", "empty", "")
    return good if text is None else good.model_copy(update={"text": text, "failure": None})


def spoiled(change: Callable[[list[dict[str, Any]]], Any]) -> str:
    rows = entries({"domain": ORDER.domain, "event": ORDER.event})
    change(rows)
    return json.dumps({"attributes": rows})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "the call failed"),
        ("", "not valid JSON"),
        ("[]", "wrong type"),
        ("{}", "is missing"),
        ('{"attributes": {}}', "wrong type"),
        (f"Here you are: {spoiled(lambda rows: None)}", "not valid JSON"),
        (spoiled(lambda rows: rows.pop()), "another number"),
        (spoiled(lambda rows: rows.append(rows[0])), "another number"),
        (spoiled(lambda rows: None)[:-1] + ', "more": 1}', "further fields"),
        (spoiled(lambda rows: rows[1].pop("key")), "is missing"),
        (spoiled(lambda rows: rows[1].update(key="A key")), "malformed attribute"),
        (spoiled(lambda rows: rows[1].update(more=1)), "malformed attribute"),
        (spoiled(lambda rows: rows[1].pop("value")), "malformed attribute"),
        (spoiled(lambda rows: rows[1].update(value=None)), "wrong type"),
        (spoiled(lambda rows: rows[1].update(value=[1])), "wrong type"),
        (spoiled(lambda rows: rows[1].update(value="")), "wrong type"),
        (spoiled(lambda rows: rows[1].update(value=float("nan"))), "not valid JSON"),
        (spoiled(lambda rows: rows[1].update(value=7.5)).replace("7.5", "1e999"), "wrong type"),
        (spoiled(lambda rows: rows[1].update(statement="")), "is no one line"),
        (spoiled(lambda rows: rows[1].update(statement="One\ntwo.")), "is no one line"),
        (spoiled(lambda rows: rows[1].update(key=rows[0]["key"])), "a key stands twice"),
        (
            spoiled(lambda rows: rows[1].update(statement=rows[0]["statement"])),
            "a statement stands twice",
        ),
        (spoiled(lambda rows: rows[1].update(statement="I am 99 years old.")), "in age"),
    ],
)
def test_a_reply_is_read_strictly(text: str | None, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        read_reply(ORDER, reply(text), ORDER.outline.general)
    assert (caught.value.where or "").startswith(str(ORDER))


def test_a_fence_and_a_prefix_are_taken_off() -> None:
    def prefix(rows: list[dict[str, Any]]) -> None:
        rows[0]["key"] = f"{slug(ORDER.event)}_{rows[0]['key']}"

    plain = read_reply(ORDER, reply(spoiled(lambda rows: None)), ())
    fenced = f"```json\n{spoiled(prefix)}\n```"
    assert read_reply(ORDER, reply(fenced), ()) == plain
    assert all(one.key.startswith(f"{slug(ORDER.event)}_") for one in plain)


def test_every_call_has_a_key_of_its_own() -> None:
    row = model("http://127.0.0.1:1/v1", 1)

    def key(order: Order, sample: int) -> str:
        return order_call(order, PROMPT, row, cap=512, sample=sample).key()

    keys = {key(order, sample) for order in orders(PEOPLE) for sample in range(ATTEMPTS)}
    assert len(keys) == 2 * CALLS * ATTEMPTS


def test_the_command_asks_the_model_of_the_params(tmp_path: Path) -> None:
    project = copy_inputs(tmp_path / "project")
    with serving(written) as server:
        file = project / "full/params.yaml"
        params = yaml.safe_load(file.read_text("utf-8"))
        params["models"]["made-up"] = {"identity": "m", "name": "m", "base_url": server.url}
        file.write_text(yaml.safe_dump(params), "utf-8")
        results = [
            subprocess.run(
                [sys.executable, "-m", "memrepro", "cimemories", "generate", "--profiles", "1",
                 "--seed", "3", "--contexts", "2", "--model", "made-up"],
                cwd=project,
                capture_output=True,
                check=False,
            )
            for _ in range(2)
        ]  # fmt: skip
        assert server.total == CALLS
    assert [result.returncode for result in results] == [0, 0], results[0].stderr.decode()
    assert results[0].stdout == results[1].stdout
    (value,) = json.loads(results[0].stdout)
    assert len(parse_profile(value, "x").attributes) == 201
    assert b"attributes: 27/27" in results[0].stderr
