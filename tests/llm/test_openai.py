"""The network client against a real server: what each answer becomes."""

import asyncio
import contextlib
import json
import socket
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from memrepro.errors import InputError, MemreproError, ServiceError
from memrepro.llm.call import Call, Failure, Reply, TransientError
from memrepro.llm.openai import OpenAIClient, reply_of, request_body
from memrepro.params import Model

from .fault_server import (
    CUT,
    HTML,
    NO_MAX_TOKENS,
    NO_TEMPERATURE,
    NULL_CONTENT,
    OK,
    REFUSAL,
    RESET,
    SILENT,
    SPENT_ON_REASONING,
    Answer,
    Behaviour,
    completion,
    error,
    in_turn,
    json_answer,
    serving,
)

KEY = "sk-test-51a0c0ffee"
CALL = Call("m-1", (("system", "Be brief."), ("user", "Hello?")), cap=64)
# Part of it is llama.cpp's, unknown to the SDK's types.
FORMAT = {"type": "json_object", "schema": {"type": "object", "required": ["score"]}}


def model(url: str, **more: Any) -> Model:
    values = {"identity": "m-1", "name": "served", "api_key_env": "TEST_KEY", "timeout": 30.0}
    return Model(base_url=url, **{**values, **more})


def send(
    behaviour: Behaviour | Answer, *calls: Call, **more: Any
) -> tuple[list[Reply | Exception], list[dict[str, Any]]]:
    """What calls, one after the other, come to, and the bodies that the server got."""

    async def ask(url: str) -> list[Reply | Exception]:
        client = OpenAIClient("judge", model(url, **more), KEY)
        try:
            return [await caught(client, call) for call in calls or (CALL,)]
        finally:
            await client.close()

    with serving(behaviour) as server:
        outcomes = asyncio.run(ask(server.url))
    return outcomes, server.bodies


async def caught(client: OpenAIClient, call: Call) -> Reply | Exception:
    try:
        return await client.send(call)
    except (TransientError, MemreproError) as error:
        return error


def reply(behaviour: Behaviour | Answer, call: Call = CALL, **more: Any) -> Reply:
    (outcome,), bodies = send(behaviour, call, **more)
    assert isinstance(outcome, Reply), repr(outcome)
    assert len(bodies) == 1
    return outcome


def transient(behaviour: Behaviour | Answer, **more: Any) -> TransientError:
    (outcome,), bodies = send(behaviour, **more)
    assert isinstance(outcome, TransientError), repr(outcome)
    assert len(bodies) == 1, "the client itself retries nothing"
    return outcome


# ---------------------------------------------------------------------------- what is sent


def test_a_reply_is_kept_whole() -> None:
    text = " \n Grüße, 世界 \U0001f600\u2028\x00 \r\n "
    assert reply(completion(text)) == Reply(
        key=CALL.key(),
        text=text,
        failure=None,
        detail=None,
        finish_reason="stop",
        prompt_tokens=11,
        completion_tokens=7,
        model="served-1",
    )


def test_nothing_is_sent_but_what_the_call_says() -> None:
    full = replace(CALL, temperature=0.0, response_format=FORMAT)
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello?"}]
    least = {"model": "served", "messages": messages, "max_completion_tokens": 64}
    _, bodies = send(OK, CALL, full)
    assert bodies == [least, {**least, "temperature": 0.0, "response_format": FORMAT}]
    _, bodies = send(OK, CALL, cap_parameter="max_tokens")
    assert bodies == [{"model": "served", "messages": messages, "max_tokens": 64}]
    # Batch API files hold the same.
    assert request_body(model("http://127.0.0.1:9/v1"), CALL) == least


def test_the_key_and_no_settings_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-another-server")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another-server")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-another-server")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    async def ask(url: str) -> None:
        for keyed, key in ((model(url), KEY), (model(url, api_key_env=None), "")):
            client = OpenAIClient("judge", keyed, key)
            await client.send(CALL)
            await client.close()

    with serving(OK) as server:
        asyncio.run(ask(server.url))
    assert server.authorizations == {f"Bearer {KEY}": 1, "Bearer none": 1}
    assert not [head for head in server.heads if b"of-another-server" in head]


def test_only_one_module_imports_the_sdk() -> None:
    source = Path(__file__).parents[2] / "src"
    importing = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if line.strip().startswith(("import openai", "from openai"))
    ]
    assert importing == ["memrepro/llm/openai.py"]


