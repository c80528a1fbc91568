"""The tables of a run: what is asked of CIMemories' scores and labels beside the metrics."""

from pathlib import Path
from typing import Any

from memrepro.benchmarks.cimemories.sensitivity import label_variants, task_orders
from memrepro.records import CIMemoriesContext, CIMemoriesCounts, CIMemoriesLabels
from memrepro.stages.cimemories_rows import BENCHMARK, read_rows
from memrepro.stages.work import Work
from memrepro.store.cimemories_runs import (
    Labels,
    Run,
    cimemories_metrics,
    cimemories_tables,
    label_tables,
)


def run_of(work: Work) -> Run:
    """The files that a run's metrics are computed from."""
    systems = work.params.systems.cimemories
    return Run(
        scores=[work.read(BENCHMARK, f"scores/{system}.jsonl") for system in systems],
        contexts=work.read(BENCHMARK, "inputs/contexts.jsonl"),
        attributes=work.read(BENCHMARK, "judge_only/attributes.jsonl"),
    )


def tables(work: Work) -> dict[str, list[dict[str, Any]]]:
    """Every table by name: those of the labels, and the scores' own in `store.cimemories_runs`."""
    params = work.params.cimemories
    run = run_of(work)
    contexts = read_rows(work, "inputs/contexts.jsonl", CIMemoriesContext)
    scoring = work.read(BENCHMARK, f"labels/{params.labels}.jsonl")
    labels = read_rows(work, f"labels/{params.labels}.jsonl", CIMemoriesLabels)
    orders = list(task_orders(contexts, labels, params.seed))
    sources: dict[str, Path | Labels] = {
        name: work.read(BENCHMARK, f"labels/{name}.jsonl") for name in params.label_sources
    }
    summary, discarded = label_tables(run.contexts, sources)
    return {
        **cimemories_tables(run, scoring, orders),
        "labels": summary,
        "discarded": discarded,
        "sensitivity": _sensitivity(work, run),
    }


def _sensitivity(work: Work, run: Run) -> list[dict[str, Any]]:
    """How labels and scores move under other rules and priors, for sources that have counts."""
    rows = []
    for source in work.params.cimemories.label_sources:
        counts = read_rows(work, f"label_counts/{source}.jsonl", CIMemoriesCounts)
        for variant, labels in label_variants(counts).items() if counts else ():
            given: Labels = [(row.profile, row.place, row.labels) for row in labels]
            summary, _ = label_tables(run.contexts, {source: given})
            scores = cimemories_metrics(run, given)
            rows.append(
                {
                    **summary[0],
                    "rule": variant,
                    "scores": {system: readings["paper"] for system, readings in scores.items()},
                }
            )
    return rows
