"""A chat completions server on loopback that answers, or fails, as a test tells it to.

It runs in a thread of its own and speaks HTTP/1.1 with connections kept open. A behaviour is a
function of a request's body and of how often this very body was seen before.
"""

import asyncio
import contextlib
import hashlib
import json
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

PATH = b"POST /v1/chat/completions "
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_AUTHORIZATION = re.compile(rb"\r\nauthorization: *([^\r]*)", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """What one request gets: `end` says how it ends, `latency` in seconds when it begins."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    latency: float = 0.0
    end: Literal["whole", "cut", "reset", "silent"] = "whole"

    def after(self, seconds: float) -> "Answer":
        return replace(self, latency=seconds)

    def bytes(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} Status", f"Content-Length: {len(self.body)}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        body = self.body[: len(self.body) // 2] if self.end == "cut" else self.body
        return "\r\n".join([*lines, "", ""]).encode() + body


Behaviour = Callable[[dict[str, Any], int], Answer]


def json_answer(value: object, status: int = 200, **headers: str) -> Answer:
    more = tuple((name.replace("_", "-"), text) for name, text in headers.items())
    return Answer(status, json.dumps(value).encode(), (("Content-Type", "application/json"), *more))


def completion(
    content: str | None,
    finish_reason: str | None = "stop",
    *,
    prompt_tokens: int = 11,
    completion_tokens: int = 7,
    **message: Any,
) -> Answer:
    """A chat completion; more keywords are more fields of its message."""
    return json_answer(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "served-1",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content, **message},
                    "finish_reason": finish_reason,
                }
            ],
            "usage": {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": completion_tokens,
                "total_tokens": prompt_tokens + completion_tokens,
            },
        }
    )


def error(status: int, message: str, code: str | None = None, **headers: str) -> Answer:
    """An error in the API's own form."""
    body = {"error": {"message": message, "type": None, "param": None, "code": code}}
    return json_answer(body, status, **headers)


OK = completion("All good.")
RESET = Answer(end="reset")
SILENT = Answer(end="silent")
CUT = replace(OK, end="cut")
HTML = Answer(body=b"<html><h1>Bad gateway</h1></html>", headers=(("Content-Type", "text/html"),))
SPENT_ON_REASONING = completion("", "length")
NULL_CONTENT = completion(None)
REFUSAL = completion(None, refusal="I can't help with that.")
NO_TEMPERATURE = error(
    400,
    "Unsupported value: 'temperature' does not support 0 with this model.",
    "unsupported_value",
)
NO_MAX_TOKENS = error(
    400,
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.",
    "unsupported_parameter",
)

# Replies of a judge and the score they are; None is a judge error.
VERDICTS: dict[str, tuple[str, int | None]] = {
    "incorrect": ("INCORRECT", None),
    "correct": ("CORRECT", None),
    "not_correct": ("not correct", None),
    "yesterday": ("yesterday", None),
    "grade": ("GRADE: C. No reason to downgrade: i", None),
    "zero_width_space_in_a_grade": ("GRADE: \u200bC", None),
    "zero_width_space_in_the_key": ('{"sc\u200bore": 1}', None),
    "zero_width_space_in_the_number": ('{"score": \u200b1}', None),
    "zero_width_space_before": ('\u200b{"score": 1}', None),
    "score_as_string": ('{"score": "1"}', None),
    "score_true": ('{"score": true}', None),
    "score_false": ('{"score": false}', None),
    "score_null": ('{"score": null}', None),
    "score_1.0": ('{"score": 1.0}', None),
    "score_1e0": ('{"score": 1e0}', None),
    "score_0.5": ('{"score": 0.5}', None),
    "score_2": ('{"score": 2}', None),
    "score_minus_1": ('{"score": -1}', None),
    "score_nan": ('{"score": NaN}', None),
    "nan_elsewhere": ('{"score": 1, "confidence": NaN}', None),
    "infinity_elsewhere": ('{"score": 1, "confidence": -Infinity}', None),
    "score_of_5000_digits": ('{"score": ' + "1" * 5000 + "}", None),
    "score_in_a_list": ('{"score": [1]}', None),
    "score_one_level_down": ('{"verdict": {"score": 1}}', None),
    "key_in_capitals": ('{"SCORE": 1}', None),
    "no_score": ('{"reason": "score: 1"}', None),
    "two_objects": ('{"score": 1}\n{"score": 0}', None),
    "two_objects_on_a_line": ('{"score": 1} {"score": 1}', None),
    "duplicate_keys": ('{"score": 0, "score": 1}', None),
    "duplicate_keys_of_one_value": ('{"score": 1, "score": 1}', None),
    "list": ('[{"score": 1}]', None),
    "bare_number": ("1", None),
    "bare_string": ('"1"', None),
    "empty": ("", None),
    "white_space": (" \n", None),
    "prose": ("The answer is right, so the score is 1.", None),
    "prose_before": ('Here you are: {"score": 1}', None),
    "prose_after": ('{"score": 1} Well done.', None),
    "single_quotes": ("{'score': 1}", None),
    "comma_at_the_end": ('{"score": 1,}', None),
    "cut_off": ('{"score": 1, "reason": "the', None),
    "lone_surrogate": ('{"score": 1, "reason": "\\ud800"}', None),
    "byte_order_mark": ('\ufeff{"score": 1}', None),
    "html_page": ("<!doctype html><html><body>502 score: 1</body></html>", None),
    "deep_nesting": ("[" * 100_000 + "]" * 100_000, None),
    "deep_nesting_beside": ('{"score": 1, "x": ' + "[" * 100_000 + "]" * 100_000 + "}", None),
    "fenced_prose": ("```\nscore: 1\n```", None),
    "fenced_two_objects": ('```json\n{"score": 1}\n{"score": 1}\n```', None),
    "fenced_list": ('```json\n[{"score": 1}]\n```', None),
    "fenced_string": ('```json\n{"score": "1"}\n```', None),
    "fenced_twice": ('```\n```json\n{"score": 1}\n```\n```', None),
    "two_fences": ('```\n{"score": 1}\n```\n```\n{"score": 1}\n```', None),
    "fence_and_prose": ('Sure!\n```json\n{"score": 1}\n```', None),
    "fence_left_open": ('```json\n{"score": 1}', None),
    "good_1": ('{"score": 1}', 1),
    "good_0": ('{"score": 0, "reason": "score: 1"}', 0),
    "good_with_white_space": ('\n  {"score" : 0}\n', 0),
    "good_nested_beside": ('{"score": 1, "steps": [{"score": 0}]}', 1),
    "good_fenced": ('```json\n{"score": 1}\n```', 1),
    "good_fenced_without_language": ('```\n{"score": 0}\n```\n', 0),
    "good_minus_0": ('{"score": -0}', 0),
}  # fmt: skip


class FaultServer:
    """The server; what it saw may be read at any time.

    `total` counts requests, `prompts` their last messages, `authorizations` the headers; `bodies`
    holds what was asked, `heads` the bytes above, `most` how many were being answered at once.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.total = self.most = self._now = 0
        self.prompts: Counter[str] = Counter()
        self.authorizations: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.heads: list[bytes] = []
        self._seen: Counter[bytes] = Counter()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()  # and asyncio.run cancels the connections left open

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while await self._request(reader, writer):
                    pass
        except asyncio.CancelledError:
            pass  # the server stops
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection stays open."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        body = await reader.readexactly(int(length.group(1)) if length else 0)
        if not head.startswith(PATH):
            writer.write(error(404, f"no such address: {head[:80]!r}").bytes())
            return True
        answer = self._count(head, body)
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            if answer.latency:
                await asyncio.sleep(answer.latency)
            return await self._answer(answer, reader, writer)
        finally:
            self._now -= 1

    async def _answer(
        self, answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        if answer.end == "silent":
            await reader.read(1)  # until the client hangs up
        elif answer.end == "reset":
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        else:
            writer.write(answer.bytes())
            await writer.drain()
        return answer.end == "whole"

    def _count(self, head: bytes, body: bytes) -> Answer:
        request = json.loads(body)
        digest = hashlib.sha256(body).digest()
        before = self._seen[digest]
        self._seen[digest] += 1
        self.total += 1
        self.prompts[request["messages"][-1]["content"]] += 1
        if header := _AUTHORIZATION.search(head):
            self.authorizations[header.group(1).decode()] += 1
        self.bodies.append(request)
        self.heads.append(head)
        return self.behaviour(request, before)


@contextlib.contextmanager
def serving(behaviour: Behaviour | Answer) -> Iterator[FaultServer]:
    """A running server; a mere answer is given to every request."""
    server = FaultServer((lambda *_: behaviour) if isinstance(behaviour, Answer) else behaviour)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def in_turn(*answers: Answer) -> Behaviour:
    """One answer after the other to the same request, then the last for good."""
    return lambda _, before: answers[min(before, len(answers) - 1)]
