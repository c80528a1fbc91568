"""What Ctrl-C comes to: an error like any other, before typer makes a silent exit of it."""

from collections.abc import Iterator
from contextlib import contextmanager

from memrepro.errors import Stopped


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn the user's interruption into `Stopped`.

    Raises:
        Stopped: the user interrupted what runs within.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped("stopped by the user", hint="run the same command again to go on") from None
