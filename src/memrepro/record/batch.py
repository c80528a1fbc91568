"""OpenAI Batch API files: requests out, results in, with the keys of the live path."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from memrepro.errors import InputError
from memrepro.files import iter_json_lines, write_text
from memrepro.llm.call import Failure, Reply, TransientError, failed
from memrepro.llm.ledger import open_store
from memrepro.llm.openai import reply_of, request_body
from memrepro.params import Params, model_of
from memrepro.record import STORE
from memrepro.record.shard import finder, pending
from memrepro.stages.declarations.base import shard_path
from memrepro.stages.steps import step_calls, steps

# The API's limits on one file of requests.
MAX_REQUESTS = 50_000
MAX_BYTES = 200_000_000


def write_batch(
    root: Path,
    params: Params,
    benchmark: str,
    system: str,
    folder: Path,
    *,
    retry_failed: bool = False,
) -> list[tuple[Path, int]]:
    """Write the requests of the first step that has calls to send, split at the API's limits.

    Returns:
        Each file and how many requests it holds; none where every call has its reply.

    Raises:
        InputError: a stage's output is missing, or a single request is over the limit.
        ServiceError: the disk refuses.
    """
    with open_store(root / STORE) as store:
        for step in steps(params, benchmark, system):
            find = finder(store, root / shard_path(params, benchmark, step.name, system))
            model = model_of(params, step.settings.model)
            calls = step_calls(root, params, step, system, find)
            lines = (
                _request_line(call.key(), request_body(model, call))
                for call, _ in pending(calls, find, retry_failed=retry_failed)
            )
            written = []
            for number, part in enumerate(_split(lines), start=1):
                file = folder / f"{params.dataset}-{benchmark}-{step.name}-{system}-{number}.jsonl"
                write_text(file, "".join(part))
                written.append((file, len(part)))
            if written:
                return written
    return []


def _request_line(key: str, body: dict[str, Any]) -> str:
    value = {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(value) + "\n"  # ASCII: some readers split lines at U+2028


def _split(lines: Iterable[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for line in lines:
        length = len(line.encode("utf-8"))
        if length > MAX_BYTES:
            raise InputError(
                "one request is over the Batch API's limit",
                expected=f"at most {MAX_BYTES} bytes",
                found=f"{length} bytes",
            )
        if part and (len(part) == MAX_REQUESTS or size + length > MAX_BYTES):
            yield part
            part, size = [], 0
        part.append(line)
        size += length
    if part:
        yield part


def read_batch(root: Path, files: Iterable[Path]) -> Counter[str]:
    """Store the replies of result and error files, failures typed as on the live path.

    Nothing is stored unless every file can be read.

    Returns:
        How many replies came of each kind: `good`, or the type of a failure.

    Raises:
        InputError: a file is no result file of a batch.
    """
    replies = [
        _reply(value, where=f"{path}, line {number}")
        for path in files
        for number, value in iter_json_lines(path)
    ]
    with open_store(root / STORE) as store:
        store.put(replies)
    return Counter(reply.failure or "good" for reply in replies)


def _reply(value: Any, *, where: str) -> Reply:
    key = value.get("custom_id") if isinstance(value, dict) else None
    if not isinstance(key, str) or len(key) != 64 or not {"response", "error"} & value.keys():
        raise InputError(
            "not a result of a batch of ours",
            where=where,
            expected="custom_id with a key of 64 hex digits, and response or error",
        )
    response = value.get("response")
    if not response:
        error = value.get("error") or {}
        # The batch ended before this request was sent, or could not send it.
        return failed(
            key, "server", str(error.get("message") or error.get("code") or "no response")
        )
    body, status = response.get("body"), response.get("status_code")
    if status == 200 and isinstance(body, dict):
        try:
            return reply_of(key, body)
        except TransientError as error:  # no batch is sent again by itself
            return failed(key, error.failure, error.detail)
    said = (body or {}).get("error") or {} if isinstance(body, dict) else {}
    kinds: dict[int, Failure] = {400: "parameter", 404: "parameter", 422: "parameter"}
    kinds[429] = "rate_limited"
    detail = str(said.get("message") or f"HTTP status {status}")
    return failed(key, kinds.get(status, "server"), detail)
