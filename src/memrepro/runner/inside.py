"""What runs in the container: one stage, until it is done or standard input ends."""

import argparse
import os
import signal
import sys
from pathlib import Path

from memrepro.errors import MemreproError

PROJECT, OUT = Path("/project"), Path("/out")


def main() -> None:
    """Run one stage from `/project` to `/out` and leave a report there."""
    parser = argparse.ArgumentParser()
    parser.add_argument("stage")
    parser.add_argument("--dataset", choices=("sample", "full"), required=True)
    parser.add_argument("--system")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--progress", action="store_true")
    asked = parser.parse_args()
    end_with_stdin()
    os.umask(0)  # the user outside has another id and must be able to read and remove everything
    sys.exit(_run(asked))


def end_with_stdin() -> None:
    """Kill this process when its standard input ends: then whoever started it is gone.

    A process of its own watches, because a library's long call can keep every thread of this one
    from running. The container goes with this process, and the watcher with the container.
    """
    stage = os.getpid()
    if os.fork():
        return
    while os.read(0, 65536):
        pass
    os.kill(stage, signal.SIGKILL)
    os._exit(0)


def _run(asked: argparse.Namespace) -> int:
    from memrepro.params import load_params
    from memrepro.runner.bodies import run_body
    from memrepro.runner.report import REPORT, write_report
    from memrepro.stages.declarations import declare

    try:
        declaration = declare(load_params(PROJECT, asked.dataset), asked.stage, asked.system)
        facts = run_body(PROJECT, OUT, asked.dataset, declaration, asked.workers, asked.progress)
        python = ".".join(map(str, sys.version_info[:3]))
        write_report(OUT / REPORT, {"python": python, **facts})
    except MemreproError as error:
        write_report(OUT / REPORT, error)
        return error.exit_code
    finally:
        _open_up()
    return 0


def _open_up() -> None:
    """Let everybody read and remove what was written, also what a library keeps to itself."""
    for place, _, files in os.walk(OUT):
        if Path(place) != OUT:
            Path(place).chmod(0o777)
        for name in files:
            if not (Path(place) / name).is_symlink():
                (Path(place) / name).chmod(0o644)


if __name__ == "__main__":
    main()
