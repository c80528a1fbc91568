"""Generated profiles: their structure, their bytes, and what no draw may move."""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memrepro.benchmarks.cimemories.contradictions import contradictions
from memrepro.benchmarks.cimemories.generate import generate_profiles
from memrepro.benchmarks.cimemories.profiles import Profile, parse_profile
from memrepro.benchmarks.cimemories.reveal import normalise, stands_in
from memrepro.benchmarks.cimemories.tables import (
    DOMAINS,
    EVENT_KINDS,
    GENERAL,
    Tables,
    Template,
    parse_contexts,
    parse_events,
    parse_rule,
    parse_templates,
)
from memrepro.cli.cimemories_generate import load_tables
from memrepro.errors import InputError
from memrepro.files import read_json, read_text
from tests.cimemories.test_golden import PROFILES, folder

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data/sample/cimemories/profiles.json"
SAMPLE_OPTIONS = ("--profiles", "3", "--seed", "30", "--contexts", "12")


@pytest.fixture(scope="module")
def tables() -> Tables:
    return load_tables(ROOT)


@pytest.fixture(scope="module")
def sample() -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = read_json(SAMPLE)
    return values


def command(*arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "memrepro", "cimemories", *arguments],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        check=False,
    )


def checked(values: list[dict[str, Any]]) -> list[Profile]:
    return [parse_profile(value, str(at)) for at, value in enumerate(values)]


def test_the_tables_hold_what_they_promise(tables: Tables) -> None:
    assert Counter(one.kind for one in tables.events) == {"hard": 24, "positive": 12}
    assert len(tables.contexts) == len({one.task for one in tables.contexts}) == 49
    assert all(1 <= len(one.needs) <= 3 and len(one.withholds) > 1 for one in tables.contexts)
    for domain in DOMAINS:
        assert any(domain in one.needs for one in tables.contexts[:12]), domain
        assert any(domain in one.withholds for one in tables.contexts[:12]), domain
    assert sum(one.domain == GENERAL for one in tables.templates) == 8


def test_a_profile_is_biography_and_three_events_of_nine_domains_of_seven(
    sample: list[dict[str, Any]],
) -> None:
    for value in sample:
        assert list(value) == ["bio", "information_attributes", "contexts"]
        assert list(value["bio"]) == ["name", "sex", "address", "age"]
        assert 21 <= value["bio"]["age"] <= 70
        attributes = value["information_attributes"]
        assert [attributes[key]["value"] for key in value["bio"]] == [*value["bio"].values()]
        for one in attributes.values():
            assert list(one) == ["value", "information_domain", "event", "memory_statement"]
        counts = Counter((one["event"], one["information_domain"]) for one in attributes.values())
        events = {event for event, _ in counts} - {GENERAL}
        assert counts.pop((GENERAL, GENERAL)) == 12
        assert counts == {(event, domain): 7 for event in events for domain in DOMAINS}
        assert len(events) == 3
        assert len({one["memory_statement"] for one in attributes.values()}) == 12 + 189
        assert len(value["contexts"]) == 12


def test_the_committed_sample_is_what_the_command_writes(tmp_path: Path) -> None:
    result = command("generate", *SAMPLE_OPTIONS)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout == SAMPLE.read_bytes()
    file = tmp_path / "profiles.json"
    assert command("generate", *SAMPLE_OPTIONS, "--output", str(file)).stdout == b""
    assert file.read_bytes() == SAMPLE.read_bytes()


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
        {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "TZ": "Pacific/Kiritimati"},
        {"PYTHONHASHSEED": "random", "LC_ALL": "", "LANG": "de_DE.UTF-8", "TZ": "America/Adak"},
        {"PYTHONHASHSEED": "random", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": ""},
    ],
)
def test_no_environment_moves_a_byte(variables: dict[str, str]) -> None:
    assert command("generate", *SAMPLE_OPTIONS, **variables).stdout == SAMPLE.read_bytes()


def test_another_profile_moves_none_before_it(tables: Tables) -> None:
    few = generate_profiles(tables, profiles=4, seed=5, contexts=49)
    assert generate_profiles(tables, profiles=9, seed=5, contexts=49)[:4] == few
    assert generate_profiles(tables, profiles=4, seed=6, contexts=49) != few


