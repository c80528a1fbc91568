"""Recording and replay as ratios within one run; `make bench` prints them."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from memrepro.llm.call import Call, Reply
from memrepro.llm.ledger import open_store, read_shard, resolve, write_shard
from memrepro.params import Model
from memrepro.record.shard import Find, Progress, Terms, record_shard

ROOT = Path(__file__).parents[1]
CALLS, CONCURRENCY = 2_000, 64
SERVER = """
import sys
from tests.llm.fault_server import completion, serving
with serving(completion("All good.").after(0.05)) as server:
    server.bodies = server.heads = type("Nothing", (), {"append": lambda self, _: None})()
    print(server.url, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def url() -> Iterator[str]:
    """A server in a process of its own that answers after 50 ms."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


def calls(count: int) -> Iterator[Call]:
    """Calls of about 2 KB."""
    text = "A sentence of a history that is as good as any. " * 40
    for n in range(count):
        yield Call(model="m", messages=(("system", text), ("user", f"call {n}")), cap=64)


def record(folder: Path, url: str, count: int) -> None:
    model = Model.model_validate(
        {"identity": "m", "name": "m", "base_url": url, "concurrency": CONCURRENCY}
    )
    terms = Terms(name="m", model=model, api_key="none", budget=100.0, retry_failed=False)

    def make(_: Find) -> Iterator[Call]:
        return calls(count)

    with open_store(folder / "store.sqlite") as store:
        progress = Progress(show=lambda _: None)
        record_shard(folder / "shard.jsonl", "answer", make, store, terms, progress)


async def bare(url: str, count: int) -> None:
    """The SDK alone: as many at a time, replies dropped."""
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    left = calls(count)

    async def work() -> None:
        for call in left:
            await client.chat.completions.create(
                model="m",
                messages=[{"role": r, "content": c} for r, c in call.messages],  # type: ignore[misc]
                max_completion_tokens=call.cap,
            )

    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
    await client.close()


def test_recording_against_the_bare_sdk(url: str, tmp_path: Path, benchmark: Any) -> None:
    """Wanted: at least 0.75 of the throughput of a bare AsyncOpenAI loop, storing included."""
    begin = time.perf_counter()
    asyncio.run(bare(url, CALLS))
    seconds = time.perf_counter() - begin
    benchmark.pedantic(lambda: record(tmp_path, url, CALLS), rounds=1)
    ratio = seconds / benchmark.stats.stats.min
    benchmark.extra_info["of_the_bare_sdk"] = ratio
    rate = CALLS / benchmark.stats.stats.min
    print(f"\nrecording: {ratio:.2f} of the bare SDK's throughput ({rate:.0f} calls/s)")
    assert len(read_shard(tmp_path / "shard.jsonl")) == CALLS


def test_replay(tmp_path: Path, benchmark: Any) -> None:
    """Wanted: at least 20,000 replies a second at 2 KB a request, reading the shard included."""
    count = 20_000
    rows = (
        Reply(
            key=call.key(), text="All good.", failure=None, detail=None, finish_reason="stop",
            prompt_tokens=500, completion_tokens=3, model="m",
        )
        for call in calls(count)
    )  # fmt: skip
    write_shard(tmp_path / "shard.jsonl", rows)
    asked = list(calls(count))

    def replay() -> int:
        find = read_shard(tmp_path / "shard.jsonl").get
        return sum(resolve(find, call)[0] is not None for call in asked)

    assert benchmark.pedantic(replay, rounds=3) == count
    rate = count / benchmark.stats.stats.min
    benchmark.extra_info["replies_a_second"] = rate
    print(f"\nreplay: {rate:.0f} replies a second")


def test_memory_is_flat_in_the_number_of_calls(url: str, tmp_path: Path) -> None:
    """Wanted: 10,000 calls within 200 MB of 1,000."""
    script = (
        "import sys; from pathlib import Path\n"
        "from benchmarks.test_models import record\n"
        "folder = Path(sys.argv[1]); folder.mkdir()\n"
        "record(folder, sys.argv[2], int(sys.argv[3]))\n"
        "lines = Path('/proc/self/status').read_text().split('\\n')\n"
        "print(next(int(x.split()[1]) // 1024 for x in lines if x.startswith('VmHWM')))\n"
    )
    peaks = []
    for count in (1_000, 10_000):
        command = [sys.executable, "-c", script, str(tmp_path / str(count)), url, str(count)]
        result = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        peaks.append(int(result.stdout))
    print(f"\nrecording: peak memory {peaks[0]} MB for 1,000 calls, {peaks[1]} MB for 10,000")
