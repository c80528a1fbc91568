"""What a comparison has to say, as titled parts of a page: tables and lines."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from memrepro.compare import DatasetDiff, Difference, Metric
from memrepro.compare.items import Items
from memrepro.compare.metrics import Entries
from memrepro.compare.texts import Text

# How many ids a line names; JSON and `--texts` have all.
_SHOWN = 20
# How many characters of a text a line shows: a whole history can be a context. JSON has all.
_TEXT = 1000
# How many characters of a setting's value are shown.
_WIDTH = 60


class Block(NamedTuple):
    """A part of a page: a title, and a table (the first row is its header) or lines."""

    title: str
    rows: list[list[str]]
    lines: list[str]


def blocks(difference: Difference) -> Iterator[Block]:
    """The parts of the page, in order."""
    a, b = (
        f"{name} ({commit[:10]})" if commit else name
        for name, commit in zip(difference.names, difference.commits, strict=True)
    )
    same = ["both name one commit: nothing can differ"] if difference.same_commit else []
    yield Block(f"{a} against {b}", [], same)
    if same:
        return
    for dataset in difference.datasets:
        yield from _of_dataset(dataset, difference.names)
    if difference.not_at_hand:
        yield Block("not at hand", [], list(difference.not_at_hand))
    for what, changes in vars(difference.surroundings).items():
        if changes:
            rows = [[key, _short(old), _short(new)] for key, (old, new) in changes.items()]
            title = f"what else differs: {what.replace('_', ' ')}"
            yield Block(title, [["key", *difference.names], *rows], [])


def _of_dataset(dataset: DatasetDiff, names: tuple[str, str]) -> Iterator[Block]:
    moved = dataset.moved
    family = sum(
        metric.in_family and bool(metric.items and metric.items.pairs) for metric in dataset.metrics
    )
    cover = f"{1 - dataset.settings.alpha:.0%} interval"
    header = ["metric", *names, "difference", cover, "p", "p (Holm)", "won", "lost", "comparable"]
    told = f"{len(moved)} of {len(dataset.metrics)} metrics moved"
    notes = (
        [f"* tested in the family ({dataset.settings.family}) of its benchmark"] if family else []
    )
    rows = [_row(metric) for metric in moved]
    yield Block(
        f"{dataset.dataset}: {told}", [header, *rows] if rows else [], notes if rows else []
    )
    for title, lines in (
        ("how sure", [line for metric in moved for line in _verdict(dataset, metric)]),
        ("items that flipped", [line for metric in moved for line in _flips(metric, names)]),
        ("set otherwise", _grouped(dataset.metrics, _settings)),
        ("not measured alike", _grouped(dataset.metrics, _reasons)),
    ):
        if lines:
            yield Block(f"{dataset.dataset}: {title}", [], lines)


def _row(metric: Metric) -> list[str]:
    items = metric.items
    comparable = {True: "yes", False: "no", None: "unknown"}[metric.comparability.comparable]
    return [
        metric.path + (" *" if metric.in_family else ""),
        _entries(metric.metric, metric.a),
        _entries(metric.metric, metric.b),
        _moved(metric),
        f"{items.interval.low:+.4f} to {items.interval.high:+.4f}"
        if items and items.interval
        else "",
        f"{items.p:.4g}" if items and items.p is not None else "",
        f"{items.p_holm:.4g}" if items and items.p_holm is not None else "",
        str(len(items.won)) if items and items.pairs else "",
        str(len(items.lost)) if items and items.pairs else "",
        comparable if metric.a is not None and metric.b is not None else "",
    ]


def _entries(metric: str, entries: Entries | None) -> str:
    if entries is None:
        return "absent"
    if None in entries.values():
        return "null"
    if metric in entries:
        return _number(entries[metric])
    low, high, scored, total = (
        _number(entries.get(f"{metric}{end}")) for end in ("_low", "_high", "_n_scored", "_n_total")
    )
    return f"{low} to {high} ({scored} of {total} scored)"


def _number(value: float | int | None) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _moved(metric: Metric) -> str:
    if metric.state == "changed" and metric.difference is None:
        paired = metric.items.difference if metric.items else None
        return f"{paired:+.4f} (pairs)" if paired is not None else "bounds"
    if metric.state in ("same", "changed"):
        return f"{metric.difference or 0:+.4f}"
    return {
        "added": "added", "removed": "removed", "null_in_a": "was null",
        "null_in_b": "became null", "null_in_both": "null on both sides",
    }[metric.state]  # fmt: skip


def _verdict(dataset: DatasetDiff, metric: Metric) -> Iterator[str]:
    items = metric.items
    if items is None or metric.a is None or metric.b is None:
        return
    left_out = [
        f"{count} {why}"
        for count, why in (
            (items.only_a, "only on the first side"),
            (items.only_b, "only on the second side"),
            (items.open_a, "not scored on the first side"),
            (items.open_b, "not scored on the second side"),
        )
        if count
    ]
    if left_out:
        yield f"{metric.path}: {items.pairs} items paired; left out: {', '.join(left_out)}"
    if items.clusters and items.test == "exact McNemar":
        yield (
            f"{metric.path}: the items come in {items.clusters} clusters; the interval draws "
            "clusters, exact McNemar takes items for independent"
        )
    p = items.p if items.p_holm is None else items.p_holm
    if p is not None and p > dataset.settings.alpha and items.flips_needed:
        yield f"{metric.path}: not significant; {_power(items)}"


def _power(items: Items) -> str:
    needed = f"it would take {items.flips_needed} items all flipping one way"
    if items.smallest_difference is None:
        return f"{needed}, more than the {items.pairs} there are"
    return f"{needed}, a difference of {items.smallest_difference:.4f} of {items.pairs} items"


def _flips(metric: Metric, names: tuple[str, str]) -> Iterator[str]:
    if metric.items is None:
        return
    words = ("grew", "shrank") if metric.direction == 0 else ("won", "lost")
    for word, ids in zip(words, (metric.items.won, metric.items.lost), strict=True):
        if not ids:
            continue
        shown = ids if metric.texts else ids[:_SHOWN]
        more = f" and {len(ids) - len(shown)} more" if len(ids) > len(shown) else ""
        yield f"{metric.path} {word}: {', '.join(shown)}{more}"
        if metric.texts:
            for item in ids:
                yield from (f"  {item}{line}" for line in _told(metric.texts[item], names))


def _told(texts: tuple[Text, Text], names: tuple[str, str]) -> Iterator[str]:
    """What the sides have in common once, the rest of each side by its name."""
    a, b = texts
    if not a and not b:
        yield ": its text is not at hand"
    for part in {**a, **b}:
        sides = [(f" of {name}", text[part]) for name, text in zip(names, texts, strict=True)
                 if part in text]  # fmt: skip
        if a.get(part) == b.get(part):
            sides = [("", a[part])]
        yield from (f" {part}{side}: {_line(text)}" for side, text in sides)


def _line(text: str) -> str:
    line = " ".join(text.split()) or "(empty)"
    return line if len(line) <= _TEXT else f"{line[:_TEXT]}…"


def _settings(metric: Metric) -> list[str]:
    return [
        f"{field}: {_short(old)} and {_short(new)}"
        for field, (old, new) in metric.comparability.settings.items()
    ]


def _reasons(metric: Metric) -> list[str]:
    both = metric.a is not None and metric.b is not None
    return list(metric.comparability.reasons) if both else []


def _grouped(metrics: tuple[Metric, ...], of: Callable[[Metric], list[str]]) -> list[str]:
    """Each thing said, once, and of how many metrics; of a single one, of which."""
    paths: dict[str, list[str]] = {}
    for metric in metrics:
        for line in of(metric):
            paths.setdefault(line, []).append(metric.path)
    return [
        f"{line} ({known[0] if len(known) == 1 else f'{len(known)} metrics'})"
        for line, known in paths.items()
    ]


def _short(value: Any) -> str:
    """A value in a word or two; a digest by how it begins."""
    if value is None:
        return "absent"
    text = str(value)
    digest = len(text) == 64 and set(text) <= set("0123456789abcdef")
    if digest:
        return text[:12]
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