@pytest.mark.parametrize("key", ["", "sk-1\n", "sk 1", " ", "clé", "sk-1\u200b"])
def test_a_key_that_cannot_be_one(key: str) -> None:
    with pytest.raises(InputError, match="TEST_KEY") as caught:
        OpenAIClient("judge", model("http://127.0.0.1:9/v1"), key)
    assert not key.strip() or key.strip() not in str(caught.value)


@pytest.mark.parametrize("url", ["", "api.test/v1", "ftp://api.test", "http://", "http://[", "x"])
def test_an_address_that_cannot_be_one(url: str) -> None:
    with pytest.raises(InputError, match=r"models\.judge\.base_url"):
        OpenAIClient("judge", model(url), KEY)


# ---------------------------------------------------------------------------- 200: replies


@pytest.mark.parametrize("finish", [None, "stop", "eos", "tool_calls", ""])
def test_other_reasons_to_finish_are_benign(finish: str | None) -> None:
    found = reply(completion("Yes.", finish))
    assert (found.text, found.failure, found.finish_reason) == ("Yes.", None, finish)


CONTENTS: dict[str, tuple[Answer, Failure, str | None]] = {
    "spent_on_reasoning": (SPENT_ON_REASONING, "length", None),
    "null_at_the_cap": (completion(None, "length"), "length", None),
    "blank_at_the_cap": (completion(" \n", "length"), "length", " \n"),
    "cut_at_the_cap": (completion("Once upon a", "length"), "length", "Once upon a"),
    "cut_at_the_cap_as_others_say": (completion("Once", "MAX_TOKENS"), "length", "Once"),
    "null": (NULL_CONTENT, "empty", None),
    "empty": (completion(""), "empty", None),
    "blank": (completion("\n \t\u3000"), "empty", "\n \t\u3000"),
    "refusal": (REFUSAL, "refusal", "I can't help with that."),
    "refusal_beside_text": (completion("Well", refusal="No."), "refusal", "No."),
    "filtered": (completion(None, "content_filter"), "filtered", None),
    "filtered_midway": (completion("How to", "content_filter"), "filtered", "How to"),
    "lone_surrogate": (completion("a\ud800b"), "malformed", "a?b"),
    "azure_filter": (
        error(400, "The response was filtered.", "content_filter"),
        "filtered",
        "HTTP 400: The response was filtered.",
    ),
}


@pytest.mark.parametrize(("answer", "failure", "detail"), CONTENTS.values(), ids=CONTENTS)
def test_replies_without_a_text(answer: Answer, failure: Failure, detail: str | None) -> None:
    found = reply(answer)
    assert (found.text, found.failure, found.detail) == (None, failure, detail)
    assert found.key == CALL.key()
    if answer.status == 200:
        assert (found.prompt_tokens, found.completion_tokens, found.model) == (11, 7, "served-1")
        assert found.finish_reason == json.loads(answer.body)["choices"][0]["finish_reason"]


def test_a_refusal_that_is_empty_is_none() -> None:
    assert reply(completion("Yes.", refusal="")).text == "Yes."


@pytest.mark.parametrize(
    "usage",
    [None, [], {}, {"prompt_tokens": "3"}, {"prompt_tokens": -1, "completion_tokens": 2.0}],
)
def test_usage_that_is_none(usage: object) -> None:
    body = {"choices": [{"message": {"content": "Yes."}}], "usage": usage, "model": 7}
    assert reply(json_answer(body)) == Reply(
        key=CALL.key(),
        text="Yes.",
        failure=None,
        detail=None,
        finish_reason=None,
        prompt_tokens=None,
        completion_tokens=None,
        model=None,
    )


def test_reply_of_a_batch_result() -> None:
    # A line of a Batch API result file, as its reference shows one.
    line = json.loads(
        '{"id": "batch_req_wnaDys", "custom_id": "request-2", "response": {"status_code": 200, '
        '"request_id": "req_c187b3", "body": {"id": "chatcmpl-9758Iw", "object": '
        '"chat.completion", "created": 1711475054, "model": "gpt-4o-mini", "choices": [{"index": 0,'
        ' "message": {"role": "assistant", "content": "2 + 2 equals 4."}, "finish_reason": "stop"}]'
        ', "usage": {"prompt_tokens": 24, "completion_tokens": 15, "total_tokens": 39}, '
        '"system_fingerprint": null}}, "error": null}'
    )
    found = reply_of("k", line["response"]["body"])
    assert (found.key, found.text, found.model) == ("k", "2 + 2 equals 4.", "gpt-4o-mini")
    assert (found.prompt_tokens, found.completion_tokens) == (24, 15)


