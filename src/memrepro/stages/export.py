"""A system's recorded contexts as rows of the released submission format."""

from pathlib import Path

from memrepro.benchmarks.inmind.submission import submission_row
from memrepro.digest import sha256_text
from memrepro.errors import CheckFailed
from memrepro.files import read_records
from memrepro.memory.base import render
from memrepro.params import Params, system_params
from memrepro.records import InMindContext, Recalled, RecalledItem
from memrepro.stages.declarations import inmind_folder


def read_contexts(root: Path, params: Params, system: str) -> dict[tuple[int, str], str]:
    """The exact context shown, by (task id, query kind), on the history with the target.

    Raises:
        InputError: the system was not run.
        CheckFailed: a rendered context does not have its recorded digest.
    """
    system_params(params, "inmind", system)
    folder = root / inmind_folder(params) / "contexts" / system
    rows = read_records(folder / "contexts.jsonl", InMindContext, hint="dvc repro")
    items = read_records(folder / "items.jsonl", RecalledItem, hint="dvc repro")
    contexts: dict[tuple[int, str], str] = {}
    for row in rows:
        if row.condition == "with_target":
            recalled = [Recalled(id=items[item].id, text=items[item].text) for item in row.items]
            text = render(recalled)
            if sha256_text(text) != row.context_sha256:
                raise CheckFailed(
                    f"the context of task {row.task_id} is not the one recorded",
                    where=str(folder),
                    expected=row.context_sha256,
                    found=sha256_text(text),
                    hint="dvc repro --force",
                )
            contexts[row.task_id, row.query_kind] = text
    return contexts


def export_submission(root: Path, params: Params, system: str) -> list[str]:
    """Submission rows as JSON lines, by task id; answers are empty strings, as none was made."""
    contexts = read_contexts(root, params, system)
    settings = system_params(params, "inmind", system).settings
    config = {**settings, "k": params.inmind.k, "answer_model": None}
    return [
        submission_row(
            task_id,
            system,
            config,
            [(contexts[task_id, "naive"], ""), (contexts[task_id, "indirect"], "")],
        ).model_dump_json()
        for task_id in sorted({task_id for task_id, _ in contexts})
    ]
