"""Verdicts: a score only from exactly one JSON object with an integer in it."""

import asyncio
from typing import Any

import pytest

from memrepro.llm.call import Call
from memrepro.llm.openai import OpenAIClient
from memrepro.llm.verdict import parse_verdict, response_format, verdict_format
from memrepro.params import Model

from .fault_server import VERDICTS, Answer, completion, serving


@pytest.mark.parametrize(("text", "score"), VERDICTS.values(), ids=VERDICTS)
def test_forms(text: str, score: int | None) -> None:
    found = parse_verdict(text)
    assert found == score and type(found) is type(score)


def test_a_score_is_never_found_inside_a_text() -> None:
    for wrapping in ("{} ", "x{}", "{}x", "[{}]", "<p>{}</p>", "> {}", "{},", "score: {}", "`{}`"):
        text = wrapping.replace("{}", '{"score": 1}')
        assert parse_verdict(text) == (1 if wrapping == "{} " else None), text


def test_the_same_forms_from_a_server() -> None:
    # A judge's reply is kept as given; only a blank one is a failure of the call already.
    def behaviour(body: dict[str, Any], _: int) -> Answer:
        return completion(VERDICTS[body["messages"][0]["content"]][0])

    async def ask(url: str) -> dict[str, str | None]:
        client = OpenAIClient("judge", Model(identity="m", name="m", base_url=url), "")
        try:
            calls = {name: Call("m", (("user", name),), cap=9) for name in VERDICTS}
            return {name: (await client.send(call)).text for name, call in calls.items()}
        finally:
            await client.close()

    with serving(behaviour) as server:
        texts = asyncio.run(ask(server.url))
    blank = {"empty", "white_space"}
    assert texts == {n: None if n in blank else text for n, (text, _) in VERDICTS.items()}


def test_structured_output_holds_a_judge_to_what_is_parsed() -> None:
    formats = (verdict_format("json_schema"), verdict_format("json_object"))
    assert [value and value["type"] for value in formats] == ["json_schema", "json_object"]
    assert formats[0] and formats[1]
    for schema in (formats[0]["json_schema"]["schema"], formats[1]["schema"]):
        assert schema["properties"]["score"] == {"type": "integer", "enum": [0, 1]}
        # The API's strict mode wants both of these.
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) == set(schema["properties"])
    assert verdict_format("none") is None


def test_a_format_in_the_form_that_its_server_takes() -> None:
    """OpenAI's reference, `response_format`; llama.cpp's server, `json_object` with a schema."""
    schema = {"type": "object"}
    assert response_format("n", schema, "json_schema") == {
        "type": "json_schema",
        "json_schema": {"name": "n", "strict": True, "schema": {"type": "object"}},
    }
    assert response_format("n", schema, "json_object") == {
        "type": "json_object",
        "schema": {"type": "object"},
    }
    assert response_format("n", schema, "none") is None
    named = verdict_format("json_schema")
    assert named and named["json_schema"]["name"] == "verdict"