def test_details_are_cut() -> None:
    found = reply(completion("é" * 5_000, "length"))
    assert found.detail == "é" * 2_000
    assert len(transient(error(500, "x" * 5_000)).detail) == 2_000


# ---------------------------------------------------------------------------- 200: no replies

NO_COMPLETIONS: dict[str, tuple[Answer, Failure]] = {
    "html": (HTML, "malformed"),
    "html_named_json": (Answer(body=HTML.body), "malformed"),
    "list": (json_answer([1, 2]), "malformed"),
    "null": (json_answer(None), "malformed"),
    "error": (json_answer({"error": {"message": "overloaded", "code": 529}}), "malformed"),
    "no_choices": (json_answer({"choices": []}), "malformed"),
    "choices_null": (json_answer({"choices": None}), "malformed"),
    "no_message": (json_answer({"choices": [{"finish_reason": "stop"}]}), "malformed"),
    "message_null": (json_answer({"choices": [{"message": None}]}), "malformed"),
    "content_in_parts": (json_answer({"choices": [{"message": {"content": [{}]}}]}), "malformed"),
    "nested_deeply": (Answer(body=b"[" * 100_000 + b"]" * 100_000), "malformed"),
    "given_up_midway": (completion("Once upon", "error"), "server"),
    "body_cut": (CUT, "connection"),
    "json_cut": (Answer(body=OK.body[:-9]), "connection"),
    "no_body": (Answer(body=b""), "connection"),
    "not_utf8": (Answer(body=OK.body.replace(b"good", b"g\xff\xfed")), "connection"),
    "reset": (RESET, "connection"),
}


@pytest.mark.parametrize(("answer", "failure"), NO_COMPLETIONS.values(), ids=NO_COMPLETIONS)
def test_what_is_no_completion(answer: Answer, failure: Failure) -> None:
    found = transient(answer)
    assert found.failure == failure
    assert found.detail and found.retry_after is None


def test_a_silent_server() -> None:
    assert transient(SILENT, timeout=0.2).failure == "timeout"


def test_no_server() -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]

    async def ask() -> Reply | Exception:
        client = OpenAIClient("judge", model(f"http://127.0.0.1:{port}/v1"), KEY)
        outcome = await caught(client, CALL)
        await client.close()
        return outcome

    outcome = asyncio.run(ask())
    assert isinstance(outcome, TransientError) and outcome.failure == "connection"


def test_the_client_goes_on_after_any_failure() -> None:
    answers = [RESET, CUT, HTML, error(500, "no"), error(429, "wait"), NULL_CONTENT, OK]
    outcomes, bodies = send(in_turn(*answers), *[CALL] * len(answers))
    assert [getattr(outcome, "failure", 0) for outcome in outcomes] == [
        "connection",
        "connection",
        "malformed",
        "server",
        "rate_limited",
        "empty",
        None,
    ]
    assert len(bodies) == len(answers)


# ---------------------------------------------------------------------------- errors of the API


@pytest.mark.parametrize(
    ("status", "failure"),
    [(408, "timeout"), (409, "server"), (429, "rate_limited")]
    + [(status, "server") for status in (500, 502, 503, 504, 524, 529)],
)
def test_what_may_pass(status: int, failure: Failure) -> None:
    found = transient(error(status, "Try later.", Retry_After="7"))
    assert (found.failure, found.retry_after) == (failure, 7.0)
    assert found.detail == f"HTTP {status}: Try later."
    plain = Answer(status, b"<h1>no JSON</h1>")
    assert transient(plain).detail == f"HTTP {status}: <h1>no JSON</h1>"


