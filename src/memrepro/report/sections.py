"""A section a benchmark: its systems, its charts with their numbers, what the charts do not say."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from memrepro.files import read_json
from memrepro.report import charts
from memrepro.report.figures import Figure
from memrepro.report.markup import Markup, details, join, table, tag
from memrepro.report.papers import read_papers
from memrepro.report.systems import by_edition, counts, number, systems_table
from memrepro.stages.declarations.cimemories import table_path
from memrepro.stages.retention_metrics import score_files
from memrepro.stages.work import Work
from memrepro.store import inmind_diagnosis
from memrepro.store.retention import retention_table

Rows = list[dict[str, Any]]
_QUERIES = {"naive_recall_verbatim": "direct", "target_recall_verbatim": "indirect"}


def inmind(work: Work, figures: Mapping[str, Figure]) -> Markup:
    """Systems, where facts were lost, and verbatim recall."""
    scores = work.read("inmind", "scores")
    files = [scores / f"{name}.jsonl" for name in work.params.systems.inmind]
    lost, unjudged = _diagnosis(inmind_diagnosis(files))
    told = [
        {"system": figure.signature.system, "query": query, "value": figure.low,
         "from": figure.interval.low, "to": figure.interval.high}
        for figure in figures.values() for metric, query in _QUERIES.items()
        if figure.metric == metric and figure.interval
    ]  # fmt: skip
    pictures = [_figure("Verbatim recall", charts.recall(told), told)]
    if lost:
        pictures.insert(0, _figure("Where facts were lost", charts.diagnosis(lost), lost))
    note = f"Not judged by a model, hence without a diagnosis: {', '.join(unjudged)}."
    return join(
        (
            systems_table("inmind", figures.values(), "InMind, share of tasks"),
            tag("p", "Below each share its Wilson interval. A share that failures leave open is "
                "told by its bounds, each failure counted as 0, as 1, and its interval spans those "
                "of both."),
            tag("div", *pictures, class_="figures"),
            *((tag("p", note),) if unjudged else ()),
        )
    )  # fmt: skip


def _diagnosis(rows: Iterable[Mapping[str, Any]]) -> tuple[Rows, list[str]]:
    """Shares of each diagnosis by system; systems that have none."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        found.setdefault(row["system"], Counter())[row["diagnosis"]] += 1
    shares = [
        {"system": system, "diagnosis": name, "n": counter[name],
         "share": counter[name] / counter.total(), "turn": turn}
        for system, counter in found.items()
        if counter["not judged"] < counter.total()
        for turn, name in enumerate(charts.DIAGNOSES) if counter[name]
    ]  # fmt: skip
    judged = {row["system"] for row in shares}
    return shares, [system for system in found if system not in judged]


def cimemories(work: Work, figures: Mapping[str, Figure]) -> Markup:
    """Systems, accumulation and hazard, completeness against violation."""
    hint = f"make repro DATASET={work.params.dataset}"
    grown: Rows = read_json(work.root / table_path(work.params, "accumulation"), hint=hint)
    points: Rows = read_json(work.root / table_path(work.params, "frontier"), hint=hint)
    papers = [
        {"violation": row["violation"] / 100, "completeness": row["completeness"] / 100}
        for row in read_papers()["cimemories"]["rows"]
    ]
    pictures = [picture for group in _messages(grown) for picture in _grown(*group)]
    named = [{**row, "name": _message(row)} for row in points if _closed(row)]
    pictures.append(
        _figure(
            "Completeness against violation (ringed: on the frontier; ×: the paper's models, "
            "see below)",
            charts.frontier(named, papers), points,
        )
    )  # fmt: skip
    return join(
        (
            systems_table("cimemories", figures.values(), "CIMemories, means over profiles"),
            tag("p", "Intervals: bootstrap by profile; few profiles make it narrow, and profiles "
                "that are all alike leave it no width. What failures leave open has none. "
                "Violation: less is better."),
            counts(figures),
            tag("div", *pictures, class_="figures"),
            *_open(grown),
        )
    )  # fmt: skip


