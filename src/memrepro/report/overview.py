"""What ran, on what, and how far it may be compared: the report's first part."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memrepro.files import iter_json_lines, read_json
from memrepro.params import Params
from memrepro.report.figures import Figure
from memrepro.report.markup import Markup, details, join, table, tag
from memrepro.sources.pins import load_pins
from memrepro.stages.work import Work

BENCHMARKS = {"inmind": "InMind", "cimemories": "CIMemories", "retention": "Retention policy"}
_DIGITS = 12


def overview(work: Work, figures: Mapping[str, Figure]) -> Markup:
    """The section: versions and settings, data pins, and comparability of every metric."""
    return join(
        (
            tag("dl", *(join(pair) for pair in _facts(work, figures)), class_="facts"),
            *_pins(work),
            tag("h3", "Comparable with the papers?"),
            tag(
                "p",
                "Every metric has a signature of all that can move it: data, system and settings, "
                "models, prompts, reading and version. It is comparable only where nothing in it "
                "differs from the paper's set-up.",
            ),
            *(part for name in BENCHMARKS for part in _comparability(name, figures)),
        )
    )


def _facts(work: Work, figures: Mapping[str, Figure]) -> Iterator[tuple[Markup, Markup]]:
    params = work.params
    versions = sorted({figure.signature.version for figure in figures.values()})
    facts = {
        "data set": params.dataset,
        "memrepro": ", ".join(versions),
        "params": params.params_file,
        **{f"{title} settings": _settings(params, name) for name, title in BENCHMARKS.items()
           if any(figure.benchmark == name for figure in figures.values())},
        "ran with": "; ".join(_provenance(work)) or "not recorded here",
        "intervals": f"{1 - params.diff.alpha:.0%}; bootstrap of {params.diff.resamples} "
        f"resamples, seed {params.diff.seed}",
    }  # fmt: skip
    for name, value in facts.items():
        yield tag("dt", name), tag("dd", value)


def _settings(params: Params, benchmark: str) -> str:
    of = getattr(params, benchmark)
    if benchmark == "retention":
        return f"k {of.k}, modes {', '.join(of.modes)}; guard {of.guard.model}"
    models = f"k {of.k}; where a model answers {of.answer.model}, judges {of.judge.model}"
    return f"{models}; labels {of.labels}" if benchmark == "cimemories" else models


def _provenance(work: Work) -> list[str]:
    """Runner, Python and platform of the stages, each combination once."""
    folder = work.root / "data/provenance" / work.params.dataset
    ran = [read_json(path) for path in sorted(folder.glob("*.json"))]
    keys = ("runner", "python", "platform")
    return sorted(
        {
            f"{row.get('runner')}: Python {row.get('python')}, {row.get('platform')}"
            for row in ran
            if isinstance(row, dict) and all(key in row for key in keys)
        }
    )


def _pins(work: Work) -> Iterator[Markup]:
    """The data files that the run was held to, each with its digest."""
    pins = {pin.file: pin for pin in load_pins(work.root)}
    rows = []
    for benchmark in BENCHMARKS:
        path = work.read(benchmark, "verified.jsonl")
        verified: Sequence[Any] = (
            [row for _, row in iter_json_lines(path)] if path.is_file() else []
        )
        for row in verified:
            pin = pins.get(row["file"])
            told = (pin.licence, pin.citation) if pin else ("with the project", "own-written")
            rows.append((row["file"], tag("code", row["sha256"]), *told))
    if rows:
        yield details(
            f"{len(rows)} data files held to their pins",
            table("Pinned data", ("file", "SHA-256", "licence", "citation"), rows),
        )


def _comparability(benchmark: str, figures: Mapping[str, Figure]) -> Iterator[Markup]:
    """Metrics of a benchmark by what they deviate in."""
    groups: dict[tuple[str, ...], list[Figure]] = {}
    for figure in figures.values():
        if figure.benchmark == benchmark:
            groups.setdefault(figure.signature.deviations, []).append(figure)
    if not groups:
        return
    of = [figure for group in groups.values() for figure in group]
    good = sum(figure.signature.comparable for figure in of)
    yield details(
        f"{BENCHMARKS[benchmark]}: {good} of {len(of)} metrics comparable",
        *(part for found, group in groups.items() for part in _group(found, group)),
    )


def _group(deviations: Sequence[str], group: Sequence[Figure]) -> Iterator[Markup]:
    count = f"{len(group)} metric{'s' if len(group) > 1 else ''}"
    if deviations:
        yield tag("p", f"{count} with these deviations:")
        yield tag("ul", *(tag("li", one) for one in deviations))
    else:
        yield tag("p", f"{count} comparable with the paper:")
    rows = ((one.path, tag("code", one.signature.digest[:_DIGITS])) for one in group)
    yield details("which", table("Signatures", ("metric", "digest begins"), rows))
