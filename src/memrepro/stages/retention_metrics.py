"""What the metrics stage asks of the retention benchmark: its metrics, and what can move them."""

from pathlib import Path
from typing import Any

from memrepro.params import model_of
from memrepro.stages.pinned import committed
from memrepro.stages.work import Work
from memrepro.store.retention import Metrics, retention_metrics, retention_table


def score_files(work: Work) -> list[Path]:
    """The score file of every system that runs."""
    folder = work.read("retention", "scores")
    return [folder / f"{name}.jsonl" for name in work.params.systems.retention]


def metrics_of(work: Work) -> Metrics:
    """The metrics by edition, system and mode; none where no system runs."""
    files = score_files(work)
    return retention_metrics(files) if files else {}


def raised_caps(work: Work) -> dict[tuple[str, str, str], int]:
    """How many scores, by edition, system and mode, rest on a reply under a raised token cap."""
    files = score_files(work)
    rows = retention_table(files, "raised_caps") if files else []
    return {(row["edition"], row["system"], row["mode"]): row["n"] for row in rows}


def judging_of(work: Work, system: str, mode: str) -> dict[str, str]:
    """Which models and prompts have a part in a system's scores in a mode."""
    params = work.params
    if system not in params.model_systems.retention:
        return {}
    return {
        "judge": model_of(params, params.retention.judge.model).identity,
        "prompts": "own",
    }


def protocol_of(work: Work, edition: str, mode: str) -> dict[str, Any]:
    """What else can move a score: data, rules, how policies are enforced and by which model."""
    settings = work.params.retention
    pins = committed(work.root)
    by_model = mode in settings.model_modes
    ruled = mode in ("deterministic", "hybrid")
    guard = settings.guard
    return {
        "dataset": pins[settings.editions[edition].dataset_path],
        "policies": pins[settings.data.policies],
        "policy_ids": settings.policy_ids,
        "limit": settings.limit,
        "k": settings.k,
        "rules": pins[settings.data.rules] if ruled else None,
        "match": settings.match if ruled else None,
        "guard_model": model_of(work.params, guard.model).identity if by_model else None,
        "guard_cap": guard.cap if by_model else None,
        "guard_prompt": pins[f"{settings.data.prompts}/guard.txt"] if by_model else None,
        "on_undecided": settings.on_undecided if by_model else None,
        "recorded_policies": settings.recorded.policies if by_model else None,
        "judge_cap": settings.judge.cap,
        "judge_prompt": pins[f"{settings.data.prompts}/judge.txt"],
    }
