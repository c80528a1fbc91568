"""The report of a small run: self-contained, escaped, and its figures those of the metrics file."""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from memrepro.errors import InputError
from memrepro.report import charts
from memrepro.report.items.inmind import AROUND, WHOLE
from memrepro.report.markup import Markup, embedded, join, table, tag
from memrepro.report.page import page
from memrepro.stages.work import Work
from tests.commands import Memrepro

# Everything that could end a script, a comment or a line of one.
HOSTILE = "</script><script>alert(1)</script><!-- body --> & \u2028\u2029 \"'"


class Page(HTMLParser):
    """What tests ask of a page: elements with attributes, and the texts of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.values: dict[str, str] = {}
        self._in: str | None = None
        self._path: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.elements.append((tag, given))
        self._in, self._path = tag, given.get("data-path")

    def handle_data(self, data: str) -> None:
        if self._in == "script":
            self.scripts.append(data)
        if self._path:
            self.values[self._path] = data

    def handle_endtag(self, tag: str) -> None:
        self._in = self._path = None


def data_of(text: str) -> Any:
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert len(found) == 1
    return json.loads(found[0])


def test_it_needs_nothing_else(html: str) -> None:
    """No element of it loads a thing; the policy forbids it; its links stay within."""
    loads = {"src", "srcset", "data", "poster", "action", "background", "xlink:href"}
    for name, attributes in Page(html).elements:
        assert not loads & attributes.keys()
        target = attributes.get("href")
        assert target is None or target.startswith(("#", "data:"))
        assert name not in ("iframe", "object", "embed", "img", "base")
    assert "default-src 'none'" in html
    assert not re.search(r"@import|url\(", html)
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))


def test_every_figure_is_the_metrics_files(html: str, sample: Work) -> None:
    metrics = json.loads((sample.root / "metrics/sample.json").read_text())
    shown = Page(html).values
    assert len(shown) > 60
    for path, told in shown.items():
        *places, metric = path.split("/")
        entries = metrics
        for place in places:
            entries = entries[place]
        bounds = [entries.get(metric, entries.get(f"{metric}_{end}")) for end in ("low", "high")]
        wanted = [str(one) if isinstance(one, int) else f"{one:.3f}" for one in bounds]
        assert told == (wanted[0] if bounds[0] == bounds[1] else " to ".join(wanted))
    every = set(_paths(metrics, ""))
    left = {path for path in every - shown.keys() if not path.endswith("_std")}
    assert {path.rpartition("/")[2] for path in left} == {
        "contexts_scored", "contexts_discarded", "private_keys_excluded",
    }  # fmt: skip


def _paths(value: dict[str, Any], before: str) -> list[str]:
    found = []
    for key, inner in value.items():
        if isinstance(inner, dict):
            found += _paths(inner, f"{before}{key}/")
        else:
            found.append(before + re.sub(r"_(low|high|n_scored|n_total)$", "", key))
    return found


def test_the_papers_rows_are_greyed_where_nothing_is_comparable(html: str) -> None:
    papers = html[html.index('<section id="papers"') : html.index('<section id="items"')]
    rows = re.findall(r"<tr[^>]*>", papers[papers.index("<tbody") :])
    assert rows.count('<tr class="greyed">') == 25 and '<tr class="comparable">' not in rows
    assert "53.6%" in papers and "25.08%" in papers and "[S]" in papers


def test_items_of_every_benchmark_are_there(html: str) -> None:
    items = data_of(html)["items"]
    assert len(items["inmind"]["items"]) == 2 * 26
    assert {one["s"] for one in items["cimemories"]["items"]} == {"full_context", "guarded"}
    cells = [len(run["cells"]) for run in items["retention"]["runs"]]
    assert cells == [1152, 96, 96, 1152] * 2


def test_a_long_context_is_shown_around_the_target(html: str) -> None:
    found = data_of(html)["items"]["inmind"]
    for item in found["items"]:
        context = item["c"]["indirect"]
        if item["s"] != "full_context":
            continue
        left = -sum(turn for turn in context["shown"] if turn < 0)
        kept = [turn for turn in context["shown"] if turn >= 0]
        assert context["n"] == left + len(kept) > WHOLE
        assert len(kept) <= 2 * (AROUND + 1)
        task = found["tasks"][str(item["t"])]
        assert task["fact"] in {found["turns"][turn] for turn in context["target"]}


def test_the_same_run_gives_the_same_bytes(html: str, sample: Work) -> None:
    from memrepro.report.page import report

    assert report(sample) == html


def test_a_hostile_text_stays_a_text() -> None:
    text = page("sample", tag("main", HOSTILE), {"fact": HOSTILE})
    assert data_of(text) == {"fact": HOSTILE}
    found = Page(text)
    assert [name for name, _ in found.elements].count("script") == 2
    assert "\u2028" not in "".join(found.scripts) and "alert" not in found.scripts[-1]
    assert text.count("<main>") == 1


def test_markup_escapes_all_but_markup() -> None:
    assert tag("b", "<", Markup("<i>")) == "<b>&lt;<i></b>"
    assert tag("a", href='"x"') == '<a href="&quot;x&quot;"></a>'
    assert "&lt;td" in table("<c>", ("<h>",), [("<td onclick>", "<td>")])
    assert join(("<", Markup("<br>"))) == "&lt;<br>"
    assert "<" not in embedded({"a": "<"}, "x").removeprefix("<script")[:-9]


def test_without_altair_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(InputError) as refused:
        charts.recall([])
    assert refused.value.hint == 'pip install "memrepro[report]"'


def test_a_run_without_metrics_says_how_to_make_them(sample: Work, tmp_path: Path) -> None:
    from memrepro.report.page import report

    with pytest.raises(InputError) as refused:
        report(Work(root=tmp_path, out=tmp_path, params=sample.params))
    assert refused.value.hint == "make repro DATASET=sample"


def test_the_command_writes_one_file_and_says_how_large(
    sample: Work, html: str, tmp_path: Path, memrepro: Memrepro
) -> None:
    output = tmp_path / "new/page.html"
    ran = memrepro(sample.root, "report", "--output", str(output))
    assert ran.code == 0, ran.err
    assert output.read_text("utf-8") == html
    assert ran.out == f"{output}: {output.stat().st_size / 1e6:.1f} MB\n"
    assert ran.out.split()[1] != "0.0"


def test_a_dataset_that_was_not_run_is_told_with_what_runs_it(
    sample: Work, tmp_path: Path, memrepro: Memrepro
) -> None:
    output = tmp_path / "page.html"
    ran = memrepro(sample.root, "report", "--dataset", "full", "--output", str(output))
    assert (ran.code, ran.out) == (2, "")
    assert "hint:" in ran.err
    assert not output.exists()