def test_more_contexts_move_no_attribute(tables: Tables, sample: list[dict[str, Any]]) -> None:
    more = generate_profiles(tables, profiles=3, seed=30, contexts=49)
    for before, after in zip(sample, more, strict=True):
        assert after["contexts"][:12] == before["contexts"]
        assert after["information_attributes"] == before["information_attributes"]


def test_another_template_takes_a_place_and_moves_nothing_else(
    tables: Tables, sample: list[dict[str, Any]]
) -> None:
    new = Template("health", "steps_walked", "any", "count", "2000:9000", "{event}: {value} steps.")
    grown = tables._replace(templates=(new, *tables.templates))
    after = generate_profiles(grown, profiles=3, seed=30, contexts=12)
    gone = added = 0
    for old, now in zip(sample, after, strict=True):
        left, right = old["information_attributes"], now["information_attributes"]
        assert all(right[key] == one for key, one in left.items() if key in right)
        assert all(key.endswith("_steps_walked") for key in set(right) - set(left))
        gone, added = gone + len(set(left) - set(right)), added + len(set(right) - set(left))
    assert 0 < gone == added <= 9


def test_no_two_profiles_have_one_name_and_none_contradicts_itself(tables: Tables) -> None:
    values = generate_profiles(tables, profiles=40, seed=1, contexts=1)
    assert len({value["bio"]["name"] for value in values}) == 40
    for value, one in zip(values, checked(values), strict=True):
        assert contradictions(value["bio"], one.attributes) == []
        attributes = value["information_attributes"]
        assert attributes["years_at_employer"]["value"] <= value["bio"]["age"] - 16


def test_values_are_of_every_type_and_most_stand_in_their_statements(
    sample: list[dict[str, Any]],
) -> None:
    given = [one for value in sample for one in value["information_attributes"].values()]
    types = Counter(type(one["value"]) for one in given)
    assert set(types) == {str, int, float, bool}
    texts = [
        (
            normalise(f"{v:g}" if isinstance(v, float) else str(v)),
            normalise(one["memory_statement"]),
        )
        for one in given
        if not isinstance(v := one["value"], bool)
    ]
    # All but sex and address.
    assert sum(stands_in(value, statement) for value, statement in texts) == len(texts) - 6
    assert sum(len(value) < 4 for value, _ in texts) > 50
    # Written as people write: amounts with separators, dates in words.
    assert any("$1," in one["memory_statement"] for one in given)
    dates = [one for one in given if str(one["value"]).startswith("202")]
    assert dates
    assert not any(one["value"] in one["memory_statement"] for one in dates)


def test_describe_counts_the_sample() -> None:
    facts = json.loads(command("describe", "--dataset", "sample", "--json").stdout)["sample"]
    assert facts["profiles"] == 3
    assert facts["attributes"] == 3 * 201
    assert facts["contexts_per_profile"] == facts["distinct_contexts"] == 12
    assert facts["duplicate_statements"] == facts["attribute_without_value"] == 0
    assert facts["domains"] == {**dict.fromkeys(DOMAINS, 63), GENERAL: 36}


def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(
        read_json(ROOT / "schema/CIMemoriesProfiles.schema.json")
    )


def test_the_sample_is_valid_by_the_schema(sample: list[dict[str, Any]]) -> None:
    validator().validate(sample)
    spoils: list[Callable[[dict[str, Any]], object]] = [
        lambda one: one["bio"].pop("age"),
        lambda one: one["bio"].update(sex="man"),
        lambda one: one["information_attributes"]["name"].pop("value"),
        lambda one: one["information_attributes"]["name"].update(information_domain="sports"),
        lambda one: one["contexts"][0].update(task=7),
        lambda one: one.update(more=1),
    ]
    for spoil in spoils:
        spoiled = json.loads(SAMPLE.read_text("utf-8"))
        spoil(spoiled[1])
        assert not validator().is_valid(spoiled)
    assert not validator().is_valid([])


@pytest.mark.full
@pytest.mark.parametrize("edition", ["base", "extended"])
def test_the_released_files_are_valid_by_the_schema(edition: str) -> None:
    validator().validate(read_json(folder("MEMREPRO_MIRROR") / "data" / PROFILES[edition]))


