"""`memrepro cost` and `memrepro ledger` on two tasks: every figure counted by hand."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memrepro.llm.call import failed
from memrepro.llm.ledger import write_shard
from memrepro.params import load_params
from memrepro.stages.ledger import recorded_calls
from tests.commands import Memrepro
from tests.projects import change_params
from tests.record.two_tasks import ANSWERS, JUDGED, answer_calls, good, two_tasks

SAMPLE = ("--dataset", "sample")
CALLS = answer_calls()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return two_tasks(tmp_path)


def row(out: str, step: str) -> list[str]:
    return next(line.split() for line in out.split("\n") if f" {step} " in line)


def test_the_cost_of_another_model_is_that_of_all_calls_anew(
    project: Path, memrepro: Memrepro
) -> None:
    """A call has 3 tokens, a message 3 and one for each four bytes begun.

    Of a task 3 + (3 + 3) + (3 + 5) for the direct query and twice 3 + (3 + 3) + (3 + 4): 49 tokens,
    98 for both. At $1000 a million tokens that is $0.098; six replies of 100 tokens are $0.60, of
    256, the cap, $1.536.
    """

    def dear(values: dict[str, Any]) -> None:
        values["models"]["gpt-4o-mini"].update(price_input=1000.0, price_output=1000.0)

    change_params(project, dear)
    write_shard(project / ANSWERS, [good(call.key()) for call in CALLS])
    asked = ("cost", *SAMPLE, "--benchmark", "inmind", "--output-tokens", "100")
    ran = memrepro(project, *asked)
    assert ran.code == 0, ran.err
    assert row(ran.out, "answer") == ["inmind", "answer", "bm25", "6", "6", "98", "0.00", "0.00"]
    ran = memrepro(project, *asked, "--model", "gpt-4o-mini")
    assert row(ran.out, "answer") == ["inmind", "answer", "bm25", "6", "0", "98", "0.70", "1.63"]
    assert "US$: at 100 tokens a reply (--output-tokens); at most: all at their caps\n" in ran.out


def test_the_cost_of_a_model_that_there_is_not(project: Path, memrepro: Memrepro) -> None:
    ran = memrepro(project, "cost", *SAMPLE, "--model", "hal")
    assert ran.code == 2
    assert "hal" in ran.err and "gpt-4o-mini" in ran.err  # and which there are


def test_a_call_under_a_raised_cap_is_listed_after_its_own(
    project: Path, memrepro: Memrepro
) -> None:
    raised = CALLS[0].with_raised_cap()
    cut = failed(CALLS[0].key(), "length", "Bees are")
    replies = [cut, good(raised.key(), "Bees are fine.")]
    write_shard(project / ANSWERS, [*replies, *(good(call.key()) for call in CALLS[1:])])
    uses = recorded_calls(project, load_params(project, "sample"))
    answers = [use for use in uses if use.step == "answer"]
    assert [use.call.key() for use in answers] == [
        CALLS[0].key(), raised.key(), *(call.key() for call in CALLS[1:]),
    ]  # fmt: skip
    assert [use.reply.text if use.reply else "" for use in answers[:2]] == [None, "Bees are fine."]

    shown = json.loads(memrepro(project, "ledger", "show", raised.key()[:12], *SAMPLE).out)
    assert (shown["step"], shown["system"], shown["key"]) == ("answer", "bm25", raised.key())
    assert shown["request"]["cap"] == 512
    assert shown["request"]["messages"] == [
        {"role": "system", "content": "Mem: One."}, {"role": "user", "content": "What to plant 1?"},
    ]  # fmt: skip
    assert shown["reply"]["text"] == "Bees are fine."


def test_verify_counts_missing_and_unasked_replies(project: Path, memrepro: Memrepro) -> None:
    """Without an answer the judge's calls are unknown, and so not missed."""
    replies = [good(call.key()) for call in CALLS[1:]]
    write_shard(project / ANSWERS, [*replies, good("0" * 64), good("1" * 64)])
    ran = memrepro(project, "ledger", "verify", *SAMPLE)
    assert ran.code == 1
    assert ran.err == (
        f"error: {ANSWERS}: 1 calls without a reply; {ANSWERS}: 2 replies that nothing asks for\n"
        "  hint:     memrepro record --dataset sample --benchmark NAME --system NAME\n"
    )
    write_shard(project / ANSWERS, [good(call.key()) for call in CALLS])
    ran = memrepro(project, "ledger", "verify", *SAMPLE)
    assert f"error: {JUDGED}: " in ran.err and "calls without a reply" in ran.err


def test_stats_count_replies_failures_and_tokens(project: Path, memrepro: Memrepro) -> None:
    lost = failed(CALLS[0].key(), "refusal", "No.")
    write_shard(project / ANSWERS, [lost, *(good(call.key()) for call in CALLS[1:])])
    out = memrepro(project, "ledger", "stats", *SAMPLE).out
    assert out.splitlines()[1].split() == [
        "inmind/answer/bm25",
        "6",
        "refusal",
        "1",
        "50",
        "10",
        "m",
    ]


