"""The network client, for any OpenAI-compatible server; the only module that imports `openai`."""

import json
import math
import re
import reprlib
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from memrepro.errors import InputError, MemreproError, ServiceError
from memrepro.llm.call import Call, Failure, Reply, TransientError, failed
from memrepro.params import Model

DETAIL_CHARACTERS = 2_000
# A server that cannot be reached is told apart long before a slow answer is given up.
_CONNECT_SECONDS = 30.0
# What servers without keys are sent: the SDK insists on one.
_NO_KEY = "none"

# The cap was reached: OpenAI's word and those of other servers.
_CUT_OFF = frozenset({"length", "max_tokens", "model_length"})
# The server gave up in the middle of the text (OpenRouter, vLLM, DeepSeek).
_GIVEN_UP = frozenset({"error", "abort", "insufficient_system_resource"})

# For each parameter sent: how servers speak of it, and what in a model's row mends it.
_FIXES = {
    "temperature": (r"\btemperature\b", "temperature: null"),
    "max_tokens": (r"\bmax_(completion_)?tokens\b", "cap_parameter: max_completion_tokens"),
    "max_completion_tokens": (r"\bmax_(completion_)?tokens\b", "cap_parameter: max_tokens"),
    "response_format": (
        r"\bresponse_format\b|\bjson_schema\b|structured.output",
        "structured_output: none",
    ),
}
# A cap that is too large is no cap under a wrong name.
_SIZE = re.compile(
    r"too (large|high|many|small|low)|at (most|least)|maximum|exceed|(less|greater|more) than",
    re.IGNORECASE,
)

# Bounds the depth of what is shown, not the length of its strings: a secret that a cut splits in
# two would no longer be found.
_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 1 << 30


_Create = Callable[..., Awaitable[Any]]


class OpenAIClient:
    """Sends calls to one model.

    Args:
        name: the model's row in `models` of the params; errors name its keys.
        model: that row.
        api_key: the key itself; may be empty where the row names no variable for one.

    Raises:
        InputError: the key or the address cannot be one.
    """

    def __init__(self, name: str, model: Model, api_key: str) -> None:
        _check(name, model, api_key)
        self._name = name
        self._model = model
        self._secret = api_key
        self._tls = httpx2.create_ssl_context()
        self._sdks: list[openai.AsyncOpenAI] = []
        self._idle: list[_Create] = []

    async def send(self, call: Call) -> Reply:
        """The reply, failed or not; one request, no retries.

        Raises:
            TransientError: rate limit, 5xx, time-out, lost connection, or no chat completion.
            InputError: the server refused the key.
            ServiceError: the account has no funds left, or the SDK failed in an unknown way.
        """
        key = call.key()
        body = request_body(self._model, call)
        create = self._idle.pop() if self._idle else self._connect()
        try:
            response = await create(**body)
        except openai.OpenAIError as error:
            outcome = self._outcome(key, body, error)
            if isinstance(outcome, Reply):
                return outcome
            # Whoever prints the chain prints this one too.
            error.args = (_shown(str(error), self._secret),)
            raise outcome from error
        finally:
            self._idle.append(create)
        return reply_of(key, _decoded(response.http_response.content, self._secret), self._secret)

    async def close(self) -> None:
        """Close all connections; the client cannot be used after that."""
        for sdk in self._sdks:
            await sdk.close()

    def _connect(self) -> "_Create":
        """One more of the SDK's clients, with a connection to itself.

        One for all calls would look through all connections for each of them: with 64 at a time
        that costs as much as the call.
        """
        limit = self._model.timeout
        sdk = openai.AsyncOpenAI(
            base_url=self._model.base_url,
            api_key=self._secret or _NO_KEY,
            max_retries=0,
            timeout=openai.Timeout(limit, connect=min(limit, _CONNECT_SECONDS)),
            http_client=openai.DefaultAsyncHttpxClient(verify=self._tls),
        )
        # The SDK fills these from the environment, whatever server it is for.
        sdk.organization = sdk.project = None
        self._sdks.append(sdk)
        # The body as sent: building the SDK's objects from it would only cost time.
        return sdk.chat.completions.with_raw_response.create

    def _outcome(
        self, key: str, sent: Mapping[str, Any], error: openai.OpenAIError
    ) -> Reply | TransientError | MemreproError:
        """What an exception of the SDK means: the one place where any is mapped."""
        said = _shown(_words(error), self._secret)
        match error:
            case openai.APITimeoutError():
                return TransientError("timeout", said)
            case openai.APIConnectionError():
                return TransientError("connection", said)
            case openai.APIResponseValidationError():
                return TransientError("malformed", said)
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return self._key_refused(said)
            case openai.APIStatusError():
                return self._status(key, sent, error, said)
        return ServiceError(f"the OpenAI client failed: {said}", where=f"models.{self._name}")

    def _status(
        self, key: str, sent: Mapping[str, Any], error: openai.APIStatusError, said: str
    ) -> Reply | TransientError | MemreproError:
        status = error.status_code
        if status == 402 or "insufficient_quota" in (error.code, error.type):
            return ServiceError(
                f"the account has no funds left: {said}",
                where=f"models.{self._name}, {self._model.base_url}",
                hint="top the account up, then run the same command again",
            )
        passing: Mapping[int, Failure] = {408: "timeout", 409: "server", 429: "rate_limited"}
        failure = "server" if status >= 500 else passing.get(status)
        if failure:
            return TransientError(failure, said, _retry_after(error.response.headers))
        if error.code == "content_filter":  # Azure withholds prompts so
            return failed(key, "filtered", said)
        words = f"{error.param or ''} {_words(error)}"
        advice = _advice(self._name, status, sent, words)
        return failed(key, "parameter", _shown(advice + _words(error), self._secret))

    def _key_refused(self, said: str) -> InputError:
        variable = self._model.api_key_env
        return InputError(
            f"the server refused the API key: {said}",
            where=f"models.{self._name}, {self._model.base_url}",
            expected=f"a valid key in the environment variable {variable}" if variable else None,
            hint=f"export {variable}=<key>, then run the same command again"
            if variable
            else f"set models.{self._name}.api_key_env to the variable that holds the key",
        )