@pytest.mark.full
def test_the_released_contexts_have_a_rule_each() -> None:
    released = read_json(folder("MEMREPRO_MIRROR") / "data" / PROFILES["base"])
    pairs = {
        hashlib.sha256(f"{one['recipient']}: {one['task']}".encode()).hexdigest()
        for value in released
        for one in value["contexts"]
    }
    assert set(upstream_rules()) == pairs


def upstream_rules() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    head, *rows = read_text(ROOT / "data/cimemories/upstream_pairs.csv").splitlines()
    assert head == "sha256,needs,withholds"
    rules = {}
    for row in rows:
        digest, needs, withholds = row.split(",")
        rules[digest] = parse_rule(needs, withholds, digest)
    return rules


def test_the_rules_of_released_contexts_are_sorted_and_sound() -> None:
    rules = upstream_rules()
    assert len(rules) == 49
    assert list(rules) == sorted(rules)
    assert all(len(digest) == 64 for digest in rules)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--profiles", "1", "--seed", "1", "--contexts", "50"), "at most 49"),
        (("--profiles", "1", "--seed", "1", "--model", "none"), "no model 'none'"),
    ],
)
def test_the_command_refuses_what_cannot_be(options: tuple[str, ...], why: str) -> None:
    result = command("generate", *options)
    assert (result.returncode, result.stdout) == (2, b"")
    assert why in result.stderr.decode()
    assert "Traceback" not in result.stderr.decode()


HEAD = "domain,key,fits,kind,value,statement\n"


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("sports,key,any,count,1:2,The {event} {value}.", "no such domain"),
        ("legal,Key,any,count,1:2,The {event} {value}.", "no key"),
        ("legal,key,some,count,1:2,The {event} {value}.", "fits no kind of event"),
        ("legal,key,any,counts,1:2,The {event} {value}.", "no such kind"),
        ("legal,key,any,count,1-2,The {event} {value}.", "is no value of kind count"),
        ("legal,key,any,count,1:2,The {event}.", "placeholders"),
        ("legal,key,any,count,1:2,The {event} {value}.|The {event}.", "placeholders"),
        ("general,key,any,count,1:2,The {event} {value}.", "placeholders"),
        ("legal,key,any,flag,,The {event}.", "placeholders"),
        ("legal,key,any,flag,,The {event}.|No {event} {value}.", "placeholders"),
        ("legal,key,any,count,1:2", "malformed row"),
        ("legal,key,any,count,1:2, The {event} {value}.", "malformed row"),
        ('legal,key,any,count,1:2,"The {event} {value}.', "not valid CSV"),
        ("legal,key,any,count,1:2,The {event} {value}.", "too few templates"),
    ],
)
def test_malformed_templates_are_refused(row: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        parse_templates(f"{HEAD}{row}\n", "t.csv")


def test_other_malformed_tables_are_refused() -> None:
    with pytest.raises(InputError, match="other columns"):
        parse_events("event\nfire\n", "e.csv")
    with pytest.raises(InputError, match="no such kind") as caught:
        parse_events("event,kind\nfire,hard\nflood,bad\n", "e.csv")
    assert caught.value.where == "e.csv, line 3"
    with pytest.raises(InputError, match="stands twice"):
        parse_events("event,kind\nhouse fire,hard\nHouse-fire,positive\n", "e.csv")
    for needs, withholds in (("", "legal"), ("legal", ""), ("sports", "legal"), ("legal", "legal")):
        with pytest.raises(InputError, match="needs and withholds"):
            parse_contexts(
                f"recipient,task,needs,withholds\nClerk,Ask,{needs},{withholds}\n", "c.csv"
            )


def test_each_kind_of_event_has_templates_enough(tables: Tables) -> None:
    for kind in EVENT_KINDS:
        few = [one for one in tables.templates if one.domain != "housing" or one.fits == kind]
        text = HEAD + "".join(
            ",".join((*one[:4], f'"{one.value}"', f'"{one.statement}"')) + "\n" for one in few
        )
        with pytest.raises(InputError, match="housing has too few templates"):
            parse_templates(text, "t.csv")
