"""What a comparison fails on, where a check asks it to."""

from collections.abc import Callable
from typing import Literal

from memrepro.compare import DatasetDiff, Difference, Metric

FailOn = Literal["regression", "any", "incomparable"]
FAIL_ON: tuple[FailOn, ...] = ("regression", "any", "incomparable")


def failures(difference: Difference, mode: FailOn) -> list[str]:
    """One line for each metric at fault, with the dataset before it.

    `regression`: a metric of the family got worse by more than the tolerance, and significantly
    so after Holm's correction; or it cannot be told, since the second side has lost it or no items
    can be paired. `any`: any metric moved by more than the tolerance, came, went or is null.
    `incomparable`: a metric of both sides was measured otherwise, or has no signature.
    """
    return [
        f"{dataset.dataset}: {metric.path} {why}"
        for dataset in difference.datasets
        for metric in dataset.metrics
        if (why := _MODES[mode](dataset, metric))
    ]


def _regression(dataset: DatasetDiff, metric: Metric) -> str | None:
    if not metric.in_family:
        return None
    if metric.state in ("removed", "null_in_b"):
        return _lost(dataset, metric)
    items, settings = metric.items, dataset.settings
    paired = items.difference if items else None
    moved = metric.difference if paired is None else paired
    if moved is None or moved * metric.direction >= -settings.tolerance:
        return None
    if items is None or items.p_holm is None:
        return f"got worse by {abs(moved):.4f}, and no items can be paired to test it"
    if items.p_holm > settings.alpha:
        return None
    return f"got worse by {abs(moved):.4f} (p {items.p_holm:.4g} after Holm)"


def _lost(dataset: DatasetDiff, metric: Metric) -> str | None:
    """Its system may have gone for good; a metric of a system that still runs may not."""
    if metric.state == "null_in_b":
        return "is null"
    system = metric.path.rpartition("/")[0] + "/"
    runs = any(one.b is not None and one.path.startswith(system) for one in dataset.metrics)
    return "is gone, and its system is not" if runs else None


def _any(dataset: DatasetDiff, metric: Metric) -> str | None:
    if metric.state == "same":
        return None
    if metric.state == "changed" and metric.difference is not None:
        moved = abs(metric.difference) > dataset.settings.tolerance
        return f"moved by {metric.difference:+.4f}" if moved else None
    return metric.state.replace("_", " ")


def _incomparable(dataset: DatasetDiff, metric: Metric) -> str | None:
    if metric.a is None or metric.b is None or metric.comparability.comparable:
        return None
    return "; ".join(metric.comparability.reasons)


_MODES: dict[FailOn, Callable[[DatasetDiff, Metric], str | None]] = {
    "regression": _regression,
    "any": _any,
    "incomparable": _incomparable,
}
