"""What a declaration is, and where stage outputs and recorded replies lie."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memrepro.params import Params


@dataclass(frozen=True)
class Declaration:
    """What one stage of one dataset reads and writes, as paths from the project root.

    `params` are keys of the dataset's params file. An output in `committed` is small and kept in
    Git instead of DVC's cache.
    """

    name: str
    system: str | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    params: tuple[str, ...]
    committed: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The stage as DVC names it, but for the file: `name` or `name@system`."""
        return f"{self.name}@{self.system}" if self.system else self.name


@dataclass(frozen=True)
class Stage:
    """A kind of stage: for which of the params' systems it runs, and how to declare it.

    `over` lists the systems; None stands for a stage that runs once.
    """

    over: Callable[[Params], Iterable[str]] | None
    declare: Callable[[Params, str | None], Declaration]


def runs_folder(params: Params, benchmark: str) -> str:
    """Where a benchmark's stage outputs of a dataset lie."""
    return f"data/runs/{params.dataset}/{benchmark}"


def shard_path(params: Params, benchmark: str, step: str, system: str) -> str:
    """Where the recorded replies of one step and system lie."""
    return f"data/ledger/{params.dataset}/{benchmark}/{step}/{system}.jsonl"
