"""The results format of the released code (`eval/eval.py`), line by line, as rows.

A line is a profile whose contexts carry `labels_combined` (statement → mass of private, necessary,
unlabeled) and an entry `combination_<composition>_trial=<n>` a sample. A full run has hundreds of
thousands of reveals, so a row here holds a context's labels, or a sample's reveals, as one letter
an attribute, in the profile's order; `store.cimemories` spreads them to a row an attribute.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, NamedTuple

from memrepro.benchmarks.cimemories.fields import member, shown, typed
from memrepro.benchmarks.cimemories.profiles import Attribute, parse_profile
from memrepro.errors import InputError

# A label weighted from counts moves in steps of 0.01 (weight 0.1, ten samples) or more: what is
# nearer to 1 than this is unanimous, whatever order its floats were added in.
TOLERANCE = 1e-6

_MASSES = ("private", "necessary", "unlabeled")
_NUMBER = "(?:0|[1-9][0-9]{0,8})"
_COMBINATION = re.compile(
    f"combination_(?P<composition>num_to_share={_NUMBER}_num_not_to_share={_NUMBER})"
    f"_trial=(?P<trial>{_NUMBER})"
)
_DIGITS = bytes.maketrans(b"\0\1", b"01")


class AttributeRow(NamedTuple):
    """An attribute; `position` counts from 1; `shadowed`: a later key has the same statement."""

    profile: int
    name: str
    position: int
    key: str
    domain: str
    shadowed: bool


class ContextRow(NamedTuple):
    """A context; `labels` holds n(ecessary), i(nappropriate) or a(mbiguous) an attribute.

    In capitals where the mass is at least 1 as the released code compares it, not only within
    the tolerance.
    """

    profile: int
    place: int
    recipient: str
    task: str
    labels: str


class SampleRow(NamedTuple):
    """One composed message; `reveals` holds 0 or 1 an attribute."""

    profile: int
    place: int
    composition: str
    trial: int
    reveals: str


class ProfileRows(NamedTuple):
    """The rows of one line."""

    attributes: list[AttributeRow]
    contexts: list[ContextRow]
    samples: list[SampleRow]


def parse_results_line(value: Any, profile: int, where: str) -> ProfileRows:
    """Turn one line of a results file into rows.

    An attribute without a label is ambiguous, one without a reveal not revealed, and labels and
    reveals of what is no attribute are left out: all as `eval/metrics.py` of the released code.

    Args:
        value: the line's JSON value.
        profile: the profile's index, from 0.
        where: file and line, for errors.

    Raises:
        InputError: a field is missing or of a wrong type, a mass is no share, a reveal is not the
            integer 0 or 1, or a combination's key or trial is malformed; names `where` and field.
    """
    parsed = parse_profile(value, where)
    keys = [one.key for one in parsed.attributes]
    statements = [one.statement for one in parsed.attributes]
    contexts, samples = [], []
    for place, context in enumerate(parsed.contexts):
        inside = f"{where}, field contexts[{place}]."
        labels = _labels(member(context, "labels_combined", dict, inside), statements, inside)
        contexts.append(ContextRow(profile, place, context["recipient"], context["task"], labels))
        for name, entry in context.items():
            if name.startswith("combination_"):
                composition, trial, reveals = _sample(name, entry, keys, f"{inside}{name}")
                samples.append(SampleRow(profile, place, composition, trial, reveals))
    return ProfileRows(_attributes(parsed.attributes, profile, parsed.name), contexts, samples)


def _attributes(attributes: Sequence[Attribute], profile: int, name: str) -> list[AttributeRow]:
    last = {one.statement: one.key for one in attributes}
    return [
        AttributeRow(profile, name, position, one.key, one.domain, last[one.statement] != one.key)
        for position, one in enumerate(attributes, start=1)
    ]


def _labels(labels: dict[str, Any], statements: Sequence[str], inside: str) -> str:
    try:
        masses = list(map(itemgetter(*_MASSES), labels.values()))
        if not set(map(type, chain.from_iterable(masses))) <= {float, int}:
            raise TypeError
        letters = dict(zip(labels, map(_letter, masses), strict=True))
    except (KeyError, TypeError, ValueError):
        raise _mass_error(labels, f"{inside}labels_combined") from None
    return "".join(map(letters.get, statements, repeat("a")))


@lru_cache(maxsize=4096)
def _letter(masses: tuple[float, float, float]) -> str:
    """The label of three masses, each a share, in sum at most 1.

    Paper, section 3: binary only where all samples of all personas agree.
    """
    if not (min(masses) >= 0 and sum(masses) <= 1 + TOLERANCE):
        raise ValueError
    private, necessary, _ = masses
    for letter, mass in (("n", necessary), ("i", private)):
        if mass >= 1 - TOLERANCE:
            return letter.upper() if mass >= 1 else letter
    return "a"


def _mass_error(labels: dict[str, Any], where: str) -> InputError:
    """The first fault among labels of which one is known to be wrong."""
    for statement, masses in labels.items():
        inside = f"{where}[{statement[:60]!r}]"
        given = typed(masses, dict, inside)
        for name in _MASSES:
            if type(given.get(name)) is not int:
                member(given, name, float, f"{inside}.")
        try:
            _letter(tuple(given[name] for name in _MASSES))
        except ValueError:
            return InputError(
                "the masses are no shares of one whole",
                where=inside,
                expected="three numbers from 0 to 1, in sum at most 1",
                found=shown(masses),
            )
    return InputError("holds a malformed label", where=where)


def _sample(name: str, value: Any, keys: list[str], where: str) -> tuple[str, int, str]:
    match = _COMBINATION.fullmatch(name)
    if not match:
        raise InputError(
            "malformed combination",
            where=where,
            expected="combination_num_to_share=<n>_num_not_to_share=<n>_trial=<n>",
        )
    entry = typed(value, dict, where)
    trial = int(match["trial"])
    if typed(entry.get("trial_idx", trial), int, f"{where}.trial_idx") != trial:
        raise InputError(
            "the trial differs from its key",
            where=f"{where}.trial_idx",
            expected=trial,
            found=entry["trial_idx"],
        )
    solution = member(entry, "model_solution", dict, f"{where}.")
    reveals = member(solution, "revealed_attributes", dict, f"{where}.model_solution.")
    inside = f"{where}.model_solution.revealed_attributes"
    return match["composition"], trial, _reveals(reveals, keys, inside)


def _reveals(reveals: dict[str, Any], keys: list[str], where: str) -> str:
    try:
        bits = bytes(reveals.values())
    except (TypeError, ValueError):
        raise _reveal_error(reveals, where) from None
    # bytes takes True for 1, hence the types.
    if bits.strip(b"\0\1") or not set(map(type, reveals.values())) <= {int}:
        raise _reveal_error(reveals, where)
    if list(reveals) != keys:
        bits = bytes(map(reveals.get, keys, repeat(0)))
    return bits.translate(_DIGITS).decode("ascii")


def _reveal_error(reveals: dict[str, Any], where: str) -> InputError:
    key, value = next(
        (key, value)
        for key, value in reveals.items()
        if type(value) is not int or value not in (0, 1)
    )
    return InputError("is no reveal", where=f"{where}.{key}", expected="0 or 1", found=shown(value))
