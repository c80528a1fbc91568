"""File work of InMind's stages: records in, records out."""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

from tqdm import tqdm

from memrepro import memory
from memrepro.benchmarks.base import Memory
from memrepro.benchmarks.inmind import protocol
from memrepro.benchmarks.inmind.build import build_sessions, build_tasks
from memrepro.benchmarks.inmind.judge import judge_verbatim
from memrepro.benchmarks.inmind.remember import Observation, remember
from memrepro.benchmarks.inmind.score import score
from memrepro.errors import CheckFailed, InputError
from memrepro.files import iter_json_lines, read_json, read_records, write_records
from memrepro.memory.base import MemorySystem, Oracle, Resources, render
from memrepro.params import Params, system_params
from memrepro.records import (
    InMindContext,
    InMindJudgeOnly,
    InMindSession,
    InMindTask,
    InMindVerdict,
    RecalledItem,
    Turn,
    VerifiedFile,
)
from memrepro.sources.check import check_bytes
from memrepro.sources.pins import load_pins
from memrepro.sources.sums import SUMS, parse_sums
from memrepro.stages.checks import check_edition
from memrepro.stages.processes import die_with_parent
from memrepro.stages.resources import resources_of
from memrepro.stages.work import Work


def read_edition(root: Path, params: Params) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Task rows, background rows and manifest of the dataset's edition, as released.

    Raises:
        InputError: a file is missing or not strict JSON.
    """
    data = params.inmind.data
    hint = "memrepro fetch --dataset full" if params.dataset == "full" else None
    tasks = [row for _, row in iter_json_lines(root / data.tasks, hint=hint)]
    background = [row for _, row in iter_json_lines(root / data.background, hint=hint)]
    return tasks, background, read_json(root / data.manifest, hint=hint)


def verify(work: Work) -> None:
    """Hold the edition's files to their pins and its rows to the protocol; write what was held.

    Raises:
        CheckFailed: names every file that fails, expected and found.
    """
    data = work.params.inmind.data
    files = (data.tasks, data.task_schema, data.background, data.manifest)
    pins = {pin.file: pin.sha256 for pin in load_pins(work.root)}
    pins |= parse_sums((work.root / SUMS).read_text("utf-8"))[0]
    checks = [check_bytes("pin", work.root, file, pins.get(file, "a pin")) for file in files]
    expected = protocol.FULL if work.params.dataset == "full" else None
    checks += check_edition(work.root, *files, expected)
    failed = [check for check in checks if not check.ok]
    if failed:
        first = failed[0]
        raise CheckFailed(
            first.cause or "the file is not what its pin says",
            where=", ".join(dict.fromkeys(check.file for check in failed)),
            expected=first.expected,
            found=first.found,
            hint="memrepro verify",
        )
    rows = [VerifiedFile(file=file, sha256=pins[file]) for file in files]
    write_records(work.write("inmind", "verified.jsonl"), rows)


def build(work: Work) -> None:
    """Write the background once, the target pairs, and the judge-only fields in a folder apart."""
    tasks, background, manifest = read_edition(work.root, work.params)
    visible, judge_only = build_tasks(tasks, manifest["injection_session_index"])
    write_records(work.write("inmind", "inputs") / "sessions.jsonl", build_sessions(background))
    write_records(work.write("inmind", "inputs") / "tasks.jsonl", visible)
    write_records(work.write("inmind", "judge_only") / "tasks.jsonl", judge_only)


def _reveal(memory: Memory, turns: Sequence[Turn]) -> None:
    if isinstance(memory, Oracle):
        memory.reveal(turns)


@dataclass(frozen=True)
class _Slice:
    """What one worker needs to replay some of the tasks."""

    name: str
    settings: dict[str, Any]
    resources: Resources
    sessions: tuple[InMindSession, ...]
    k: int

    def create(self) -> MemorySystem:
        return memory.create(memory.base_name(self.name), self.settings, self.resources)

    def run(self, tasks: Sequence[InMindTask]) -> Iterator[list[Observation]]:
        return remember(
            self.create,
            _reveal,
            self.sessions,
            tasks,
            self.k,
            render=render,
            control=self.name.endswith(memory.CONTROL_SUFFIX),
        )


class _Worker:
    """What a worker process was started with.

    It comes with the start, and not with the work: that goes through a pipe which, once full, holds
    the pool up for ever if the worker dies before it reads (Python before 3.11.8, gh-94777).
    """

    given: tuple[_Slice, Sequence[Sequence[InMindTask]]]


def _start_worker(parent: int, slice_: _Slice, parts: Sequence[Sequence[InMindTask]]) -> None:
    die_with_parent(parent)
    _Worker.given = slice_, parts


def _run_part(number: int) -> tuple[int, list[list[Observation]]]:
    slice_, parts = _Worker.given
    return os.getpid(), list(slice_.run(parts[number]))


def _observations(
    slice_: _Slice, tasks: Sequence[InMindTask], workers: int, pids: set[int]
) -> Iterator[list[Observation]]:
    """Every task's observations in task order, from this process or from worker processes."""
    if workers == 1:
        pids.add(os.getpid())
        yield from slice_.run(tasks)
        return
    size = max(1, -(-len(tasks) // workers))
    parts = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    # One task a child: every part has a process of its own, however short the parts are.
    context = get_context("spawn")
    with ProcessPoolExecutor(
        workers,
        mp_context=context,
        initializer=_start_worker,
        initargs=(os.getpid(), slice_, parts),
        max_tasks_per_child=1,
    ) as pool:
        try:
            for pid, part in pool.map(_run_part, range(len(parts))):
                pids.add(pid)
                yield from part
        except BaseException:
            # Leaving the pool waits for its workers, which may have minutes to go.
            for worker in active_children():
                worker.kill()
            raise


def remember_system(work: Work, system: str) -> dict[str, Any]:
    """Replay the history through one system; write its contexts and the distinct recalled items.

    Returns:
        Facts for the provenance record: the process ids that did the work.
    """
    inputs = work.read("inmind", "inputs")
    sessions = read_records(inputs / "sessions.jsonl", InMindSession)
    tasks = read_records(inputs / "tasks.jsonl", InMindTask)
    row = system_params(work.params, "inmind", system)
    kind = memory.load(memory.base_name(system))
    if system.endswith(memory.CONTROL_SUFFIX) and not kind.control:
        raise InputError(f"{memory.base_name(system)} does not run as a control", where=system)
    resources = resources_of(work, "inmind", system, _texts(sessions, tasks, system))
    slice_ = _Slice(system, row.settings, resources, tuple(sessions), work.params.inmind.k)
    pids: set[int] = set()
    observations = _observations(slice_, tasks, work.workers, pids)
    shown = tqdm(
        observations, desc=system, total=len(tasks), disable=not work.progress, leave=False
    )
    contexts, items = _number_items(shown, system)
    folder = work.write("inmind", "contexts") / system
    write_records(folder / "items.jsonl", items)
    write_records(folder / "contexts.jsonl", contexts)
    return {"worker_pids": sorted(pids)}


def _texts(
    sessions: Sequence[InMindSession], tasks: Sequence[InMindTask], system: str
) -> list[str]:
    """Every distinct text that an embedder will meet, so that each is embedded once."""
    texts = dict.fromkeys(turn.text for session in sessions for turn in session.turns)
    for task in tasks:
        pair = (task.user_message, task.assistant_message)
        if system.endswith(memory.CONTROL_SUFFIX):
            pair = (f"User: {pair[0]}\nAssistant: {pair[1]}",) * 2
        texts.update(dict.fromkeys((*pair, task.naive_query, task.query)))
    return list(texts)


def _number_items(
    observations: Iterable[list[Observation]], system: str
) -> tuple[list[InMindContext], list[RecalledItem]]:
    """Contexts that name items by number, and the items, numbered by first appearance."""
    numbers: dict[tuple[str, str], int] = {}
    contexts = []
    for group in observations:
        for seen in sorted(group, key=lambda one: (one.query_kind, one.condition)):
            contexts.append(
                InMindContext(
                    task_id=seen.task_id,
                    query_kind=seen.query_kind,
                    condition=seen.condition,
                    system=system,
                    items=tuple(
                        numbers.setdefault((item.id, item.text), len(numbers))
                        for item in seen.recalled
                    ),
                    context_sha256=seen.context_sha256,
                    state_before=seen.state_before,
                    state_after=seen.state_after,
                )
            )
    items = [RecalledItem(item=n, id=id_, text=text) for (id_, text), n in numbers.items()]
    return contexts, items


def judge_system(work: Work, system: str) -> None:
    """Write the deterministic judge's verdicts on one system's contexts."""
    folder = work.read("inmind", "contexts") / system
    verdicts = judge_verbatim(
        read_records(folder / "contexts.jsonl", InMindContext),
        read_records(folder / "items.jsonl", RecalledItem),
        read_records(work.read("inmind", "inputs") / "tasks.jsonl", InMindTask),
    )
    write_records(work.write("inmind", "verdicts") / system / "verbatim.jsonl", verdicts)


def score_system(work: Work, system: str) -> None:
    """Write one system's score rows, of every judge that has verdicts on it."""
    folder = work.read("inmind", "verdicts") / system
    verdicts = [
        verdict
        for name in ("verbatim.jsonl", "model.jsonl")
        if (folder / name).is_file()
        for verdict in read_records(folder / name, InMindVerdict)
    ]
    judge_only = read_records(work.read("inmind", "judge_only") / "tasks.jsonl", InMindJudgeOnly)
    write_records(work.write("inmind", "scores") / f"{system}.jsonl", score(verdicts, judge_only))