DATE = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry_After": "0"}, 0.0),
        ({"Retry_After": "2.5"}, 2.5),
        ({"Retry_After": "-3"}, 0.0),
        ({"Retry_After": "inf"}, None),
        ({"Retry_After": "nan"}, None),
        ({"Retry_After": "soon"}, None),
        ({"Retry_After": "Wed, 21 Oct 2015 07:29:30 GMT", "Date": DATE}, 90.0),
        ({"Retry_After": "Wed, 21 Oct 2015 07:27:00 GMT", "Date": DATE}, 0.0),
        ({"Retry_After": "Wed, 21 Oct 2015 07:29:30 -0000", "Date": DATE}, None),
        ({"Retry_After": DATE}, None),
        ({"Retry_After": DATE, "Date": "today"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert transient(error(429, "Slow down.", **headers)).retry_after == seconds
    assert transient(error(503, "Overloaded.", **headers)).retry_after == seconds


@pytest.mark.parametrize(
    "answer",
    [
        error(429, "You exceeded your current quota.", "insufficient_quota", Retry_After="1"),
        json_answer({"error": {"message": "No.", "type": "insufficient_quota"}}, 429),
        error(402, "Insufficient balance"),
    ],
)
def test_no_funds(answer: Answer) -> None:
    (outcome,), _ = send(answer)
    assert isinstance(outcome, ServiceError)
    assert "models.judge" in str(outcome) and outcome.exit_code == 5


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_never_shown(status: int) -> None:
    (outcome,), _ = send(error(status, f"Incorrect API key provided: {KEY}."))
    assert isinstance(outcome, InputError)
    assert "TEST_KEY" in str(outcome) and "Incorrect API key provided: ***" in str(outcome)
    # Nor by --debug, which prints the whole chain.
    assert KEY not in "".join(traceback.format_exception(outcome))
    assert isinstance(outcome.__cause__, openai.APIStatusError)


def test_a_key_refused_where_none_is_named() -> None:
    (outcome,), _ = send(error(401, "Who are you?"), api_key_env=None)
    assert isinstance(outcome, InputError) and "models.judge.api_key_env" in str(outcome)


@pytest.mark.parametrize(
    "answer",
    [
        completion(f"{KEY} is", "length"),
        completion(None, refusal=f"I keep {KEY}."),
        error(400, f"bad key {KEY}"),
        error(429, f"too many for {KEY}"),
        error(500, f"{'x' * 1_990}{KEY}"),
        error(402, KEY),
        Answer(503, KEY.encode()),
        json_answer([KEY]),
        Answer(body=f"<html>{KEY}".encode()),
        Answer(body=f'{{"key": "{KEY}'.encode()),
        completion(KEY, "error"),
    ],
)
def test_no_detail_shows_the_key(answer: Answer) -> None:
    (outcome,), _ = send(answer)
    shown = (
        outcome.model_dump_json()
        if isinstance(outcome, Reply)
        else "".join(traceback.format_exception(outcome)) + getattr(outcome, "detail", "")
    )
    assert KEY[:8] not in shown


PARAMETERS: dict[str, tuple[Answer, dict[str, Any], list[str]]] = {
    "temperature": (NO_TEMPERATURE, {}, ["models.judge.temperature: null"]),
    "max_tokens": (
        NO_MAX_TOKENS,
        {"cap_parameter": "max_tokens"},
        ["models.judge.cap_parameter: max_completion_tokens"],
    ),
    "max_completion_tokens": (
        error(400, "Unrecognized request argument supplied: max_completion_tokens"),
        {},
        ["models.judge.cap_parameter: max_tokens"],
    ),
    "response_format": (
        error(400, "Invalid parameter: 'response_format' of type 'json_object' is not supported."),
        {},
        ["models.judge.structured_output: none"],
    ),
    "json_schema": (
        json_answer({"detail": [{"loc": ["body", "x"], "msg": "no json_schema"}]}, 422),
        {},
        ["models.judge.structured_output: none"],
    ),
    "named_beside_the_message": (
        json_answer({"error": {"message": "Unsupported.", "param": "temperature"}}, 400),
        {},
        ["models.judge.temperature: null"],
    ),
    "two": (
        error(400, "Unknown arguments: temperature, response_format"),
        {},
        ["models.judge.temperature: null", "models.judge.structured_output: none"],
    ),
    "a_cap_too_large": (error(400, "max_completion_tokens is too large: 64, at most 9"), {}, []),
    "context_too_long": (
        error(400, "This model's maximum context length is 9 tokens; reduce max_tokens."),
        {},
        [],
    ),
    "another": (error(422, "The messages hold no question."), {}, []),
    "no_such_model": (
        error(404, "The model `served` does not exist"),
        {},
        ["models.judge.name", "models.judge.base_url"],
    ),
}


@pytest.mark.parametrize(("answer", "more", "keys"), PARAMETERS.values(), ids=PARAMETERS)
def test_what_no_retry_mends(answer: Answer, more: dict[str, Any], keys: list[str]) -> None:
    call = replace(CALL, temperature=0.0, response_format=FORMAT)
    found = reply(answer, call, **more)
    assert (found.key, found.text, found.failure) == (call.key(), None, "parameter")
    body = json.loads(answer.body)
    said = body["error"]["message"] if "error" in body else answer.body.decode()
    assert found.detail and found.detail.endswith(f"HTTP {answer.status}: {said}")
    assert [key for key in keys if key not in found.detail] == []
    assert found.detail.count("models.judge.") == len(keys)
    if keys and "name" not in keys[0]:
        sent = {"temperature", "max_tokens", "max_completion_tokens", "response_format"}
        assert any(found.detail.startswith(f"{parameter} is refused") for parameter in sent)


def test_what_was_not_sent_is_not_blamed() -> None:
    assert reply(NO_TEMPERATURE).detail == (
        "HTTP 400: Unsupported value: 'temperature' does not support 0 with this model."
    )


def test_advice_survives_a_long_message() -> None:
    found = reply(error(400, "temperature? " + "x" * 5_000), replace(CALL, temperature=1.0))
    assert found.detail and "models.judge.temperature: null" in found.detail


# ---------------------------------------------------------------------------- every SDK exception


def subclasses(kind: type[Exception]) -> Iterator[type[Exception]]:
    for sub in kind.__subclasses__():
        yield sub
        yield from subclasses(sub)


STATUS = {
    openai.APIStatusError: 418,
    openai.BadRequestError: 400,
    openai.AuthenticationError: 401,
    openai.OAuthError: 400,
    openai.PermissionDeniedError: 403,
    openai.NotFoundError: 404,
    openai.ConflictError: 409,
    openai.UnprocessableEntityError: 422,
    openai.RateLimitError: 429,
    openai.InternalServerError: 500,
}


def made(kind: Any) -> Exception:
    """An exception of the SDK, made as the SDK makes it."""
    request = httpx2.Request("POST", "http://127.0.0.1:9/v1")
    response = httpx2.Response(STATUS.get(kind, 200), request=request, json={})
    error: Exception
    if kind is openai.APITimeoutError:
        error = kind(request)
    elif kind is openai.APIConnectionError:
        error = kind(request=request)
    elif kind is openai.OAuthError or kind is openai.APIResponseValidationError:
        error = kind(response=response, body=None)
    else:
        error = kind("said", response=response, body=None)
    return error


OUTCOMES: dict[type[Exception], tuple[type, str | None]] = {
    openai.APIConnectionError: (TransientError, "connection"),
    openai.APITimeoutError: (TransientError, "timeout"),
    openai.APIResponseValidationError: (TransientError, "malformed"),
    openai.RateLimitError: (TransientError, "rate_limited"),
    openai.InternalServerError: (TransientError, "server"),
    openai.ConflictError: (TransientError, "server"),
    openai.AuthenticationError: (InputError, None),
    openai.OAuthError: (InputError, None),
    openai.PermissionDeniedError: (InputError, None),
    openai.APIStatusError: (Reply, "parameter"),
    openai.BadRequestError: (Reply, "parameter"),
    openai.NotFoundError: (Reply, "parameter"),
    openai.UnprocessableEntityError: (Reply, "parameter"),
}


def outcome_of(error: Exception) -> Reply | Exception:
    async def raising(**_: object) -> None:
        raise error

    async def ask() -> Reply | Exception:
        client = OpenAIClient("judge", model("http://127.0.0.1:9/v1"), KEY)
        client._idle.append(raising)
        outcome = await caught(client, CALL)
        await client.close()
        return outcome

    return asyncio.run(ask())


def test_every_exception_of_the_sdk_is_mapped() -> None:
    """A class that a new version of the SDK adds has no row here, and fails this."""
    assert set(subclasses(openai.APIError)) == set(OUTCOMES)
    for kind, (expected, failure) in OUTCOMES.items():
        error = made(kind)
        outcome = outcome_of(error)
        assert type(outcome) is expected, kind
        assert getattr(outcome, "failure", None) == failure, kind
        if isinstance(outcome, Exception):
            assert outcome.__cause__ is error, kind


def test_an_exception_of_another_kind_is_a_failed_service() -> None:
    unknown = type("NewError", (openai.OpenAIError,), {})
    for odd in (openai.OpenAIError("odd"), unknown("odd")):
        outcome = outcome_of(odd)
        assert type(outcome) is ServiceError and "odd" in str(outcome)
