"""Where a command's text goes: a file, written whole or not at all, or standard output."""

import sys
from pathlib import Path

from memrepro.files import write_text


def emit(text: str, output: Path | None) -> None:
    """Write text as UTF-8 bytes, whatever the terminal's encoding."""
    if output is not None:
        write_text(output, text)
        return
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()
