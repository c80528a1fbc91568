"""What a stage is given: where it reads and writes, for which params."""

from dataclasses import dataclass
from pathlib import Path

from memrepro.params import Params
from memrepro.stages.declarations.base import runs_folder


@dataclass(frozen=True)
class Work:
    """Where a stage reads and writes, for which params, and with how many worker processes.

    `root` and `out` are roots of the same layout: a stage reads its declared inputs below `root`
    and writes its declared outputs below `out`, and the runner moves them into place. `progress`
    asks for a bar on stderr: wanted on a terminal, which the container cannot see.
    """

    root: Path
    out: Path
    params: Params
    workers: int = 1
    progress: bool = False

    def read(self, benchmark: str, name: str) -> Path:
        """A stage output of a benchmark, to read from."""
        return self.root / runs_folder(self.params, benchmark) / name

    def write(self, benchmark: str, name: str) -> Path:
        """A stage output of a benchmark, to write to."""
        return self.out / runs_folder(self.params, benchmark) / name
