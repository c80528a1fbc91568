"""`memrepro fetch` and `memrepro verify`.

`verify` is called often, so this module imports neither typer nor anything else that is slow
before it is known to be needed; `quick_verify` runs the command without typer.
"""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

from memrepro.errors import CheckFailed, InputError
from memrepro.sources.check import Report
from memrepro.stages.checks import cimemories_checks, inmind_checks

if TYPE_CHECKING:
    import typer

    from memrepro.sources.fetch import Fetched

MIRROR = "MEMREPRO_MIRROR"
_DATASETS = ("full", "sample")


def register(app: "typer.Typer") -> None:
    """Add the commands `fetch` and `verify`."""
    import typer

    @app.command("fetch")
    def fetch_command(
        dataset: str = typer.Option("full", help="Which sources: full."),
        mirror: str | None = typer.Option(
            None, help=f"Folder or URL asked before the origins [default: ${MIRROR}]."
        ),
        group: Annotated[
            list[str] | None,
            typer.Option(help="Only this group of sources, e.g. minilm_fp32; may be repeated."),
        ] = None,
    ) -> None:
        """Fetch the pinned files into data/raw/, each held to its size and SHA-256."""
        run_fetch(dataset, mirror, group or [])

    @app.command("verify")
    def verify_command(
        dataset: str | None = typer.Option(
            None, help="full demands every fetched file; sample the committed ones."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print every check as JSON."),
        update: bool = typer.Option(
            False, "--update", help="First write data/SHA256SUMS anew from the committed files."
        ),
        inputs_only: bool = typer.Option(
            False, "--inputs-only", help="Leave out what the pipeline generated."
        ),
    ) -> None:
        """Check every fetched, committed and generated file, and the protocol of the data."""
        run_verify(dataset, as_json=as_json, update=update, inputs_only=inputs_only)


def run_fetch(dataset: str, mirror: str | None, groups: Sequence[str]) -> None:
    """Fetch, say what came from where, and show each group's licences and citations once.

    Raises:
        MemreproError: see `sources.fetch.fetch`.
    """
    from memrepro.cli.project import find_root
    from memrepro.sources.fetch import fetch

    mirror = mirror or os.environ.get(MIRROR) or None
    results = fetch(find_root(), dataset, mirror, groups or None, sys.stderr.isatty())
    for result in results:
        for reason in result.refused:
            print(f"{result.source.name}: refused {reason}", file=sys.stderr)
        if result.origin:
            print(f"{result.source.file}  from {result.origin}")
    new = [result for result in results if result.origin]
    print(f"fetched {len(new)} files, {len(results) - len(new)} were there")
    for notice in _notices(new):
        print(notice)


def _notices(results: "Iterable[Fetched]") -> list[str]:
    """One line for each distinct group, licence and citation, in order of first appearance."""
    lines = (
        f"{r.source.group}: licence {r.source.licence}; cite {r.source.citation}" for r in results
    )
    return list(dict.fromkeys(lines))


def quick_verify(arguments: Sequence[str]) -> bool:
    """Run `verify` if the arguments are its plain form, and say whether it was run.

    Anything else, `--help` and wrong options among it, is left to typer.

    Raises:
        MemreproError: see `run_verify`.
    """
    if not arguments or arguments[0] != "verify":
        return False
    rest = list(arguments[1:])
    dataset = None
    if "--dataset" in rest and rest.index("--dataset") + 1 < len(rest):
        place = rest.index("--dataset")
        dataset = rest[place + 1]
        del rest[place : place + 2]
    if set(rest) - {"--json", "--inputs-only"}:
        return False
    run_verify(dataset, as_json="--json" in rest, inputs_only="--inputs-only" in rest)
    return True


def run_verify(
    dataset: str | None, *, as_json: bool = False, update: bool = False, inputs_only: bool = False
) -> None:
    """Verify and print; one line a failing file.

    Raises:
        CheckFailed: a check failed.
        InputError: an unknown data set.
    """
    from memrepro.cli.project import find_root
    from memrepro.sources.sums import SUMS, update_sums
    from memrepro.sources.verify import verify

    if dataset not in (None, *_DATASETS):
        raise InputError("no such data set", expected=" or ".join(_DATASETS), found=dataset)
    root = find_root()
    if update:
        print(f"{SUMS}: {update_sums(root)} files", file=sys.stderr)
    report = verify(
        root, dataset, protocols=[inmind_checks, cimemories_checks], generated=not inputs_only
    )
    print(_as_json(report) if as_json else _as_text(report))
    if not report.ok:
        files = ", ".join(dict.fromkeys(check.file for check in report.failed))
        raise CheckFailed(f"{len(report.failed)} of {len(report.checks)} checks failed: {files}")


def _as_json(report: Report) -> str:
    value = {"ok": report.ok, "checks": [check._asdict() for check in report.checks]}
    return json.dumps(value, ensure_ascii=True, indent=2)


def _as_text(report: Report) -> str:
    lines = []
    for check in report.failed:
        parts = [f"FAILED {check.file} ({check.name})"]
        if check.expected is not None:
            parts.append(f"expected {check.expected}, found {check.found or 'nothing'}")
        lines.append(": ".join([*parts, *([check.cause] if check.cause else [])]))
    passed = len(report.checks) - len(report.failed)
    files = len({check.file for check in report.checks})
    return "\n".join([*lines, f"{passed} of {len(report.checks)} checks passed, {files} files"])
