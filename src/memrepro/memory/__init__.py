"""What a memory system is made of, and the registry of those there are, loaded on demand.

A system derives from `Retriever` (ranks the turns of its history), from `TranscriptSystem` (the
history is its whole state) or from `MemorySystem` (the contract, for a state of its own). Built-in
ones have a name here and one file beside it; other packages register theirs through the entry-point
group `memrepro.memory`, and `conformance` holds both to the contract.
"""

import importlib
import inspect
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from memrepro.errors import InputError
from memrepro.memory.base import MemorySystem, Oracle, Resources, Tagged, render
from memrepro.memory.history import Retriever, TranscriptSystem
from memrepro.records import Recalled, Session, Turn

__all__ = [
    "MemorySystem",
    "Oracle",
    "Recalled",
    "Resources",
    "Retriever",
    "Session",
    "Tagged",
    "TranscriptSystem",
    "Turn",
    "base_name",
    "create",
    "load",
    "names",
    "render",
]

GROUP = "memrepro.memory"
CONTROL_SUFFIX = "_control"

SYSTEMS: dict[str, str] = {
    "none": "memrepro.memory.none:NoMemory",
    "in_context": "memrepro.memory.in_context:InContext",
    "full_context": "memrepro.memory.full_context:FullContext",
    "recent": "memrepro.memory.recent:Recent",
    "bm25": "memrepro.memory.bm25:BM25",
    "dense_int8": "memrepro.memory.dense:Dense",
    "dense_fp32": "memrepro.memory.dense:Dense",
    "hybrid": "memrepro.memory.hybrid:Hybrid",
    "guarded": "memrepro.memory.domain_guard:DomainGuard",
    "statements": "memrepro.memory.statements:Statements",
    "exact": "memrepro.memory.exact:Exact",
    "sqlite_fts": "memrepro.memory.sqlite_fts:SqliteFts",
    "mem0": "memrepro.memory.mem0:Mem0",
}
# Settings that a name stands for; the params may still say otherwise.
DEFAULTS: dict[str, dict[str, object]] = {
    "dense_int8": {"embedder": "minilm_int8"},
    "dense_fp32": {"embedder": "minilm_fp32"},
}
# The extra of this package that a system needs, where it needs one.
EXTRAS: dict[str, str] = {
    "dense_int8": "dense",
    "dense_fp32": "dense",
    "hybrid": "dense",
    "mem0": "mem0",
}


def names() -> list[str]:
    """Names of all systems, sorted: the built-in ones and those of installed packages."""
    return sorted(_targets())


def base_name(name: str) -> str:
    """The system that a name runs: `<name>_control` runs `<name>`."""
    return name.removesuffix(CONTROL_SUFFIX)


def load(name: str) -> type[MemorySystem]:
    """The class behind a system's name (without control suffix).

    Raises:
        InputError: no such system, a library it needs is missing, or the entry point is wrong.
    """
    targets = _targets()
    if name not in targets:
        raise InputError(
            f"unknown memory system {name!r}",
            expected=", ".join(sorted(targets)),
            hint="correct the name in the params file, or install the package that has it",
        )
    module, _, attribute = targets[name].partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        raise _missing(name, module, error) from error
    if not (isinstance(found, type) and issubclass(found, MemorySystem)):
        raise InputError(
            f"the memory system {name!r} is no MemorySystem",
            where=f"entry point {targets[name]} in group {GROUP}",
            expected="a subclass of memrepro.memory.base.MemorySystem",
            found=repr(found),
        )
    return found


def create(name: str, settings: Mapping[str, object], resources: Resources) -> MemorySystem:
    """A system in its empty state.

    Args:
        name: a name of `names()`.
        settings: the system's block in the params; only what its constructor names.
        resources: what it may use.

    Raises:
        InputError: as `load`; or a setting is unknown, missing, or of a wrong type or range, and
            the params key is named; or a resource that the system needs is not set up.
    """
    system = load(name)
    known = {
        key: parameter
        for key, parameter in inspect.signature(system).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    hints = get_type_hints(system.__init__, include_extras=True)
    given = {**DEFAULTS.get(name, {}), **settings}
    for key in given:
        if key not in known:
            raise _wrong(name, key, "unknown setting", ", ".join(known) or "no settings at all")
    for key, parameter in known.items():
        if key in given:
            _check(name, key, given[key], hints.get(key, Any))
        elif parameter.default is inspect.Parameter.empty:
            raise _wrong(name, key, "missing setting", "a value")
    return system(resources, **given)


def _targets() -> dict[str, str]:
    """Names to `module:attribute`. A built-in name cannot be taken over."""
    others = {entry.name: entry.value for entry in entry_points(group=GROUP)}
    return {**others, **SYSTEMS}


def _missing(name: str, module: str, error: ModuleNotFoundError) -> InputError:
    extra = f"[{EXTRAS[name]}]" if name in EXTRAS else ""
    package = f"memrepro{extra}" if name in SYSTEMS else module.partition(".")[0]
    return InputError(
        f"the memory system {name!r} needs {error.name}, which is not installed",
        hint=f'pip install "{package}"',
    )


def _check(name: str, key: str, value: object, hint: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(
        hint, config=ConfigDict(strict=True, arbitrary_types_allowed=True)
    )
    try:
        adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _wrong(name, key, "wrong setting", str(first["msg"]), found=repr(value)) from None


def _wrong(
    name: str, key: str, what: str, expected: str, *, found: str | None = None
) -> InputError:
    return InputError(
        f"{what} {key!r} of the memory system {name!r}",
        where=f"params, key systems.<benchmark>.{name}.settings.{key}",
        expected=expected,
        found=found,
    )
