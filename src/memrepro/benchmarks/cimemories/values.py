"""Values of attributes: drawn by kind, and written as they stand in a statement.

Numbers are drawn in steps and counted in integers, so that no float is summed on the way.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple

import numpy as np
from faker import Faker

from memrepro.digest import seed_of

Kind = Literal[
    "amount", "money", "count", "rating", "decimal", "years",
    "date", "time", "flag", "choice", "code", "person", "town",
]  # fmt: skip
Value = str | int | float | bool

# Nobody of these profiles began to work before this age.
WORKING_AGE = 16
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


class Scene(NamedTuple):
    """What a draw may rest on: its generator, the names there are, the person's age, the event."""

    draw: np.random.Generator
    names: Faker
    age: int
    start: date


class Drawn(NamedTuple):
    """A value, and how a statement writes it."""

    value: Value
    written: str


class Rule(NamedTuple):
    """How values of a kind are drawn: the form of what the template says, and the draw."""

    spec: re.Pattern[str]
    drawn: Callable[[str, Scene], Drawn]


def generator(seed: int, *identity: str | int) -> np.random.Generator:
    """The generator of one draw: of the seed and of what is drawn, and of no other draw."""
    return np.random.default_rng(seed_of(seed, *identity))


def written_date(day: date) -> str:
    """A date in words: `March 5, 2024`. Own month names: `strftime` follows the locale."""
    return f"{_MONTHS[day.month - 1]} {day.day}, {day.year}"


def _step(spec: str, draw: np.random.Generator) -> Decimal:
    """One of the numbers from low to high of `low:high[:step]`, the step being 1 by default."""
    low, high, *step = map(Decimal, spec.split(":"))
    width = step[0] if step else Decimal(1)
    return low + width * int(draw.integers(0, int((high - low) / width), endpoint=True))


def _amount(spec: str, scene: Scene) -> Drawn:
    value = int(_step(spec, scene.draw))
    return Drawn(value, f"${value:,}")


def _money(spec: str, scene: Scene) -> Drawn:
    value = _step(spec, scene.draw)
    return Drawn(float(value), f"${value:,.2f}".removesuffix(".00"))


def _count(spec: str, scene: Scene) -> Drawn:
    value = int(_step(spec, scene.draw))
    return Drawn(value, str(value))


def _decimal(spec: str, scene: Scene) -> Drawn:
    value = float(_step(spec, scene.draw))
    return Drawn(value, f"{value:g}")


def _years(spec: str, scene: Scene) -> Drawn:
    low, high = map(int, spec.split(":"))
    return _count(f"{low}:{max(low, min(high, scene.age - WORKING_AGE))}", scene)


def _date(spec: str, scene: Scene) -> Drawn:
    day = scene.start + timedelta(days=int(_step(spec, scene.draw)))
    return Drawn(day.isoformat(), written_date(day))


def _time(spec: str, scene: Scene) -> Drawn:
    """A quarter of an hour between two times of day; `06:30:21:30` is from 6:30 to 21:30."""
    hour, minute, last_hour, last_minute = map(int, spec.split(":"))
    first, last = 60 * hour + minute, 60 * last_hour + last_minute
    hour, minute = divmod(int(_step(f"{first}:{last}:15", scene.draw)), 60)
    text = f"{(hour + 11) % 12 + 1}:{minute:02} {'AM' if hour < 12 else 'PM'}"
    return Drawn(text, text)


def _flag(_: str, scene: Scene) -> Drawn:
    return Drawn(bool(scene.draw.integers(2)), "")


def _choice(spec: str, scene: Scene) -> Drawn:
    options = spec.split("|")
    text = options[int(scene.draw.integers(len(options)))]
    return Drawn(text, text)


def _code(spec: str, scene: Scene) -> Drawn:
    text = re.sub("#", lambda _: str(int(scene.draw.integers(10))), spec)
    return Drawn(text, text)


def _person(spec: str, scene: Scene) -> Drawn:
    scene.names.seed_instance(int(scene.draw.integers(1 << 62)))
    text = spec.replace("{name}", f"{scene.names.first_name()} {scene.names.last_name()}")
    return Drawn(text, text)


def _town(_: str, scene: Scene) -> Drawn:
    scene.names.seed_instance(int(scene.draw.integers(1 << 62)))
    text = scene.names.city()
    return Drawn(text, text)


_INTEGERS = re.compile(r"[1-9]\d*:[1-9]\d*(?::[1-9]\d*)?")
_DECIMALS = re.compile(r"\d+\.\d+:\d+\.\d+:\d+\.\d+")
_NOTHING = re.compile("")

KINDS: dict[Kind, Rule] = {
    "amount": Rule(_INTEGERS, _amount),
    "money": Rule(_DECIMALS, _money),
    "count": Rule(_INTEGERS, _count),
    "rating": Rule(re.compile(r"[1-9]\d*:[1-9]\d*"), _count),
    "decimal": Rule(_DECIMALS, _decimal),
    "years": Rule(re.compile(r"[1-4]:\d+"), _years),
    "date": Rule(re.compile(r"\d+:\d+"), _date),
    "time": Rule(re.compile(r"\d\d:\d\d:\d\d:\d\d"), _time),
    "flag": Rule(_NOTHING, _flag),
    "choice": Rule(re.compile(r"[^|{}]+(?:\|[^|{}]+)+"), _choice),
    "code": Rule(re.compile("[A-Z#-]*#[A-Z#-]*"), _code),
    "person": Rule(re.compile(r"[^{}]*\{name\}"), _person),
    "town": Rule(_NOTHING, _town),
}