def request_body(model: Model, call: Call) -> dict[str, Any]:
    """The body of a call's request, live or in a Batch API file: what the call says, no more."""
    body: dict[str, Any] = {
        "model": model.name,
        "messages": [{"role": role, "content": content} for role, content in call.messages],
        model.cap_parameter: call.cap,
    }
    if call.temperature is not None:
        body["temperature"] = call.temperature
    if call.response_format is not None:
        body["response_format"] = call.response_format
    return body


def reply_of(key: str, completion: object, secret: str = "") -> Reply:
    """A chat completion's body as a reply; result files of the Batch API hold the same bodies.

    Args:
        key: the call's key.
        completion: the decoded JSON.
        secret: an API key, which no detail may show.

    Raises:
        TransientError: it is no chat completion, or the server gave up in the middle of it.
    """
    body, choice, message = _parts(completion, secret)
    finish = _string(choice.get("finish_reason"))
    if finish and finish.lower() in _GIVEN_UP:
        raise TransientError("server", _shown(f"finish_reason {finish}", secret))
    failure, said = _said(message, (finish or "").lower())
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Reply(
        key=key,
        text=said if failure is None else None,
        failure=failure,
        detail=_shown(said, secret) if failure and said else None,
        finish_reason=finish,
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        model=_string(body.get("model")),
    )


def _parts(
    completion: object, secret: str
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The body, its first choice, and that one's message."""
    body: dict[str, Any] = completion if isinstance(completion, dict) else {}
    choices = body.get("choices")
    choice: Any = choices[0] if isinstance(choices, list) and choices else None
    message: Any = choice.get("message") if isinstance(choice, dict) else None
    if isinstance(message, dict) and isinstance(message.get("content"), str | None):
        return body, choice, message
    raise TransientError(
        "malformed", _shown(f"no chat completion: {_brief.repr(completion)}", secret)
    )


def _said(message: Mapping[str, Any], finish: str) -> tuple[Failure | None, str]:
    """How a message failed, if it did, and its words exactly as given."""
    refusal, content = message.get("refusal"), message.get("content") or ""
    if isinstance(refusal, str) and refusal.strip():
        return "refusal", refusal
    if finish == "content_filter":
        return "filtered", content
    if finish in _CUT_OFF:
        return "length", content
    if not content.strip():
        return "empty", content
    return (None if _is_unicode(content) else "malformed"), content


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _string(value: object) -> str | None:
    return value if isinstance(value, str) and _is_unicode(value) else None


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 53 else None


def _decoded(body: bytes, secret: str) -> object:
    """The JSON of a 200's body; what begins as an object and does not end was cut off."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        cut = isinstance(error, ValueError) and body.lstrip()[:1] in (b"{", b"")
        text = f"no JSON ({error}): {body.decode('utf-8', 'replace')}"
        raise TransientError("connection" if cut else "malformed", _shown(text, secret)) from error


def _shown(text: str, secret: str) -> str:
    """A detail: without the secret, cut, and with nothing that UTF-8 cannot say."""
    if secret:
        text = text.replace(secret, "***")
    return text[:DETAIL_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _words(error: openai.OpenAIError) -> str:
    """What a server or the network said, without the SDK's wrapping."""
    if isinstance(error, openai.APIStatusError):
        message = error.body.get("message") if isinstance(error.body, dict) else None
        text = message if isinstance(message, str) and message else error.response.text
        return f"HTTP {error.status_code}: {text.strip()}"
    cause = error.__cause__
    return f"{error} ({type(cause).__name__}: {cause})" if cause else str(error)


def _advice(name: str, status: int, sent: Mapping[str, Any], words: str) -> str:
    """Which parameter the server means and which params key mends it; empty if that is unclear."""
    if status == 404:
        return f"see models.{name}.name and models.{name}.base_url in the params. "
    found = []
    for parameter in sent:
        pattern, fix = _FIXES.get(parameter, (None, ""))
        about_size = parameter.startswith("max_") and _SIZE.search(words)
        if pattern and re.search(pattern, words, re.IGNORECASE) and not about_size:
            found.append(f"{parameter} is refused; set models.{name}.{fix} in the params. ")
    return "".join(found)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to be left alone: given as such, or as a date.

    A date counts from the response's own Date: no clock is read, and the server's may be wrong.
    """
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            until = parsedate_to_datetime(value)
            seconds = (until - parsedate_to_datetime(headers.get("date", ""))).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _check(name: str, model: Model, api_key: str) -> None:
    """Refuse what would fail in every call, and a key that an HTTP library's error would quote."""
    variable = model.api_key_env
    if not re.fullmatch(r"[!-~]*", api_key) or (variable and not api_key):
        raise InputError(
            "the API key is empty, or holds white space or characters beyond ASCII",
            where=f"environment variable {variable}" if variable else f"models.{name}",
            hint=f"export {variable}=<key>" if variable else None,
        )
    try:
        address = urlsplit(model.base_url)
        good = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:
        good = False
    if not good:
        raise InputError(
            "no address of a server",
            where=f"models.{name}.base_url",
            expected="http://… or https://…",
            found=model.base_url,
        )
