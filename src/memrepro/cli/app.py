"""The typer app, put together from the command groups."""

import typer

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

app = typer.Typer(
    name="memrepro",
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
