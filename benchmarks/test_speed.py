"""Speed and memory as ratios within one run; `make bench` prints them and asserts nothing timed."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bm25s
import pytest
import Stemmer

from memrepro.benchmarks.inmind.remember import number_history, remember
from memrepro.files import read_records
from memrepro.memory.base import Resources, render
from memrepro.memory.bm25 import BM25, tokens
from memrepro.memory.embedding import Embedder, by_name
from memrepro.params import load_params
from memrepro.records import InMindSession, InMindTask
from memrepro.stages.inmind import remember_system
from memrepro.stages.work import Work

ROOT = Path(__file__).parents[1]
INPUTS = ROOT / "data/runs/full/inmind/inputs"
MODELS = ROOT / "data/raw/minilm"

pytestmark = pytest.mark.full


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    value = function()
    return time.perf_counter() - start, value


@pytest.fixture(scope="module")
def sessions() -> list[InMindSession]:
    return read_records(INPUTS / "sessions.jsonl", InMindSession, hint="make repro DATASET=full")


@pytest.fixture(scope="module")
def tasks() -> list[InMindTask]:
    return read_records(INPUTS / "tasks.jsonl", InMindTask)


def index_anew(sessions: list[InMindSession], tasks: list[InMindTask]) -> list[str]:
    """The contexts of every query and condition, from a bm25s index made for that query alone."""
    contexts = []
    for task in tasks:
        for query in (task.query, task.naive_query):
            for told in (task, None):
                history = number_history(sessions, told)
                texts = [turn.text for session in history for turn in session.turns]
                stemmer = Stemmer.Stemmer("english")
                corpus = bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
                index = bm25s.BM25()
                index.index(corpus, show_progress=False)
                (words,) = bm25s.tokenize(
                    [query], stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
                )
                scores = index.get_scores(words)
                order = sorted(range(len(texts)), key=lambda place: (-scores[place], place))
                contexts.append("\n\n".join(texts[place] for place in order[:5]))
    return contexts


def test_bm25_remember_against_indexing_anew(
    sessions: list[InMindSession], tasks: list[InMindTask], benchmark: Any
) -> None:
    """Wanted: at least 5 times faster over all tasks, contexts equal to the byte."""

    def ours() -> list[str]:
        tokens.cache_clear()
        groups = remember(
            lambda: BM25(Resources(ROOT)),
            lambda memory, turns: None,
            sessions,
            tasks,
            5,
            render=render,
            control=False,
        )
        order = [
            ("indirect", "with_target"),
            ("indirect", "without_target"),
            ("naive", "with_target"),
            ("naive", "without_target"),
        ]
        return [
            render(by_kind[key].recalled)
            for group in groups
            for by_kind in [{(one.query_kind, one.condition): one for one in group}]
            for key in order
        ]

    anew_seconds, anew = timed(lambda: index_anew(sessions, tasks))
    contexts = benchmark.pedantic(ours, rounds=1)
    assert contexts == anew
    ratio = anew_seconds / benchmark.stats.stats.min
    benchmark.extra_info["times_faster"] = ratio
    print(f"\nbm25 remember, {len(tasks)} tasks: {ratio:.1f} times faster than indexing anew")


@pytest.mark.dense
def test_dense_remember_against_the_bare_library(
    sessions: list[InMindSession], tasks: list[InMindTask], benchmark: Any, tmp_path: Path
) -> None:
    """Wanted: each distinct text embedded once; at most 1.15 times the bare library's time."""
    import numpy as np
    import onnxruntime
    import tokenizers

    texts = list(
        dict.fromkeys(
            [turn.text for session in sessions for turn in session.turns]
            + [
                text
                for task in tasks
                for text in (
                    task.user_message, task.assistant_message, task.naive_query, task.query
                )
            ]
        )
    )  # fmt: skip

    def bare(batch: int) -> None:
        session = onnxruntime.InferenceSession(str(MODELS / "model_int8.onnx"))
        encoder = tokenizers.Tokenizer.from_file(str(MODELS / "tokenizer.json"))
        encoder.enable_truncation(256)
        encoder.enable_padding() if batch > 1 else encoder.no_padding()
        names = [entry.name for entry in session.get_inputs()]
        for start in range(0, len(texts), batch):
            encoded = encoder.encode_batch(texts[start : start + batch])
            given = {
                "input_ids": [one.ids for one in encoded],
                "attention_mask": [one.attention_mask for one in encoded],
                "token_type_ids": [one.type_ids for one in encoded],
            }
            session.run(None, {name: np.asarray(given[name], np.int64) for name in names})

    seconds = min(timed(lambda: bare(1))[0], timed(lambda: bare(32))[0])
    work = Work(root=ROOT, out=tmp_path, params=load_params(ROOT, "full"))
    benchmark.pedantic(lambda: remember_system(work, "dense_int8"), rounds=1)
    ratio = benchmark.stats.stats.min / seconds
    benchmark.extra_info["times_the_bare_library"] = ratio
    print(f"\ndense_int8 remember: {ratio:.2f} times the bare library ({len(texts)} texts)")
    embedder = Embedder(MODELS / "model_int8.onnx", MODELS / "tokenizer.json")
    embedder.prepare(texts)
    by_name({"minilm_int8": embedder})("minilm_int8", texts)
    assert embedder.embedded == len(texts)


@pytest.mark.dense
def test_dense_peak_memory(tmp_path: Path) -> None:
    """Wanted: under 700 MB, for the remember step of dense_int8 in a process of its own."""
    script = (
        "import sys; from pathlib import Path\n"
        "from memrepro.params import load_params\n"
        "from memrepro.stages.inmind import remember_system\n"
        "from memrepro.stages.work import Work\n"
        "root, out = map(Path, sys.argv[1:])\n"
        "params = load_params(root, 'full')\n"
        "remember_system(Work(root=root, out=out, params=params), 'dense_int8')\n"
        # Not ru_maxrss, which a child takes over from the process that started it.
        "lines = Path('/proc/self/status').read_text().split('\\n')\n"
        "print(next(int(x.split()[1]) // 1024 for x in lines if x.startswith('VmHWM')))\n"
    )
    command = [sys.executable, "-c", script, str(ROOT), str(tmp_path)]
    peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    print(f"\ndense_int8 remember: peak memory {peak} MB")


def test_verify_against_hashing_alone(benchmark: Any) -> None:
    """Wanted: at most 3 times `python -c pass` plus the same hashing of the same files."""
    script = (
        "import hashlib, sys\n"
        "for argument in sys.argv[1:]:\n"
        "    kind, _, name = argument.partition(':')\n"
        "    with open(name, 'rb') as stream: hashlib.file_digest(stream, kind)\n"
    )
    verify = [str(Path(sys.executable).parent / "memrepro"), "verify", "--dataset", "full"]
    report = subprocess.run([*verify, "--json"], cwd=ROOT, check=True, capture_output=True)
    # Stage outputs are held to the MD5 that DVC recorded, all else to SHA-256.
    kinds = {"generated": "md5", "fetched": "sha256", "committed": "sha256"}
    files = [
        f"{kinds[check['name']]}:{check['file']}"
        for check in json.loads(report.stdout)["checks"]
        if check["name"] in kinds
    ]

    def run(command: list[str]) -> None:
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)

    floor = min(timed(lambda: run([sys.executable, "-c", script, *files]))[0] for _ in range(10))
    benchmark.pedantic(lambda: run(verify), rounds=10)
    ratio = benchmark.stats.stats.min / floor
    benchmark.extra_info["times_hashing"] = ratio
    print(f"\nverify --dataset full: {ratio:.2f} times python -c pass plus hashing")
