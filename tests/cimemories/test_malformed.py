"""Malformed results files: refused by file, line and field, without a traceback."""

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memrepro.errors import InputError
from memrepro.store.cimemories import read_results, score_results
from tests.cimemories.results import context, profile, write

LABELS = {"C.": "necessary", "D.": "private"}
GOOD = profile(
    "Ada", {"clinic": "C.", "debt": "D."}, [context("Nurse", "Visit", LABELS, [{"clinic": 1}])]
)
TRIAL = "combination_num_to_share=9_num_not_to_share=0_trial=0"
REVEALS = ("contexts", 0, TRIAL, "model_solution", "revealed_attributes")
GONE = object()


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    line = copy.deepcopy(GOOD)
    inside: Any = line
    for step in path[:-1]:
        inside = inside[step]
    if value is GONE:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return line


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("bio",), GONE, "bio"),
        (("bio",), "Ada", "bio"),
        (("bio", "name"), 7, "bio.name"),
        (("information_attributes",), [], "information_attributes"),
        (("information_attributes",), {}, "information_attributes"),
        (("information_attributes", "debt"), None, "information_attributes.debt"),
        (
            ("information_attributes", "debt", "memory_statement"),
            None,
            "information_attributes.debt.memory_statement",
        ),
        (
            ("information_attributes", "debt", "information_domain"),
            GONE,
            "information_attributes.debt.information_domain",
        ),
        (("contexts",), {}, "contexts"),
        (("contexts", 0), "Nurse", "contexts[0]"),
        (("contexts", 0, "recipient"), GONE, "contexts[0].recipient"),
        (("contexts", 0, "task"), True, "contexts[0].task"),
        (("contexts", 0, "labels_combined"), GONE, "contexts[0].labels_combined"),
        (("contexts", 0, "labels_combined", "D."), 1.0, "contexts[0].labels_combined['D.']"),
        (
            ("contexts", 0, "labels_combined", "D.", "private"),
            GONE,
            "contexts[0].labels_combined['D.'].private",
        ),
        (
            ("contexts", 0, "labels_combined", "D.", "private"),
            True,
            "contexts[0].labels_combined['D.'].private",
        ),
        (
            ("contexts", 0, "labels_combined", "D.", "unlabeled"),
            "0",
            "contexts[0].labels_combined['D.'].unlabeled",
        ),
        (
            ("contexts", 0, "labels_combined", "D.", "necessary"),
            0.5,
            "contexts[0].labels_combined['D.']",
        ),
        (
            ("contexts", 0, "labels_combined", "D.", "unlabeled"),
            -0.5,
            "contexts[0].labels_combined['D.']",
        ),
        (("contexts", 0, TRIAL), [], f"contexts[0].{TRIAL}"),
        (("contexts", 0, TRIAL, "trial_idx"), 1, f"contexts[0].{TRIAL}.trial_idx"),
        (("contexts", 0, TRIAL, "trial_idx"), "0", f"contexts[0].{TRIAL}.trial_idx"),
        (("contexts", 0, TRIAL, "model_solution"), GONE, f"contexts[0].{TRIAL}.model_solution"),
        (REVEALS, GONE, ".".join(("contexts[0]", *map(str, REVEALS[2:])))),
        ((*REVEALS, "debt"), True, f"contexts[0].{'.'.join(map(str, REVEALS[2:]))}.debt"),
        ((*REVEALS, "debt"), 1.0, f"contexts[0].{'.'.join(map(str, REVEALS[2:]))}.debt"),
        ((*REVEALS, "debt"), "1", f"contexts[0].{'.'.join(map(str, REVEALS[2:]))}.debt"),
        ((*REVEALS, "debt"), None, f"contexts[0].{'.'.join(map(str, REVEALS[2:]))}.debt"),
        ((*REVEALS, "debt"), 2, f"contexts[0].{'.'.join(map(str, REVEALS[2:]))}.debt"),
        ((*REVEALS, "debt"), -1, f"contexts[0].{'.'.join(map(str, REVEALS[2:]))}.debt"),
        (("contexts", 0, "combination_full"), {}, "contexts[0].combination_full"),
        (("contexts", 0, f"{TRIAL}0"), GOOD, f"contexts[0].{TRIAL}0"),
        (
            ("contexts", 0, TRIAL.replace("trial=0", "trial=00")),
            {},
            f"contexts[0].{TRIAL.replace('trial=0', 'trial=00')}",
        ),
        (
            ("contexts", 0, TRIAL.replace("trial=0", "trial=٣")),
            {},
            f"contexts[0].{TRIAL.replace('trial=0', 'trial=٣')}",
        ),
    ],
)
def test_a_wrong_field_is_named(
    tmp_path: Path, path: tuple[Any, ...], value: Any, field: str
) -> None:
    file = write(tmp_path / "results.jsonl", [GOOD, changed(path, value)])
    with pytest.raises(InputError) as error:
        read_results(file)
    where = error.value.where or ""
    assert where.startswith(f"{file}, line 2, field {field}"), where


