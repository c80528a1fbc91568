"""The report's charts: Vega-Lite through altair, drawn here as SVG.

A chart is drawn once and colours are the page's: what stands for one here becomes a variable of
its style sheet, so that the same drawing serves in light, in dark and on paper.
"""

import re
from collections.abc import Mapping, Sequence
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
    "not stored",
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


def draw(chart: Any) -> Markup:
    """A chart as SVG in the page's colours, its marks named for a screen reader by its title."""
    _, vl_convert = _altair()
    title = _MUTED
    config = {
        "background": None,
        "view": {"stroke": None},
        "range": {"category": _SERIES},
        "font": "system-ui, sans-serif",
        "axis": {
            "labelColor": _INK, "titleColor": _INK, "gridColor": _LINE, "domainColor": _LINE,
            "tickColor": _LINE, "titleFontWeight": "normal", "labelLimit": 130,
        },
        "legend": {
            "labelColor": _INK, "titleColor": title, "orient": "bottom", "columns": 2,
            "title": None, "labelLimit": 150, "symbolStrokeWidth": 2,
        },
        "text": {"color": _INK},
    }  # fmt: skip
    svg = vl_convert.vegalite_to_svg({**chart.to_dict(), "config": config})
    return Markup(_recoloured(svg))


def _recoloured(svg: str) -> str:
    """Variables for colours; the size comes from the view box; no marks that nobody can reach."""
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, variable)
    svg = re.sub(r' (aria-roledescription|pointer-events|stroke-miterlimit)="[^"]*"', "", svg)
    svg = re.sub(r'(<(?:path|line|text)[^>]*) role="graphics-symbol" aria-label="[^"]*"', r"\1", svg)
    return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)


def diagnosis(rows: Rows) -> Markup:
    """Where facts were lost: a bar a system. Rows: system, diagnosis, n, share."""
    alt, _ = _altair()
    chart = alt.Chart(alt.Data(values=list(rows)), width=_WIDTH, height={"step": _STEP}).mark_bar()
    return draw(
        chart.encode(
            x=alt.X("share:Q", title="share of tasks", axis=alt.Axis(format="%", tickCount=5),
                    scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("system:N", title=None),
            color=alt.Color("diagnosis:N", scale=alt.Scale(domain=list(DIAGNOSES))),
            order=alt.Order("turn:Q"),
        )
    )  # fmt: skip


def recall(rows: Rows) -> Markup:
    """Recall by system with its interval. Rows: system, query, value, from, to."""
    alt, _ = _altair()
    base = alt.Chart(alt.Data(values=list(rows)), width=_WIDTH, height={"step": _STEP / 2})
    shares = alt.Axis(format="%", tickCount=5)
    y, offset = alt.Y("system:N", title=None), alt.YOffset("query:N")
    colour = alt.Color("query:N")
    scale = alt.Scale(domain=[0, 1])
    lines = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("from:Q", title="share of tasks", axis=shares, scale=scale),
        x2="to:Q", y=y, yOffset=offset, color=colour,
    )  # fmt: skip
    points = base.mark_point(filled=True, opacity=1, size=50).encode(
        x="value:Q", y=y, yOffset=offset, color=colour, shape="query:N"
    )
    return draw(lines + points)


def accumulation(rows: Rows) -> Markup:
    """Violation after each task, with the band of the orders. Rows as in the store's table."""
    alt, _ = _altair()
    base = alt.Chart(alt.Data(values=list(rows)), width=_WIDTH, height=190)
    x = alt.X("turn:Q", title="tasks so far", axis=alt.Axis(format="d", tickMinStep=1))
    share = alt.Axis(format="%", tickCount=5)
    y = {"title": "violation so far", "axis": share, "scale": alt.Scale(domain=[0, 1])}
    band = base.mark_area(opacity=0.18).encode(
        x=x, y=alt.Y("band_from:Q", **y), y2="band_to:Q", color="system:N"
    )
    line = base.mark_line(strokeWidth=2).encode(
        x=x, y=alt.Y("low:Q", **y), color="system:N", strokeDash="system:N"
    )
    return draw(band + line)


def hazard(rows: Rows) -> Markup:
    """Newly told in each task, of what is at stake and untold."""
    alt, _ = _altair()
    base = alt.Chart(alt.Data(values=list(rows)), width=_WIDTH, height=190)
    return draw(
        base.mark_line(strokeWidth=2, point={"size": 14}).encode(
            x=alt.X("turn:Q", title="task", axis=alt.Axis(format="d", tickMinStep=1)),
            y=alt.Y("hazard:Q", title="hazard", axis=alt.Axis(format="%", tickCount=5)),
            color="system:N",
            strokeDash="system:N",
        )
    )


def frontier(rows: Rows, papers: Rows) -> Markup:
    """Completeness against violation: bounds as lines, what is on the frontier filled.

    Args:
        rows: name, judge, and low and high of both measures; on_frontier.
        papers: name, violation and completeness of the paper's models, drawn muted.
    """
    alt, _ = _altair()
    x = {"scale": alt.Scale(domain=[0, 1]), "axis": alt.Axis(format="%", tickCount=5)}
    base = alt.Chart(alt.Data(values=list(rows)), width=_WIDTH, height=_WIDTH)
    across = base.mark_rule(opacity=0.5).encode(
        x=alt.X("violation_low:Q", title="violation (less is better)", **x),
        x2="violation_high:Q",
        y=alt.Y("completeness_low:Q", title="completeness", **x),
        color="name:N",
    )
    down = base.mark_rule(opacity=0.5).encode(
        x="violation_low:Q", y="completeness_low:Q", y2="completeness_high:Q", color="name:N"
    )
    point = base.mark_point(size=70, opacity=1).encode(
        x="violation_low:Q", y="completeness_low:Q", color="name:N", shape="name:N",
        fill=alt.condition("datum.on_frontier", alt.Color("name:N", legend=None),
                           alt.value("transparent")),
    )  # fmt: skip
    told = alt.Chart(alt.Data(values=list(papers))).mark_text(
        text="×", fontSize=13, color=_MUTED
    ).encode(x="violation:Q", y="completeness:Q")  # fmt: skip
    return draw(told + across + down + point)
