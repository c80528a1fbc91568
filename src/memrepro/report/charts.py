"""The report's charts: Vega-Lite through altair, drawn here as SVG.

A chart is drawn once and colours are the page's: what stands for one here becomes a variable of
its style sheet, so that the same drawing serves in light, in dark and on paper.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from memrepro.errors import InputError
from memrepro.report.markup import Markup

Rows = Sequence[Mapping[str, Any]]

# Stand for --c0 … --c9, --ink, --line and --muted of the style sheet.
_SERIES = [f"#fe00{number:02x}" for number in range(10)]
_INK, _LINE, _MUTED = "#fe00f0", "#fe00f1", "#fe00f2"
_VARIABLES = {
    **{colour: f"var(--c{number})" for number, colour in enumerate(_SERIES)},
    _INK: "var(--ink)", _LINE: "var(--line)", _MUTED: "var(--muted)",
}  # fmt: skip
_WIDTH, _STEP = 250, 20
DIAGNOSES = (
    "applied", "surfaced, not applied", "applied without the fact", "stored, not surfaced",
    "not stored", "not judged",
)  # fmt: skip


def _altair() -> tuple[Any, Any]:
    try:
        import altair
        import vl_convert
    except ModuleNotFoundError as error:
        raise InputError(
            "the report's charts need altair and vl-convert",
            expected=f"a module named {error.name}",
            hint='pip install "memrepro[report]"',
        ) from None
    return altair, vl_convert


def draw(chart: Any, title: str) -> Markup:
    """A chart as one SVG image of a title, in the page's colours."""
    _, vl_convert = _altair()
    config = {
        "background": None,
        "padding": {"left": 24, "right": 16, "top": 8, "bottom": 5},  # fonts differ in width
        "view": {"stroke": None},
        "range": {"category": _SERIES},
        "font": "system-ui, sans-serif",
        "axis": {
            "labelColor": _INK, "titleColor": _INK, "gridColor": _LINE, "domainColor": _LINE,
            "tickColor": _LINE, "titleFontWeight": "normal", "labelLimit": 160,
        },
        "legend": {
            "labelColor": _INK, "orient": "bottom", "columns": 2, "title": None,
            "labelLimit": 150, "symbolStrokeWidth": 2, "symbolOpacity": 1,
        },
        "text": {"color": _INK},
    }  # fmt: skip
    svg = vl_convert.vegalite_to_svg({**chart.to_dict(), "config": config})
    return Markup(_as_image(svg, title))


def _as_image(svg: str, title: str) -> str:
    """Variables for colours, and one name for the whole: a table beside it holds the numbers."""
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, variable)
    svg = re.sub(r' (aria-[a-z]+|role|pointer-events|stroke-miterlimit)="[^"]*"', "", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)


def diagnosis(rows: Rows) -> Markup:
    """Where facts were lost: a bar a system. Rows: system, diagnosis, n, share."""
    alt, _ = _altair()
    chart = alt.Chart(alt.Data(values=list(rows)), width=_WIDTH, height={"step": _STEP}).mark_bar()
    return draw(
        chart.encode(
            x=alt.X("share:Q", title="share of tasks", axis=alt.Axis(format="%", tickCount=5),
                    scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("system:N", title=None),
            color=alt.Color(
                "diagnosis:N", legend=alt.Legend(columns=1),
                scale=alt.Scale(domain=list(DIAGNOSES), range=[*_SERIES[:5], _LINE]),
            ),
            order=alt.Order("turn:Q"),
        ),
        "Where facts were lost, by system",
    )  # fmt: skip


def recall(rows: Rows) -> Markup:
    """Recall by system with its interval. Rows: system, query, value, from, to."""
    alt, _ = _altair()
    base = alt.Chart(alt.Data(values=list(rows)), width=_WIDTH, height={"step": _STEP / 2})
    shares = alt.Axis(format="%", tickCount=5)
    y, offset = alt.Y("system:N", title=None), alt.YOffset("query:N")
    colour = alt.Color("query:N", legend=None)
    scale = alt.Scale(domain=[0, 1])
    lines = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("from:Q", title="share of tasks", axis=shares, scale=scale),
        x2="to:Q", y=y, yOffset=offset, color=colour,
    )  # fmt: skip
    points = base.mark_point(filled=True, opacity=1, size=50).encode(
        x="value:Q", y=y, yOffset=offset, color="query:N", shape="query:N"
    )
    apart = (lines + points).resolve_scale(color="independent", shape="independent")
    return draw(apart, "Verbatim recall with its interval, by system")


