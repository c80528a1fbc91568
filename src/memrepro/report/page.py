"""The report: one HTML file that needs nothing else, neither beside it nor from a network."""

from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from memrepro.report import sections
from memrepro.report.figures import Figure, read_figures
from memrepro.report.items.cimemories import cimemories_items
from memrepro.report.items.inmind import inmind_items
from memrepro.report.items.retention import retention_items
from memrepro.report.markup import Markup, embedded, join, tag
from memrepro.report.overview import BENCHMARKS, overview
from memrepro.report.papers import papers_tables
from memrepro.stages.work import Work

_ITEMS: dict[str, Callable[[Work], dict[str, Any]]] = {
    "inmind": inmind_items,
    "cimemories": cimemories_items,
    "retention": retention_items,
}


def report(work: Work) -> str:
    """A run's report.

    Args:
        work: where its stage outputs lie; nothing is written.

    Raises:
        InputError: a stage output is missing or malformed, or the charts' libraries are.
    """
    figures = read_figures(work)
    ran = [name for name in BENCHMARKS if any(one.benchmark == name for one in figures.values())]
    data = {
        "dataset": work.params.dataset,
        "grids": sections.grids(work),
        "items": {name: _ITEMS[name](work) for name in ran},
    }
    return page(work.params.dataset, _body(work, figures, ran), data)


def _body(work: Work, figures: Mapping[str, Figure], ran: list[str]) -> Markup:
    of = {
        name: {path: one for path, one in figures.items() if one.benchmark == name} for name in ran
    }
    made = {
        "inmind": lambda: sections.inmind(work, of["inmind"]),
        "cimemories": lambda: sections.cimemories(work, of["cimemories"]),
        "retention": lambda: sections.retention(of["retention"]),
    }
    parts = {
        "run": ("What ran", overview(work, figures)),
        **{name: (BENCHMARKS[name], made[name]()) for name in ran},
        "papers": ("The papers' numbers", join((_PAPERS, papers_tables(figures)))),
        "items": ("Items", Markup('<div id="browser"></div>')),
    }
    links = (tag("li", tag("a", title, href=f"#{name}")) for name, (title, _) in parts.items())
    return join(
        (
            tag("nav", tag("ul", *links), aria_label="Sections"),
            tag("main", *(_section(name, *part) for name, part in parts.items())),
        )
    )


_PAPERS = tag(
    "p",
    "Percent, as the papers have them; [S]: read from a secondary transcription. Intervals are "
    "Wilson's for 125 tasks. Greyed: no figure of this run may stand beside it, because it did not "
    "run here or deviates from the paper's set-up.",
)


def _section(name: str, title: str, body: Markup) -> Markup:
    return tag("section", tag("h2", title, id=f"{name}-title"), body, id=name,
               aria_labelledby=f"{name}-title")  # fmt: skip


def page(dataset: str, body: Markup, data: Mapping[str, Any]) -> str:
    """The whole file from its parts, each put in its place in report.html once.

    Args:
        dataset: for the title.
        body: navigation and sections.
        data: what the script reads: `grids`, and `items` by benchmark.
    """
    parts = {
        "style": _part("report.css"),
        "title": f"memrepro: {dataset}",
        "body": body,
        "data": embedded(data, "data"),
        "script": _part("report.js"),
    }
    text = _part("report.html")
    for name in reversed(parts):  # texts of the body may hold a mark, so later marks go first
        before, _, after = text.rpartition(f"<!-- {name} -->")
        text = f"{before}{parts[name]}{after}"
    return text


def _part(name: str) -> str:
    return (resources.files("memrepro.report") / name).read_text(encoding="utf-8")
