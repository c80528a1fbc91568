"""HTML from Python values: every text is escaped unless it is markup already."""

import json
from collections.abc import Iterable, Sequence
from html import escape


class Markup(str):
    """HTML that needs no escaping."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str) -> Markup:
    """An element; `class_` stands for class, an underscore in a name for a hyphen."""
    given = "".join(
        f' {key.strip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{given}>{join(children)}</{name}>")


def join(parts: Iterable[str]) -> Markup:
    """Texts and markup, one after the other."""
    return Markup("".join(part if isinstance(part, Markup) else escape(part) for part in parts))


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str] | Markup]) -> Markup:
    """A table in a region of its own that scrolls sideways; the first cell names its row.

    A row is its cells, or markup already.
    """
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", *(tag("th", one, scope="col") for one in head))),
            tag("tbody", *(row if isinstance(row, Markup) else _row(row) for row in rows)),
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def _row(cells: Sequence[str]) -> Markup:
    first, *rest = cells
    return tag("tr", tag("th", first, scope="row"), *(tag("td", one) for one in rest))


def details(summary: str, *children: str) -> Markup:
    """What opens when its summary is chosen."""
    return tag("details", tag("summary", summary), *children)


def embedded(value: object, name: str) -> Markup:
    """A JSON value for a script of the page to read; no text in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(f'<script type="application/json" id="{escape(name)}">{text}</script>')