# ------------------------------------------------------------------------------------- batches


def completion(text: object) -> dict[str, Any]:
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return {"model": "m", "choices": [choice], "usage": {"prompt_tokens": 1}}


def result(key: str, status: int, body: object) -> str:
    value = {"custom_id": key, "response": {"status_code": status, "body": body}, "error": None}
    return json.dumps(value) + "\n"


def test_a_batch_is_written_imported_and_its_failures_told(
    project: Path, memrepro: Memrepro
) -> None:
    asked = ("ledger", "export-batch", *SAMPLE, "--system", "bm25", "--output", "out")
    ran = memrepro(project, *asked)
    file = "out/sample-inmind-answer-bm25-1.jsonl"
    assert (ran.code, ran.out) == (0, f"{file}: 6 requests\n")
    requests = [json.loads(line) for line in (project / file).read_text().splitlines()]
    assert {request["custom_id"] for request in requests} == {call.key() for call in CALLS}
    first = next(one for one in requests if one["custom_id"] == CALLS[0].key())
    assert (first["method"], first["url"]) == ("POST", "/v1/chat/completions")
    assert first["body"] == {
        "model": "smollm2-135m",
        "messages": [
            {"role": "system", "content": "Mem: One."},
            {"role": "user", "content": "What to plant 1?"},
        ],
        "max_tokens": 256,
        "temperature": 0.0,
    }

    keys = [call.key() for call in CALLS]
    (project / "good.jsonl").write_text(
        result(keys[0], 200, completion("Bees.")) + result(keys[1], 200, {"choices": []})
    )
    (project / "bad.jsonl").write_text(
        result(keys[2], 400, {"error": {"message": "no such parameter"}})
        + result(keys[3], 429, {"error": None})
        + result(keys[4], 503, "<html>")
        + json.dumps({"custom_id": keys[5], "response": None, "error": {"code": "expired"}})
        + "\n"
    )
    ran = memrepro(project, "ledger", "import-batch", "good.jsonl", "bad.jsonl")
    assert ran.code == 0, ran.err
    assert ran.out == (
        "6 replies stored, failed: malformed 1, parameter 1, rate_limited 1, server 2\n"
    )
    ran = memrepro(project, *asked, "--retry-failed")
    assert ran.out == f"{file}: 5 requests\n"
    again = [json.loads(line)["custom_id"] for line in (project / file).read_text().splitlines()]
    assert Counter(again) == Counter(keys[1:])


def test_a_batch_goes_on_until_nothing_is_left_to_send(project: Path, memrepro: Memrepro) -> None:
    asked = ("ledger", "export-batch", *SAMPLE, "--system", "bm25", "--output", "out")
    for step in ("answer", "judge"):
        assert f"out/sample-inmind-{step}-bm25-1.jsonl: " in memrepro(project, *asked).out
        requests = (project / f"out/sample-inmind-{step}-bm25-1.jsonl").read_text().splitlines()
        keys = [json.loads(line)["custom_id"] for line in requests]
        (project / "r.jsonl").write_text("".join(result(k, 200, completion("{}")) for k in keys))
        ran = memrepro(project, "ledger", "import-batch", "r.jsonl")
        assert ran.out == f"{len(keys)} replies stored, failed: 0\n"
    assert memrepro(project, *asked).out == "every call has its reply: nothing to send\n"


def test_a_request_that_no_batch_takes_is_refused(
    project: Path, memrepro: Memrepro, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memrepro.record.batch.MAX_BYTES", 100)
    ran = memrepro(
        project, "ledger", "export-batch", *SAMPLE, "--system", "bm25", "--output", "out"
    )
    assert ran.code == 2
    assert "one request is over the Batch API's limit" in ran.err
    assert "expected: at most 100 bytes" in ran.err
    assert not (project / "out").exists()


@pytest.mark.parametrize("text", ["[]", '{"custom_id": "x", "response": null}', "{"])
def test_what_is_no_result_of_a_batch_stores_nothing(
    project: Path, memrepro: Memrepro, text: str
) -> None:
    (project / "r.jsonl").write_text(result("a" * 64, 200, completion("x")) + text + "\n")
    ran = memrepro(project, "ledger", "import-batch", "r.jsonl")
    assert ran.code == 2
    assert "r.jsonl, line 2" in ran.err
    assert not (project / ".memrepro").exists()


def test_a_key_that_nobody_asked_for(project: Path, memrepro: Memrepro) -> None:
    ran = memrepro(project, "ledger", "show", "f" * 64, *SAMPLE)
    assert ran.code == 2
    assert "no call of the pipeline has this key" in ran.err
