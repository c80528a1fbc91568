"""Facts of made-up profiles, and the command group's output."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memrepro.benchmarks.cimemories.describe import data_facts
from memrepro.benchmarks.cimemories.profiles import parse_profile
from memrepro.errors import InputError
from tests.cimemories.results import context, profile, write


def profiles() -> list[dict[str, Any]]:
    meet = {"recipient": "Nurse", "task": "Visit"}
    ada = profile(
        "Ada",
        {"full_name": "N.", "mortgage": "M.", "Pet_AGE": "P.", "SEXTANT": "S.", "debt": "M."},
        [meet, {"recipient": "Bank", "task": "Loan"}],
    )
    bob = profile("Bob", {"agent": "A."}, [meet, {"recipient": "Clerk", "task": "Visit"}])
    ada["information_attributes"]["debt"]["value"] = 120
    ada["information_attributes"]["SEXTANT"]["value"] = None
    del bob["information_attributes"]["agent"]["value"]
    bob["information_attributes"]["agent"]["information_domain"] = "finance"
    return [ada, bob]


def test_facts() -> None:
    # Of six keys only debt holds no filtered word; full_name and Pet_AGE hold one as a word of
    # its own, mortgage, SEXTANT and agent inside another.
    assert data_facts([parse_profile(one, "x") for one in profiles()]) == {
        "profiles": 2,
        "attributes": 6,
        "mean_attributes": 3.0,
        "contexts_per_profile": 2,
        "distinct_contexts": 3,
        "keys_dropped_by_released_filter": 5,
        "of_these_inside_another_word": 3,
        "duplicate_statements": 1,
        "domains": {"health": 5, "finance": 1},
        "attribute_without_value": 2,
        "non_string_values": 3,
    }


def test_profiles_with_different_numbers_of_contexts_have_no_one_number() -> None:
    given = profiles()
    given[0]["contexts"].pop()
    with pytest.raises(InputError, match="one number of contexts"):
        data_facts([parse_profile(one, "x") for one in given])


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memrepro", "cimemories", *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_describe_prints_json_and_a_table(tmp_path: Path) -> None:
    file = tmp_path / "profiles.json"
    file.write_text(json.dumps(profiles()), encoding="utf-8")
    assert json.loads(command("describe", str(file), "--json").stdout)["attributes"] == 6
    table = command("describe", str(file)).stdout.splitlines()
    assert table[:2] == ["profiles", "  profiles: 2"]
    assert "  domains: health 5, finance 1" in table


@pytest.mark.parametrize("text", ["[]", "{}", "7", '[{"bio": {}}]', "[", '[{"bio": 1, "bio": 1}]'])
def test_describe_refuses_what_is_no_list_of_profiles(tmp_path: Path, text: str) -> None:
    file = tmp_path / "profiles.json"
    file.write_text(text, encoding="utf-8")
    result = command("describe", str(file))
    assert (result.returncode, result.stdout) == (2, "")
    assert str(file) in result.stderr
    assert "Traceback" not in result.stderr


def test_score_prints_json_and_a_table(tmp_path: Path) -> None:
    statements = {"clinic": "C.", "debt": "D."}
    labels = {"C.": "necessary", "D.": "private"}
    nurse = context("Nurse", "Visit", labels, [{"clinic": 1}, {}])
    file = write(tmp_path / "results.jsonl", [profile("Ada", statements, [nurse])])
    found = json.loads(command("score", str(file), "--reading", "paper", "--json").stdout)
    assert found == {
        "violation": {"mean": 0.0, "std": None, "per_profile": {"Ada": 0.0}},
        "completeness": {"mean": 0.5, "std": None, "per_profile": {"Ada": 0.5}},
        "contexts_scored": 1,
        "contexts_discarded": 0,
        "private_keys_excluded": 0,
    }
    assert command("score", str(file), "--reading", "released-code").stdout.splitlines() == [
        "profile  violation  completeness",
        "Ada         0.0000        0.5000",
        "mean        0.0000        0.5000",
        "std              –             –",
        "contexts scored: 1",
        "contexts discarded: 0",
        "private keys excluded: 0",
    ]


def test_help_loads_no_heavy_library() -> None:
    script = (
        "import sys; sys.argv = ['memrepro', '--help']\n"
        "from memrepro.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print({'duckdb', 'numpy', 'jiter'} & set(sys.modules))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
    )
    assert "cimemories" in result.stdout
    assert result.stdout.splitlines()[-1] == "set()"