def accumulation(rows: Rows) -> Markup:
    """Violation after each task, with the band of the orders. Rows as in the store's table."""
    alt, _ = _altair()
    base = alt.Chart(alt.Data(values=list(rows)), width=_WIDTH, height=190)
    x = alt.X("turn:Q", title="tasks so far", axis=alt.Axis(format="d", tickMinStep=1))
    share = alt.Axis(format="%", tickCount=5)
    y = {"title": "violation so far", "axis": share, "scale": alt.Scale(domain=[0, 1])}
    band = base.mark_area(opacity=0.18).encode(
        x=x, y=alt.Y("band_from:Q", **y), y2="band_to:Q", color=alt.Color("system:N", legend=None)
    )
    line = base.mark_line(strokeWidth=2).encode(x=x, y=alt.Y("low:Q", **y), **_series())
    return draw(
        alt.layer(band, line).resolve_scale(color="independent", strokeDash="independent"),
        "Violation after each task, by system",
    )


def _series() -> dict[str, Any]:
    return {"color": "system:N", "strokeDash": "system:N"}


def hazard(rows: Rows) -> Markup:
    """Newly told in each task, of what is at stake and untold."""
    alt, _ = _altair()
    base = alt.Chart(alt.Data(values=list(rows)), width=_WIDTH, height=190)
    chart = base.mark_line(strokeWidth=2).encode(
        x=alt.X("turn:Q", title="task", axis=alt.Axis(format="d", tickMinStep=1)),
        y=alt.Y("hazard:Q", title="hazard", axis=alt.Axis(format="%", tickCount=5)),
        **_series(),
    )
    return draw(chart, "Hazard of each task, by system")


def frontier(rows: Rows, papers: Rows) -> Markup:
    """Completeness against violation: bounds as lines, what is on the frontier in a ring.

    Args:
        rows: name, judge, and low and high of both measures; on_frontier.
        papers: name, violation and completeness of the paper's models, drawn muted.
    """
    alt, _ = _altair()
    x = {"scale": alt.Scale(domain=[0, 1]), "axis": alt.Axis(format="%", tickCount=5)}
    base = alt.Chart(alt.Data(values=list(rows)), width=_WIDTH, height=_WIDTH)
    colour = alt.Color("name:N", legend=None)
    x_title = "violation (less is better)"
    across = base.mark_rule(opacity=0.5).encode(
        x=alt.X("violation_low:Q", title=x_title, **x),
        x2="violation_high:Q",
        y=alt.Y("completeness_low:Q", title="completeness", **x),
        color=colour,
    )
    down = base.mark_rule(opacity=0.5).encode(
        x="violation_low:Q", y="completeness_low:Q", y2="completeness_high:Q", color=colour
    )
    places = {"x": "violation_low:Q", "y": "completeness_low:Q"}
    point = base.mark_point(size=60, opacity=1, strokeWidth=2).encode(
        **places, color="name:N", shape="name:N"
    )
    ring = (
        base.transform_filter("datum.on_frontier")
        .mark_point(size=230, opacity=1, shape="circle", strokeWidth=1, color=_INK)
        .encode(**places)
    )
    told = (
        alt.Chart(alt.Data(values=list(papers)))
        .mark_text(text="×", fontSize=13, color=_MUTED)
        .encode(x="violation:Q", y="completeness:Q")
    )
    chart = alt.layer(told, alt.layer(across, down), ring, point)
    apart = chart.resolve_scale(color="independent", shape="independent")
    return draw(apart, "Completeness against violation")
