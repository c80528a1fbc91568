"""Recordings against a server that fails: every row in its right status, nothing paid twice."""

import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memrepro.errors import InputError, ServiceError, Stopped
from memrepro.llm.call import Failure
from memrepro.llm.ledger import read_shard
from memrepro.llm.verdict import parse_verdict
from tests.llm.fault_server import (
    CUT,
    HTML,
    NO_TEMPERATURE,
    NULL_CONTENT,
    OK,
    REFUSAL,
    RESET,
    SILENT,
    SPENT_ON_REASONING,
    VERDICTS,
    Answer,
    completion,
    error,
    in_turn,
    serving,
)
from tests.record.driver import calls, model, run

ROOT = Path(__file__).parents[2]

# What the server does to a call, for good; and the status that its row must have.
FAULTS: list[tuple[Answer, Failure]] = [
    (error(429, "slow down", Retry_After="0"), "rate_limited"),
    (error(500, "oops"), "server"),
    (error(503, "busy", Retry_After="0"), "server"),
    (RESET, "connection"),
    (CUT, "connection"),
    (HTML, "malformed"),
    (SPENT_ON_REASONING, "length"),
    (NULL_CONTENT, "empty"),
    (REFUSAL, "refusal"),
    (NO_TEMPERATURE, "parameter"),
]


def number(body: dict[str, Any]) -> int:
    return int(body["messages"][-1]["content"].removeprefix("call "))


