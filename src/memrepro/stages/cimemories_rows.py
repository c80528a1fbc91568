"""What CIMemories' stages read: the edition's profiles, and rows of each other's outputs."""

from itertools import groupby
from typing import TypeVar

from memrepro.benchmarks.cimemories.build import Rows, build
from memrepro.benchmarks.cimemories.profiles import Profile, parse_profiles
from memrepro.files import read_json, read_records
from memrepro.records import CIMemoriesAttribute, Record
from memrepro.stages.work import Work

BENCHMARK = "cimemories"
R = TypeVar("R", bound=Record)


def read_rows(work: Work, name: str, record: type[R]) -> list[R]:
    """The rows of one of the benchmark's stage outputs."""
    return read_records(work.read(BENCHMARK, name), record, hint="dvc repro")


def read_profiles(work: Work) -> list[Profile]:
    """The edition's profiles, each row checked.

    Raises:
        InputError: the file is missing, or a row is malformed: names file, profile and field.
    """
    path = work.root / work.params.cimemories.data.profiles
    hint = "memrepro fetch --dataset full" if work.params.dataset == "full" else None
    return parse_profiles(read_json(path, hint=hint), str(path))


def edition_rows(work: Work) -> Rows:
    """The edition's profiles as rows."""
    return build(read_profiles(work))


def attributes_by_profile(work: Work) -> dict[int, list[CIMemoriesAttribute]]:
    """The judge-only attributes of each profile, in order."""
    rows = read_rows(work, "judge_only/attributes.jsonl", CIMemoriesAttribute)
    return {number: list(group) for number, group in groupby(rows, key=lambda one: one.profile)}
