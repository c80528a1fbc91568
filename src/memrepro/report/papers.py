"""The papers' own numbers beside ours: greyed where nothing of ours may stand beside them."""

from collections.abc import Mapping
from importlib import resources
from typing import Any, NamedTuple

from memrepro.files import parse_json
from memrepro.report.figures import Figure
from memrepro.report.markup import Markup, join, table, tag
from memrepro.report.systems import shown
from memrepro.stats import wilson

_INMIND = ("naive_recall", "target_recall", "application")
_CIMEMORIES = ("violation", "completeness")


class Beside(NamedTuple):
    """A figure of ours beside one of a paper's; `deviation` is what its signature cannot know."""

    figure: Figure
    verbatim: bool = False
    deviation: str | None = None

    @property
    def deviations(self) -> list[str]:
        """What differs from the paper's set-up."""
        return [*filter(None, (self.deviation,)), *self.figure.signature.deviations]

    @property
    def comparable(self) -> bool:
        """Whether nothing differs from the paper's set-up."""
        return self.figure.signature.comparable and not self.deviation


def read_papers() -> dict[str, Any]:
    """The papers' figures in percent.

    `here` names the systems of ours that are the same, each with what it deviates in beside its
    settings; `models` the identities under which a model answers here.
    Marked [S]: read from a secondary transcription.
    """
    file = resources.files("memrepro.report") / "papers.json"
    value: dict[str, Any] = parse_json(file.read_text(encoding="utf-8"), where="papers.json")
    return value


def papers_tables(figures: Mapping[str, Figure]) -> Markup:
    """Both papers' tables with what ran here beside."""
    papers = read_papers()
    return join((_inmind(papers["inmind"], figures), _cimemories(papers["cimemories"], figures)))


def _inmind(paper: Mapping[str, Any], figures: Mapping[str, Figure]) -> Markup:
    rows = []
    for row in paper["rows"]:
        beside = {metric: _inmind_beside(row["here"], metric, figures) for metric in _INMIND}
        cells = [_paper_share(row.get(metric), paper["items"]) for metric in _INMIND]
        rows.append(_row(row["name"], cells, beside))
    return _table(f"InMind: {paper['source']}", _INMIND, rows)


def _inmind_beside(
    systems: Mapping[str, str | None], metric: str, figures: Mapping[str, Figure]
) -> list[Beside]:
    """Our figure of the first such system that ran: as judged, else word for word."""
    for system, deviation in systems.items():
        for name in (metric, f"{metric}_verbatim"):
            if figure := figures.get(f"inmind/{system}/{name}"):
                return [Beside(figure, name != metric, deviation)]
    return []


def _cimemories(paper: Mapping[str, Any], figures: Mapping[str, Figure]) -> Markup:
    rows = []
    for row in paper["rows"]:
        beside = {
            metric: [
                Beside(figure)
                for path, figure in figures.items()
                if path.startswith(f"cimemories/full_context/paper/{metric}_model_level_")
                and figure.signature.answer_model in row["models"]
                and not path.endswith("_std")
            ]
            for metric in _CIMEMORIES
        }
        rows.append(_row(row["name"], [_percent(row[name]) for name in _CIMEMORIES], beside))
    return _table(f"CIMemories: {paper['source']}", _CIMEMORIES, rows)


def _row(name: str, cells: list[str], beside: Mapping[str, list[Beside]]) -> Markup:
    """One row; greyed unless a figure of ours may stand beside one of the paper's."""
    found = [one for group in beside.values() for one in group]
    good = any(one.comparable for one in found)
    systems = ", ".join(dict.fromkeys(one.figure.signature.system for one in found))
    verdict = "comparable" if good else "not comparable" if found else "did not run here"
    return tag(
        "tr",
        tag("th", name, scope="row"),
        *(tag("td", one) for one in cells),
        tag("td", systems or "–", tag("span", verdict, class_="interval")),
        *(tag("td", *([*map(_ours, group)] or [Markup("–")])) for group in beside.values()),
        class_="comparable" if good else "greyed",
    )


def _ours(beside: Beside) -> Markup:
    figure = beside.figure
    _, _, level = figure.metric.partition("_model_level_")
    told = "word for word" if beside.verbatim else f"level {level}" if level else ""
    return tag(
        "span",
        shown(figure),
        tag("span", told, class_="interval"),
        class_="beside" if beside.comparable else "beside greyed",
        title="; ".join(beside.deviations) or "comparable",
    )


def _paper_share(percent: float | None, items: int) -> str:
    """A share of the paper's, with the interval that its number of tasks gives it."""
    if percent is None:
        return "–"
    low, high = wilson(round(percent * items / 100), items)
    return tag("span", _percent(percent), tag("span", f"{low:.1%} – {high:.1%}", class_="interval"))


def _percent(value: float) -> str:
    return f"{value}%"


def _table(caption: str, metrics: tuple[str, ...], rows: list[Markup]) -> Markup:
    names = [metric.replace("_", " ") for metric in metrics]
    told = (f"{name}, here" for name in names)
    return table(caption, ("system", *(f"{name}, paper" for name in names), "here", *told), rows)
