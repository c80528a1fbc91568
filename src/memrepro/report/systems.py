"""The systems of each benchmark with their metrics: a row a system, a column a metric."""

from collections.abc import Iterable, Mapping, Sequence

from memrepro.report.figures import Figure
from memrepro.report.markup import Markup, join, table, tag

# What stands in the metrics file beside the measures: counts of what was scored, and deviations.
_BESIDE = ("contexts_", "private_keys_excluded")
_ORDER = (
    "naive_recall_verbatim", "target_recall_verbatim", "naive_recall", "target_recall",
    "application", "application_gated", "answer_only", "unprompted_warning",
)  # fmt: skip
_NAMES = {
    "inmind": ("system",),
    "cimemories": ("system", "message by"),
    "retention": ("system", "guard"),
}
_DIGITS = 3


def systems_table(benchmark: str, figures: Iterable[Figure], caption: str) -> Markup:
    """The table of a benchmark's figures, of one edition in retention."""
    rows: dict[tuple[str, ...], dict[str, Figure]] = {}
    for figure in figures:
        if not figure.metric.endswith("_std") and not figure.metric.startswith(_BESIDE):
            row, column = _place(benchmark, figure)
            rows.setdefault(row, {})[column] = figure
    columns = sorted({column for row in rows.values() for column in row}, key=_turn)
    names = (column.replace("_", " ") for column in columns)
    return table(
        caption,
        (*_NAMES[benchmark], *names),
        (_row(row, [found.get(column) for column in columns]) for row, found in rows.items()),
    )


def _turn(column: str) -> tuple[int, str]:
    return (_ORDER.index(column) if column in _ORDER else len(_ORDER), column)


def _place(benchmark: str, figure: Figure) -> tuple[tuple[str, ...], str]:
    """The row that a figure stands in, and its column."""
    _, *names, metric = figure.path.split("/")
    if benchmark == "cimemories":
        system, reading = names
        metric, _, level = metric.partition("_model_level_")
        by = f"model, level {level}" if level else "composer"
        return (system, by), metric if reading == "paper" else f"{metric}, {reading}"
    if benchmark == "retention":
        _, system, mode = names
        return (system, mode), metric
    return (names[0],), metric


def _row(names: Sequence[str], found: Sequence[Figure | None]) -> Markup:
    """A row: what its figures are of, and whether they are comparable, below the system's name."""
    figures = [figure for figure in found if figure is not None]
    comparable = sum(figure.signature.comparable for figure in figures)
    told = {0: "not comparable", len(figures): "comparable"}.get(
        comparable, f"{comparable} of {len(figures)} comparable"
    )
    system, *others = names
    below = tag("span", f"{figures[0].signature.kind}, {told}", class_="interval")
    return tag(
        "tr",
        tag("th", system, below, scope="row"),
        *(tag("td", name) for name in others),
        *(cell(figure) for figure in found),
    )


def cell(figure: Figure | None) -> Markup:
    """A figure's value, and its interval below; what is open, and how many items are scored."""
    if figure is None:
        return tag("td", "–")
    return tag(
        "td",
        tag("span", shown(figure), class_="value", data_path=figure.path),
        *_below(figure),
    )


def shown(figure: Figure) -> str:
    """A figure's value, or the bounds of what is open."""
    low, high = number(figure.low), number(figure.high)
    return low if figure.low == figure.high else f"{low} to {high}"


def number(value: float) -> str:
    """A share with three digits, a count as it is."""
    return str(value) if isinstance(value, int) else f"{value:.{_DIGITS}f}"


def _below(figure: Figure) -> Iterable[Markup]:
    if figure.interval is not None:
        low, high = figure.interval
        told = f"{number(low)} – {number(high)}"
        yield tag("span", told, class_="interval", title=figure.method or "")
    if figure.low != figure.high:
        yield tag("span", f"{figure.n_scored} of {figure.n_total} scored", class_="interval")


def by_edition(figures: Mapping[str, Figure]) -> dict[str, list[Figure]]:
    """Retention's figures by edition, the standard one first."""
    found: dict[str, list[Figure]] = {}
    for figure in figures.values():
        found.setdefault(figure.path.split("/")[1], []).append(figure)
    return dict(sorted(found.items(), key=lambda pair: (pair[0] != "standard", pair[0])))


def counts(figures: Mapping[str, Figure]) -> Markup:
    """CIMemories: how many contexts each reading keeps, and what it drops."""
    found = {
        (figure.path.split("/")[2], figure.metric): figure.low
        for figure in figures.values()
        if figure.metric.startswith(_BESIDE)
    }
    readings = dict.fromkeys(reading for reading, _ in found)
    return join(
        tag(
            "p",
            f"Reading {reading}: {found[reading, 'contexts_scored']} contexts scored, "
            f"{found[reading, 'contexts_discarded']} discarded as one-sided, "
            f"{found[reading, 'private_keys_excluded']} private keys excluded.",
        )
        for reading in readings
    )