def _message(row: Mapping[str, Any]) -> str:
    """Who told: the system, and the model's prompt level where a model wrote the message."""
    by_model = row["judge"] != "verbatim"
    return f"{row['system']}, level {row['prompt_level']}" if by_model else row["system"]


def _closed(row: Mapping[str, Any]) -> bool:
    """Whether failures leave anything but everything open."""
    return bool(row["violation_high"] - row["violation_low"] < 1)


def _messages(rows: Rows) -> Iterator[tuple[str, Rows]]:
    """The accumulations that say something, by who wrote the messages."""
    groups: dict[tuple[str, int], Rows] = {}
    for row in rows:
        groups.setdefault((row["judge"], row["prompt_level"]), []).append(row)
    for (judge, level), group in groups.items():
        if any(row["low"] == row["high"] for row in group):
            yield ("" if judge == "verbatim" else f", model's messages at level {level}"), group


def _grown(suffix: str, rows: Rows) -> Iterator[Markup]:
    told = "Violation after each task; the band holds 95% of the orders, and what is open"
    drawn = [{**row, "band_to": max(row["band_to"], row["high"])} for row in rows]
    yield _figure(f"{told}{suffix}", charts.accumulation(drawn), rows)
    hazards = [row for row in rows if row["hazard"] is not None]
    title = "Hazard: newly told in a task, of what is at stake there"
    yield _figure(f"{title}{suffix}", charts.hazard(hazards), [])


def _open(rows: Rows) -> Iterator[Markup]:
    shown = {id(row) for _, group in _messages(rows) for row in group}
    left = sorted({_message(row) for row in rows if id(row) not in shown})
    if left:
        yield tag("p", f"Left open by failed replies, so without a curve: {'; '.join(left)}.")


def retention(figures: Mapping[str, Figure]) -> Markup:
    """Systems by edition; the grid is filled in by the page's script."""
    editions = by_edition(figures)
    tables = {
        name: systems_table("retention", of, f"Retention policy, edition {name}")
        for name, of in editions.items()
    }
    first, *others = tables.items()
    return join(
        (
            first[1],
            *(details(f"Edition {name}", made) for name, made in others),
            tag("p", "Intervals: bootstrap by policy; policies that are all alike leave it no "
                "width, and a policy alone has none. Leak rate: less is better. Policies passed "
                "is a count."),
            tag("h3", "Facts that passed, policy by category"),
            tag("div", id="grid"),
        )
    )  # fmt: skip


def grids(work: Work) -> Rows:
    """Policy × category of every run: facts of a cell, scored, passed."""
    files = score_files(work)
    found: dict[tuple[str, str, str], Rows] = {}
    for row in retention_table(files, "grid") if files else ():
        found.setdefault((row["edition"], row["system"], row["mode"]), []).append(row)
    ordered = sorted(found.items(), key=lambda pair: (pair[0][0] != "standard", pair[0]))
    return [
        {
            "name": " · ".join(run),
            "policies": list(dict.fromkeys(row["policy_id"] for row in rows)),
            "categories": list(dict.fromkeys(row["category"] for row in rows)),
            "cells": [[row["n_total"], row["n_scored"], row["n_passed"]] for row in rows],
        }
        for run, rows in ordered
    ]


def _figure(caption: str, drawing: Markup, rows: Sequence[Mapping[str, Any]]) -> Markup:
    """A chart with its numbers."""
    columns = [key for key in rows[0] if key != "turn" or "band_from" in rows[0]] if rows else []
    cells = ([_told(row.get(column)) for column in columns] for row in rows)
    head = [column.replace("_", " ") for column in columns]
    numbers = (details("Numbers", table(caption, head, cells)),) if rows else ()
    return tag("figure", tag("figcaption", caption), drawing, *numbers)


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "–"
    return number(value) if isinstance(value, float) else str(value)