@pytest.mark.parametrize("blocks", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_every_call_ends_in_its_right_status(tmp_path: Path, blocks: int) -> None:
    """Of every 20 calls: 10 are good (three of them at the second try), 10 fail for good."""
    total = 20 * blocks
    verdicts = [(text.strip() or "-", score) for text, score in VERDICTS.values()]
    passing = [in_turn(fault, OK) for fault, _ in FAULTS[:3]]

    def behaviour(body: dict[str, Any], before: int) -> Answer:
        block, place = divmod(number(body), 20)
        if place < 10:
            return FAULTS[place][0]
        if place < 13:
            return passing[place - 10](body, before)
        return completion(verdicts[(7 * block + place) % len(verdicts)][0])

    with serving(behaviour) as server:
        progress = run(tmp_path, model(server.url, 64), total)
    replies = read_shard(tmp_path / "shard.jsonl")
    wanted: Counter[Failure | None] = Counter()
    for _, kind in FAULTS:
        wanted[kind] += blocks
    kinds = Counter(replies[call.key()].failure for call in calls(total))
    assert kinds == wanted + Counter({None: 10 * blocks})
    assert progress.failures == wanted
    assert (progress.total, progress.found, progress.done) == (total, 0, total)
    # No failure has a text that could be scored, and every good one scores as the table says.
    for n, call in enumerate(calls(total)):
        reply, (block, place) = replies[call.key()], divmod(n, 20)
        if place < 10:
            assert (reply.failure, reply.text) == (FAULTS[place][1], None)
        elif place >= 13:
            text, score = verdicts[(7 * block + place) % len(verdicts)]
            assert reply.text == text
            assert parse_verdict(text) == score
    # A cut-off reply was asked for once more, with twice the cap.
    raised = [body for body in server.bodies if body["max_completion_tokens"] == 128]
    assert len(raised) == blocks
    before = (tmp_path / "shard.jsonl").read_bytes()
    with serving(error(500, "must not be asked")) as silent:
        run(tmp_path, model(silent.url, 64), total)
    assert silent.total == 0
    assert (tmp_path / "shard.jsonl").read_bytes() == before


def test_a_server_that_never_answers(tmp_path: Path) -> None:
    with serving(lambda body, _: SILENT if number(body) == 1 else OK) as server:
        run(tmp_path, model(server.url, 4, timeout=0.3, attempts=1), 4)
    replies = read_shard(tmp_path / "shard.jsonl")
    assert [replies[call.key()].failure for call in calls(4)] == [None, "timeout", None, None]


def test_failures_are_sent_again_only_on_request(tmp_path: Path) -> None:
    broken = [True]

    def behaviour(body: dict[str, Any], _: int) -> Answer:
        return REFUSAL if broken[0] and number(body) % 2 else OK

    with serving(behaviour) as server:
        assert run(tmp_path, model(server.url, 4), 10).failures == {"refusal": 5}
        broken[0] = False
        assert run(tmp_path, model(server.url, 4), 10).done == 0
        again = run(tmp_path, model(server.url, 4), 10, retry_failed=True)
        assert (again.found, again.done, again.failures.total()) == (5, 5, 0)
        assert server.total == 15
    assert all(r.failure is None for r in read_shard(tmp_path / "shard.jsonl").values())


def test_a_run_in_which_every_call_fails_is_an_error(tmp_path: Path) -> None:
    with serving(error(500, "oops")) as server, pytest.raises(ServiceError, match="every one of 3"):
        run(tmp_path, model(server.url, 4, attempts=1), 3)


def test_a_rejected_parameter_ends_the_run_and_names_the_key_that_mends_it(tmp_path: Path) -> None:
    with serving(NO_TEMPERATURE) as server:
        with pytest.raises(InputError) as caught:
            run(tmp_path, model(server.url, 2), 100)
        assert server.total <= 4  # two at a time
    assert "temperature" in str(caught.value)
    assert "models.m" in str(caught.value)


def test_a_budget_stops_cleanly_and_resumes_when_it_is_raised(tmp_path: Path) -> None:
    """1,000 tokens out at $100 a million are $0.10; 11 tokens in are nothing at $0."""
    answer = completion("fine", completion_tokens=64)
    # The worst case of a call is its cap, 64 tokens: $0.0064 at $100 a million; one fits in $0.01.
    with serving(answer) as server:
        row = model(server.url, 8, price_output=100.0)
        with pytest.raises(Stopped) as caught:
            run(tmp_path, row, 10, budget=0.01)
        assert caught.value.exit_code == 3
        assert server.total == 1
        assert not (tmp_path / "shard.jsonl").exists()
        progress = run(tmp_path, row, 10, budget=1.0)
        assert (progress.found, progress.done) == (1, 9)
        assert progress.cost == pytest.approx(9 * 0.0064)
        assert server.total == 10


def stored(folder: Path) -> set[str]:
    with sqlite3.connect(folder / "store.sqlite") as connection:
        found = {key for (key,) in connection.execute("SELECT key FROM replies")}
    connection.close()
    return found


@pytest.mark.slow
def test_killed_at_twenty_moments_and_resumed(tmp_path: Path) -> None:
    """Case 9: the bytes of an uninterrupted run, and nothing that was stored is asked again."""
    total, concurrency = 500, 16
    contents = {call.key(): f"call {n}" for n, call in enumerate(calls(total))}

    def behaviour(body: dict[str, Any], _: int) -> Answer:
        return completion(f"reply to {number(body)}").after(0.02)

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    draw = random.Random(20261130)
    with serving(behaviour) as server:
        run(whole, model(server.url, concurrency), total)
        for _ in range(20):
            before = server.prompts.copy()
            known = stored(killed) if (killed / "store.sqlite").exists() else set()
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.record.driver", str(killed), server.url,
                 str(concurrency), str(total)],
                cwd=ROOT,
            )  # fmt: skip
            while server.prompts == before and process.poll() is None:
                time.sleep(0.005)
            time.sleep(draw.uniform(0, 0.06))
            process.kill()
            process.wait()
            asked = {text for text, n in server.prompts.items() if n > before[text]}
            assert not asked & {contents[key] for key in known}
            came = {contents[key] for key in stored(killed) - known}
            assert len(asked - came) <= concurrency
        left = total - len(stored(killed))
        assert 0 < left < total
        seen = server.total
        run(killed, model(server.url, concurrency), total)
        assert server.total - seen == left
    assert (killed / "shard.jsonl").read_bytes() == (whole / "shard.jsonl").read_bytes()
    assert len(read_shard(killed / "shard.jsonl")) == total
