"""The typer app, put together from the command groups."""

from typing import Any

import typer
from typer.core import TyperGroup

from memrepro import __version__
from memrepro.cli import (
    check,
    cimemories,
    diff,
    doctor,
    image,
    inmind,
    ledger,
    pipeline,
    query,
    report,
    retention,
    sources,
)
from memrepro.cli.interrupt import interruptible


class _Commands(TyperGroup):
    """Every command; typer would end an interrupted one with exit 130 and without a word."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the arguments name."""
        with interruptible():
            return super().invoke(ctx)


app = typer.Typer(
    name="memrepro",
    cls=_Commands,
    help="Reproduce, audit and compare agent-memory benchmarks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"memrepro {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
) -> None:
    """Reproduce, audit and compare agent-memory benchmarks."""


sources.register(app)
pipeline.register(app)
ledger.register(app)
diff.register(app)
query.register(app)
report.register(app)
doctor.register(app)
app.add_typer(check.app, name="check", hidden=True)
app.add_typer(image.app, name="image")
app.add_typer(inmind.app, name="inmind")
app.add_typer(cimemories.app, name="cimemories")
app.add_typer(retention.app, name="retention")
