"""The command line: one file a command group; prints and exits.

typer is loaded only for commands that need it, so that `memrepro verify`, which hooks and checks
run often, costs little more than its hashing.
"""

import sys

from memrepro.cli import sources
from memrepro.cli.interrupt import interruptible
from memrepro.errors import MemreproError


def _run(arguments: list[str]) -> None:
    if sources.quick_verify(arguments):
        return
    from memrepro.cli.app import app

    app()


def main() -> None:
    """Run the command line; an error prints what is wrong and a hint, and sets the exit code."""
    try:
        with interruptible():
            _run(sys.argv[1:])
    except MemreproError as error:
        if "--debug" in sys.argv:
            raise
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
