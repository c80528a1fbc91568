"""Strict access to the fields of outside JSON: a wrong type names its place."""

from typing import Any, TypeVar

from memrepro.errors import InputError

T = TypeVar("T")

_NAMES: dict[type, str] = {
    bool: "a boolean",
    dict: "an object",
    float: "a number",
    int: "an integer",
    list: "a list",
    str: "a string",
}


def typed(value: Any, kind: type[T], where: str) -> T:
    """The value, if it is of exactly this type: a boolean is no integer.

    Raises:
        InputError: it is of another type; names `where`.
    """
    if type(value) is not kind:
        raise InputError("wrong type", where=where, expected=_NAMES[kind], found=shown(value))
    return value


def member(value: dict[str, Any], field: str, kind: type[T], where: str) -> T:
    """A required field of an object.

    Raises:
        InputError: it is missing or of another type; names `where` and the field.
    """
    if field not in value:
        raise InputError("the field is missing", where=f"{where}{field}", expected=_NAMES[kind])
    return typed(value[field], kind, f"{where}{field}")


def shown(value: Any) -> str:
    """A value as it stands in an error: its beginning."""
    return repr(value)[:80]
