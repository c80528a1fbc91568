"""Records generated calls against a server; run as a program, so that it can be killed."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memrepro.llm.call import Call
from memrepro.llm.ledger import open_store
from memrepro.params import Model
from memrepro.record.shard import Find, Progress, Terms, record_shard


def calls(count: int) -> Iterator[Call]:
    for n in range(count):
        yield Call(model="m", messages=(("system", "s"), ("user", f"call {n}")), cap=64)


def model(url: str, concurrency: int, **changes: object) -> Model:
    values = {
        "identity": "m", "name": "m", "base_url": url, "concurrency": concurrency,
        "attempts": 2, "timeout": 2.0, **changes,
    }  # fmt: skip
    return Model.model_validate(values)


def run(folder: Path, row: Model, count: int, **terms: Any) -> Progress:
    """Record `count` calls into `folder/shard.jsonl`."""
    progress = Progress(show=lambda _: None)

    def make(_: Find) -> Iterator[Call]:
        return calls(count)

    values: dict[str, Any] = {"budget": None, "retry_failed": False, **terms}
    with open_store(folder / "store.sqlite") as store:
        record_shard(
            folder / "shard.jsonl",
            "answer",
            make,
            store,
            Terms(name="m", model=row, api_key="none", **values),
            progress,
        )
    return progress


if __name__ == "__main__":
    run(Path(sys.argv[1]), model(sys.argv[2], int(sys.argv[3])), int(sys.argv[4]))
