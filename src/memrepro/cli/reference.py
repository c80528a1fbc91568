"""The command reference of the documentation, made from the commands themselves.

`python -m memrepro.cli.reference` writes it, with `--check` compares it.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import typer.main

from memrepro.cli.app import app
from memrepro.cli.project import find_root
from memrepro.errors import CheckFailed, MemreproError
from memrepro.files import write_text

PAGE = Path("docs/reference/commands.md")
_COMMAND = "python -m memrepro.cli.reference"
_HEAD = """# Commands

Made from the command line's own help by `python -m memrepro.cli.reference`; a test holds it to
that. `memrepro --debug COMMAND` shows the traceback of an error. What an exit code means:
[Troubleshooting](../troubleshooting.md#exit-codes).
"""


def commands() -> dict[str, Any]:
    """Every command by the words that call it, groups left out."""
    return dict(_walk(typer.main.get_command(app), "memrepro"))


def _walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name in sorted(inner):
        if not inner[name].hidden:
            yield from _walk(inner[name], f"{path} {name}")


def page() -> str:
    """The reference as Markdown."""
    return "\n".join([_HEAD, *(_section(path, one) for path, one in commands().items())])


def _section(path: str, command: Any) -> str:
    arguments = [one for one in command.params if _is_argument(one)]
    options = [one for one in command.params if not _is_argument(one)]
    usage = " ".join([path, *(["[OPTIONS]"] if options else []), *map(_placeholder, arguments)])
    text = " ".join((command.help or "").split("\f")[0].split())
    rows = [*map(_row, arguments), *map(_row, options)]
    table = ["| argument or option | takes | default | is |", "|---|---|---|---|", *rows]
    return "\n".join([f"## `{path}`", "", text, "", f"`{usage}`", "", *(table if rows else []), ""])


def _is_argument(parameter: Any) -> bool:
    return not parameter.opts[0].startswith("-")


def _placeholder(argument: Any) -> str:
    name = (getattr(argument, "metavar", None) or argument.name.upper()).strip("[]")
    many = "..." if argument.nargs != 1 else ""
    return f"{name}{many}" if argument.required else f"[{name}]{many}"


def _row(parameter: Any) -> str:
    names = (
        [_placeholder(parameter)]
        if _is_argument(parameter)
        else [*parameter.opts, *parameter.secondary_opts]
    )
    flag = getattr(parameter, "is_flag", False)
    takes = "" if flag else _type(parameter)
    cells = (
        ", ".join(f"`{name}`" for name in names),
        takes,
        "required" if parameter.required else _default(parameter, flag),
        (parameter.help or "").replace("|", "\\|"),
    )
    return "| " + " | ".join(cells) + " |"


def _type(parameter: Any) -> str:
    annotation = parameter.type_descriptor.annotation
    while get_origin(annotation) is not None:
        annotation = next(one for one in get_args(annotation) if one is not type(None))
    words = {"str": "text", "Path": "path", "int": "integer", "float": "number"}
    name = getattr(annotation, "__name__", str(annotation))
    many = " (may be repeated)" if getattr(parameter, "multiple", False) else ""
    return f"{words.get(name, name)}{many}"


def _default(parameter: Any, flag: bool) -> str:
    value = parameter.default
    if flag or value is None or callable(value) or value in ([], ()):
        return ""
    return f"`{value}`"


def check(root: Path) -> None:
    """Hold the committed page to the commands.

    Raises:
        CheckFailed: it is another.
    """
    file = root / PAGE
    if not file.is_file() or file.read_text(encoding="utf-8") != page():
        raise CheckFailed(
            "the command reference differs from the commands", where=str(PAGE), hint=_COMMAND
        )


def main() -> None:
    """Write the page, or compare it."""
    try:
        root = find_root()
        if sys.argv[1:] == ["--check"]:
            check(root)
        else:
            write_text(root / PAGE, page())
    except MemreproError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
