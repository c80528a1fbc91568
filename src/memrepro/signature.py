"""What can move a number, and whether the number may stand beside the paper's."""

from typing import Any, Literal

from memrepro.digest import sha256_value
from memrepro.records import Record, SystemKind

Prompts = Literal["none", "own", "upstream"]

# The CIMemories paper's set-up (arXiv 2511.14937), the released results' in the released prompts.
PAPER_CIMEMORIES: dict[str, str | int] = {
    "profiles": "08101f8bf2ba387fa639a1218cbc8fb8c528742115f9fc5ee4305b2cd094b3cb",
    "labels": "import",
    "composition": "full",
    "trials": 5,
    "judge": "DeepSeek-R1-0528",
    "prompts": "upstream",
    "prompt_form": "released",
    "memory": "full_context",
    "recorded": "all",
}
# The InMind paper's set-up (arXiv 2607.24368; data pins in data/sources.toml).
PAPER_INMIND: dict[str, str | int] = {
    "tasks": "4e27c56047d1f7c3eaf21ad5b6662f638f81a434034546be08b85e09876675a4",
    "background": "aef51e8a4e606a3ac5ceafdc64d875a7f1f41a051dafd68dce45f9c90d626da1",
    "answer_model": "gpt-5-mini",
    "answer_cap": 16384,
    "judge": "gpt-5-mini",
    "judge_cap": 4096,
    "prompts": "upstream",
    "reading": "judged",
    "k": 5,
}

# What the retention benchmark's figures deviate from: sentences of its own, and nobody else's.
NO_PAPER = "paper: none has figures on this data"


class Signature(Record):
    """All that can move one metric of a system in one benchmark.

    `path` is where the metric stands in the metrics file, apart by slashes. `protocol` holds what
    else the benchmark lets vary: digests of its data, k, token caps and the like. `comparable` is
    true only where `deviations` is empty.
    """

    identity = ("path",)
    path: str
    benchmark: str
    system: str
    metric: str
    dataset: str
    kind: SystemKind
    implementation: str
    settings: dict[str, Any]
    answer_model: str
    judge: str
    prompts: Prompts
    reading: str
    raised_caps: int
    protocol: dict[str, Any]
    version: str
    digest: str
    comparable: bool
    deviations: tuple[str, ...]


def deviations(values: dict[str, Any], paper: dict[str, str | int] | None) -> tuple[str, ...]:
    """Every way in which a run differs from the paper's, in the order of the paper's keys."""
    if paper is None:
        return (NO_PAPER,)
    found = []
    values = {**values, **values["protocol"]}
    if values["kind"] == "oracle":
        found.append("kind: an oracle is handed the target, so it is never comparable")
    if values["raised_caps"]:
        found.append(f"raised_caps: {values['raised_caps']} replies came under a raised token cap")
    found += [
        f"{key}: {values[key]} here, {wanted} in the paper"
        for key, wanted in paper.items()
        if values[key] != wanted
    ]
    return tuple(found)


def sign(values: dict[str, Any], paper: dict[str, str | int] | None) -> Signature:
    """A signature from its values: the digest and the comparability verdict are added.

    Args:
        values: the other fields.
        paper: the paper's set-up; None where no paper has such figures.
    """
    differences = deviations(values, paper)
    return Signature(
        **values,
        digest=sha256_value(values),
        comparable=not differences,
        deviations=differences,
    )
