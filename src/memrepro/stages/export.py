"""A system's recorded contexts and answers as rows of the released submission format."""

from pathlib import Path

from memrepro.benchmarks.inmind.submission import submission_row
from memrepro.files import read_records
from memrepro.params import Params, model_of, system_params
from memrepro.records import InMindAnswer, QueryKind
from memrepro.stages.contexts import Contexts
from memrepro.stages.declarations.base import runs_folder


def export_submission(root: Path, params: Params, system: str) -> list[str]:
    """Submission rows as JSON lines, by task id.

    Where no model has answered, or its call failed, the answer is an empty string.

    Raises:
        InputError: the system was not run.
        CheckFailed: a context does not have its recorded digest.
    """
    settings = system_params(params, "inmind", system).settings
    folder = root / runs_folder(params, "inmind")
    contexts = Contexts(folder / "contexts" / system)
    answers: dict[tuple[int, QueryKind], str] = {}
    file, model = folder / "answers" / f"{system}.jsonl", None
    if file.is_file():
        model = model_of(params, params.inmind.answer.model).identity
        answers = {
            (row.task_id, row.query_kind): row.text or ""
            for row in read_records(file, InMindAnswer)
            if row.condition == "with_target"
        }
    config = {**settings, "k": params.inmind.k, "answer_model": model}

    def turn(task_id: int, kind: QueryKind) -> tuple[str, str]:
        context = contexts.text((task_id, kind, "with_target"))
        return context, answers.get((task_id, kind), "")

    return [
        submission_row(
            task_id, system, config, [turn(task_id, "naive"), turn(task_id, "indirect")]
        ).model_dump_json()
        for task_id in sorted({row.task_id for row in contexts.rows})
    ]
