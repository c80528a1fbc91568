"""`memrepro image build | show`: the image that stages run in."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrepro.cli.project import find_root

if TYPE_CHECKING:
    from memrepro.runner.image import Image

app = typer.Typer(help="The image that stages run in.", no_args_is_help=True)


@app.command()
def build(
    base: Annotated[
        str | None, typer.Option(help="Base image [default: python:3.11-slim-bookworm].")
    ] = None,
    extras: Annotated[
        str, typer.Option(help="Extras to install, with blanks between; '' for none.")
    ] = "dense",
    network: Annotated[
        str | None, typer.Option(help="The engine's network for the build, e.g. host.")
    ] = None,
    ca: Annotated[
        Path | None, typer.Option(help="PEM file of certificate authorities for downloads.")
    ] = None,
) -> None:
    """Build the image of this checkout."""
    from memrepro.runner.image import DEFAULT_BASE, build_image

    image = build_image(
        find_root(), base=base or DEFAULT_BASE, extras=extras.split(), network=network, ca=ca
    )
    _print(image)


@app.command()
def show() -> None:
    """Show the image of this checkout, or say why there is none."""
    from memrepro.runner.image import current_image

    _print(current_image(find_root()))


def _print(image: "Image") -> None:
    for name, value in {**image.facts, "size": f"{image.size / 1e6:.0f} MB"}.items():
        typer.echo(f"{name:12} {value}")
