"""Grids of shares as a picture: SVG, written by hand, so that nothing draws it but this."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

_SIDE, _LEFT, _TOP, _GAP = 26, 70, 110, 24
# Between these two a share of 0 … 1; grey where a cell has facts without a score.
_LOW, _HIGH, _OPEN = (178, 24, 43), (247, 247, 247), "#9e9e9e"


class Panel(NamedTuple):
    """One grid: its title, and rows of policy_id, category, n_total, n_scored and n_passed."""

    title: str
    cells: Sequence[Mapping[str, Any]]


def grids_svg(panels: Iterable[Panel]) -> str:
    """All grids, one below the other. White is a whole cell passed, red none of it."""
    parts: list[str] = []
    top, width = _GAP, 0
    for panel in panels:
        categories = list(dict.fromkeys(cell["category"] for cell in panel.cells))
        policies = list(dict.fromkeys(cell["policy_id"] for cell in panel.cells))
        parts.append(f'<g transform="translate({_GAP} {top})">')
        parts.append(f'<text y="0" font-weight="bold">{escape(panel.title)}</text>')
        for x, category in enumerate(categories):
            place = f"{_LEFT + x * _SIDE + _SIDE // 2 + 4} {_TOP - 6}"
            parts.append(
                f'<text transform="translate({place}) rotate(-60)">{escape(category)}</text>'
            )
        for y, policy in enumerate(policies):
            middle = _TOP + y * _SIDE + _SIDE // 2 + 4
            parts.append(f'<text x="0" y="{middle}">{escape(policy)}</text>')
        for cell in panel.cells:
            x, y = categories.index(cell["category"]), policies.index(cell["policy_id"])
            parts.append(_square(_LEFT + x * _SIDE, _TOP + y * _SIDE, cell))
        parts.append("</g>")
        top += _TOP + len(policies) * _SIDE + 2 * _GAP
        width = max(width, _LEFT + len(categories) * _SIDE + 4 * _GAP)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" '
        f'viewBox="0 0 {width} {top}" font-family="sans-serif" font-size="11">'
    )
    return "\n".join((head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"))


def _square(x: int, y: int, cell: Mapping[str, Any]) -> str:
    passed, scored, total = cell["n_passed"], cell["n_scored"], cell["n_total"]
    share = passed / total
    told = f"{cell['policy_id']}, {cell['category']}: {passed} of {total} passed"
    mixed = (round(low + (high - low) * share) for low, high in zip(_LOW, _HIGH, strict=True))
    colour = _OPEN if scored < total else "#" + "".join(f"{part:02x}" for part in mixed)
    return (
        f'<rect x="{x}" y="{y}" width="{_SIDE - 2}" height="{_SIDE - 2}" fill="{colour}" '
        f'stroke="#bdbdbd"><title>{escape(told)}</title></rect>'
    )