def test_a_context_that_stands_twice_is_refused(tmp_path: Path) -> None:
    line = {**GOOD, "contexts": GOOD["contexts"] * 2}
    with pytest.raises(InputError, match="stand at contexts") as error:
        read_results(write(tmp_path / "results.jsonl", [line]))
    assert str(error.value.where).endswith("line 1, field contexts[1]")


TEXT = json.dumps(GOOD)


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (f"{TEXT}\n\n", 2, "not valid JSON"),
        (f"{TEXT}\n{TEXT}", 2, "no line end"),
        (f"{TEXT}\n{TEXT[:-9]}\n", 2, "not valid JSON"),
        (f"{TEXT}\r\n", 1, "CRLF"),
        (f"\ufeff{TEXT}\n", 1, "byte-order mark"),
        (f"{TEXT}\n[]\n", 2, "wrong type"),
        (f"{TEXT}\nnull\n", 2, "wrong type"),
        (f"{TEXT}{TEXT}\n", 1, "not valid JSON"),
        (TEXT.replace('"clinic": 1', '"clinic": 1, "clinic": 0') + "\n", 1, "stands twice"),
        (TEXT.replace('"private": 1.0', '"private": NaN') + "\n", 1, "NaN"),
        (TEXT.replace('"private": 1.0', '"private": 1e999') + "\n", 1, "no shares"),
        (TEXT.replace("Ada", "\\ud800") + "\n", 1, "lone surrogate"),
        (TEXT.replace("Ada", "[" * 9) + "\n" + "[" * 999 + "]" * 999 + "\n", 2, "not valid JSON"),
        (b"\xff" + TEXT.encode() + b"\n", 1, "not UTF-8"),
        ("", 0, "holds no context"),
    ],
)
def test_a_malformed_line_is_named(
    tmp_path: Path, data: str | bytes, line: int, words: str
) -> None:
    file = tmp_path / "results.jsonl"
    file.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    with pytest.raises(InputError, match=words) as error:
        read_results(file)
    expected = f"{file}, line {line}" if line else str(file)
    assert str(error.value.where).split(", field")[0] == expected


@pytest.mark.parametrize("name", ["a\u2028b\u2029c\u0085d", "a\u0000b", "😀", 'O\'Brien "x"', ""])
def test_any_name_comes_through(tmp_path: Path, name: str) -> None:
    for escaped in (True, False):
        file = tmp_path / "results.jsonl"
        text = json.dumps(changed(("bio", "name"), name), ensure_ascii=escaped)
        file.write_bytes(f"{text}\n".encode())
        metrics = score_results(file, "paper").metrics
        assert list(metrics["violation"]["per_profile"]) == [name]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memrepro", "cimemories", *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (lambda file: (str(file), "--reading", "paper"), "line 1, field contexts[0]."),
        (lambda file: (str(file), "--reading", "papers"), "paper or released-code"),
        (lambda file: (f"{file}x", "--reading", "paper"), "No such file"),
        (lambda file: (str(file.parent), "--reading", "paper"), "Is a directory"),
        (lambda file: (str(file), "--reading", "paper", "--samples", "0"), "--samples"),
    ],
)
def test_the_command_exits_2_without_a_traceback(
    tmp_path: Path, arguments: Callable[[Path], tuple[str, ...]], words: str
) -> None:
    file = write(tmp_path / "results.jsonl", [changed((*REVEALS, "debt"), True)])
    result = command("score", *arguments(file))
    assert (result.returncode, result.stdout) == (2, "")
    assert words in result.stderr
    assert "Traceback" not in result.stderr
