"""What a stage in a container tells the runner outside: facts, or the error that it raised."""

from pathlib import Path
from typing import Any

from memrepro import errors
from memrepro.errors import MemreproError
from memrepro.files import read_json, write_json

REPORT = "report.json"
_FIELDS = ("where", "expected", "found", "hint")


def write_report(path: Path, outcome: dict[str, Any] | MemreproError) -> None:
    """Write facts or an error."""
    if isinstance(outcome, MemreproError):
        fields = {name: getattr(outcome, name) for name in _FIELDS}
        texts = {name: None if value is None else str(value) for name, value in fields.items()}
        value = {"error": {"type": type(outcome).__name__, "what": outcome.what, **texts}}
    else:
        value = {"facts": outcome}
    write_json(path, value)


def read_report(path: Path) -> dict[str, Any] | MemreproError | None:
    """The facts, the error to raise, or None where the stage wrote no report."""
    if path.is_symlink() or not path.is_file():
        return None
    value = read_json(path)
    if "facts" in value:
        return dict(value["facts"])
    said = value["error"]
    kind: type[MemreproError] = getattr(errors, said["type"], MemreproError)
    return kind(said["what"], **{name: said[name] for name in _FIELDS})
