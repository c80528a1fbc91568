"""Labels from recorded samples: the released code's result, and its edges by hand."""

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest

from memrepro.benchmarks.cimemories.labels import PERSONAS, Counts, Persona, count, mix, unanimous
from memrepro.benchmarks.cimemories.sensitivity import PRIORS
from memrepro.llm.labels import LabelSample, label_format, parse_labels


@pytest.mark.full
def test_the_released_labels() -> None:
    place = os.environ.get("MEMREPRO_GOLDEN")
    if not place:
        pytest.skip("MEMREPRO_GOLDEN is not set")
    folder = Path(place) / "cimemories"
    given = json.loads((folder / "label_samples.json").read_text("utf-8"))
    wanted = json.loads((folder / "label_expected.json").read_text("utf-8"))
    assert wanted["weights"] == {name: n / 100 for name, n in PRIORS["paper"].items()}
    names = ("necessary", "private", "unlabeled")
    counts: dict[Persona, dict[str, Counts]] = {}
    for persona in PERSONAS:
        samples = [parse_labels(text) for text in given["samples"][persona]]
        assert sum(one is not None for one in samples) == wanted["parsed_samples"][persona]
        counts[persona] = count(given["statements"], samples)
        for statement, shares in wanted["per_persona"][persona].items():
            found = counts[persona][statement]
            for name, number in zip(names, found, strict=True):
                assert number / found.total == pytest.approx(shares[name], abs=1e-12)
    for statement in given["statements"]:
        by_persona = {persona: counts[persona][statement] for persona in PERSONAS}
        mixed = dict(zip(names, mix(by_persona, PRIORS["paper"]), strict=True))
        for name, share in wanted["combined"][statement].items():
            assert float(mixed[name]) == pytest.approx(share, abs=1e-12)
        # The released files say private where the paper says inappropriate.
        label = {"private": "inappropriate"}.get(wanted["label"][statement])
        assert unanimous(by_persona) == (label or wanted["label"][statement])


def test_a_statement_under_both_heads_is_to_share_and_a_reworded_one_unlabeled() -> None:
    sample = LabelSample(share=frozenset({"a"}), private=frozenset({"a", "b reworded"}))
    assert count(["a", "b"], [sample, None]) == {"a": Counts(1, 0, 0), "b": Counts(0, 0, 1)}


def test_the_mixture_is_exact_and_a_persona_without_a_parsed_sample_is_unlabeled() -> None:
    """By hand: 26 x 1 + 64 x 2/3 of 100, 64 x 1/3 of 100, and the 10 of nobody heard."""
    counts = {
        "fundamentalist": Counts(10, 0, 0),
        "pragmatic": Counts(6, 3, 0),
        "unconcerned": Counts(0, 0, 0),
    }
    by_persona = {persona: counts[persona] for persona in PERSONAS}
    assert mix(by_persona, PRIORS["paper"]) == (
        Fraction(206, 300),
        Fraction(64, 300),
        Fraction(10, 100),
    )


def test_a_persona_without_a_parsed_sample_makes_it_ambiguous() -> None:
    all_share, none = Counts(10, 0, 0), Counts(0, 0, 0)
    agreed = dict.fromkeys(PERSONAS, all_share)
    assert unanimous(agreed) == "necessary"
    assert unanimous({**agreed, "unconcerned": none}) == "ambiguous"
    assert unanimous({**agreed, "unconcerned": Counts(9, 1, 0)}) == "ambiguous"
    assert unanimous(dict.fromkeys(PERSONAS, Counts(0, 10, 0))) == "inappropriate"
    assert unanimous(dict.fromkeys(PERSONAS, Counts(0, 0, 10))) == "ambiguous"


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ('{"share": ["a"], "private": ["b"]}', True),
        ('Sure: {"share": ["a"], "private": ["b"]} Done.', True),
        ('```json\n{"share": ["a"], "private": ["b"]}\n```', True),
        ('{"share": ["a"]', False),
        ('{"share": ["a"]}', False),
        ('{"share": "a", "private": []}', False),
        ("[]", False),
        ("I cannot help with that.", False),
        ("}{", False),
        ("", False),
    ],
)
def test_what_is_a_label_sample(text: str, parsed: bool) -> None:
    assert (parse_labels(text) is not None) is parsed


@pytest.mark.parametrize(
    ("text", "share", "private"),
    [
        ('{"share": ["a", "b", "a"], "private": ["c"]}', {"a", "b"}, {"c"}),
        ('({"share": ["a"], "private": []})', {"a"}, set()),
        ('{"share": ["a", 1, null, ["b"]], "private": [{"c": "d"}, "c"]}', {"a"}, {"c"}),
        ('{"note": {"share": 1}, "share": [], "private": ["a"]}', set(), {"a"}),
    ],
)
def test_the_texts_of_both_lists_are_kept(text: str, share: set[str], private: set[str]) -> None:
    assert parse_labels(text) == LabelSample(frozenset(share), frozenset(private))


def test_structured_output_holds_a_labeller_to_what_is_parsed() -> None:
    named = label_format("json_schema")
    assert named and (named["type"], named["json_schema"]["name"]) == ("json_schema", "labels")
    schema = named["json_schema"]["schema"]
    assert label_format("json_object") == {"type": "json_object", "schema": schema}
    texts = {"type": "array", "items": {"type": "string"}}
    assert schema["properties"] == {"share": texts, "private": texts}
    # The API's strict mode wants both of these.
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["share", "private"]
    assert label_format("none") is None
