"""Checks of what the editions' files hold, for `memrepro verify` and InMind's stage.

Loads nothing slow: `memrepro verify` is run by hooks.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memrepro.benchmarks.cimemories.profiles import parse_profiles
from memrepro.benchmarks.inmind import protocol
from memrepro.errors import InputError
from memrepro.sources.check import Check
from memrepro.sources.pins import RAW

_SAMPLE = "data/sample/inmind"
_UPSTREAM = f"{RAW}/inmind"


def inmind_checks(root: Path) -> Iterator[Check]:
    """The protocol of each edition of InMind that is there, and the placeholders of its prompts."""
    tasks, background = f"{_UPSTREAM}/benchmark/dataset", f"{_UPSTREAM}/evaluation/background"
    yield from check_edition(
        root,
        f"{tasks}/inmind.jsonl",
        f"{tasks}/schema.json",
        f"{background}/lme_s_background.jsonl",
        f"{background}/manifest.json",
        protocol.FULL,
    )
    yield from check_edition(
        root,
        f"{_SAMPLE}/tasks.jsonl",
        f"{_SAMPLE}/schema.json",
        f"{_SAMPLE}/background.jsonl",
        f"{_SAMPLE}/manifest.json",
        None,
    )
    for folder in ("prompts/inmind", f"{_UPSTREAM}/evaluation/prompts"):
        if (root / folder).is_dir():
            yield from _prompts(root, folder)


def cimemories_checks(root: Path) -> Iterator[Check]:
    """Every row of each file of CIMemories' profiles that is there."""
    for file in (
        f"{RAW}/cimemories/data/data_openai_gpt-oss-120b.json",
        f"{RAW}/cimemories/data/data_openai_gpt-oss-120b_extended.json",
        "data/sample/cimemories/profiles.json",
    ):
        faults: list[Check] = []
        value = _load(root, file, faults)
        yield from faults
        if value is None:
            continue
        try:
            parse_profiles(value, file)
            yield Check("profiles", file, True)
        except InputError as error:
            yield Check("profiles", file, False, None, None, f"{error.where}: {error.what}")


def check_edition(
    root: Path,
    tasks: str,
    schema: str,
    background: str,
    manifest: str,
    expected: protocol.Expected | None,
) -> Iterator[Check]:
    """Check what is there of an edition; that nothing is absent is not the protocol's to say."""
    faults: list[Check] = []
    parts = {file: _load(root, file, faults) for file in (tasks, schema, background, manifest)}
    yield from faults
    if parts[tasks] is not None:
        yield _outcome(tasks, protocol.check_tasks(parts[tasks], expected))
        if isinstance(parts[schema], dict):
            yield _outcome(tasks, protocol.check_schema(parts[tasks], parts[schema]), "schema")
    if parts[background] is not None and isinstance(parts[manifest], dict):
        problems = protocol.check_background(parts[background], parts[manifest], expected)
        yield _outcome(background, problems)


def _load(root: Path, file: str, faults: list[Check]) -> Any:
    """A file's strict JSON value or rows; None if it is absent or, with a fault noted, unsound."""
    from memrepro.files import iter_json_lines, read_json

    path = root / file
    if not path.is_file():
        return None
    try:
        if file.endswith(".jsonl"):
            return [row for _, row in iter_json_lines(path)]
        return read_json(path)
    except InputError as error:
        faults.append(Check("format", file, False, None, None, f"{error.where}: {error.what}"))
        return None


def _prompts(root: Path, folder: str) -> Iterator[Check]:
    texts = {
        role: (root / folder / f"{role}.txt").read_text("utf-8", errors="replace")
        for role in protocol.PROMPTS
        if (root / folder / f"{role}.txt").is_file()
    }
    problems = protocol.check_prompts(texts)
    for role in protocol.PROMPTS:
        mine = [problem for problem in problems if problem.startswith(f"{role}:")]
        yield _outcome(f"{folder}/{role}.txt", mine, "placeholders")


def _outcome(file: str, problems: list[str], name: str = "protocol") -> Check:
    if not problems:
        return Check(name, file, True)
    more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
    return Check(name, file, False, None, None, "; ".join(problems[:5]) + more)
