"""All facts but those of domains that a rule forbids the recipient of the message."""

import re
from collections.abc import Mapping

from memrepro.digest import sha256_value
from memrepro.memory.base import Resources, Tagged
from memrepro.memory.history import TranscriptSystem, as_recalled
from memrepro.records import Recalled

# Which domains a kind of recipient may be told, by a word of its name; the first that fits counts.
# A rule of this system's own: it knows no task, and it is not the table that labels by rule.
_MAY_BE_TOLD: tuple[tuple[str, str], ...] = (
    ("therapist|psychiatrist|psychologist|counsell?or|crisis|support group",
     "health mental_health relationships schedule"),
    ("doctor|physician|nurse|pharmacist|dentist|clinic|hospital|medical|health|emergency",
     "health mental_health schedule"),
    ("attorney|lawyer|solicitor|court|judge|mediator|probation|police|immigration|consular",
     "legal finance relationships"),
    ("bank|loan|lender|credit|financial|accountant|tax|mortgage|broker|insurer|insurance",
     "finance employment housing"),
    ("employer|manager|supervisor|boss|hr|recruiter|team|colleague|performance",
     "employment education schedule"),
    ("school|college|university|professor|admissions|academic|teacher|department|campus|tutor",
     "education schedule finance"),
    ("landlord|housing|building|property|tenant|estate|roommate|neighbou?r",
     "housing finance schedule"),
    ("spouse|partner|wife|husband|friend|family|parent|mother|father|sister|brother|custody",
     "relationships schedule housing health"),
)  # fmt: skip
_ANYBODY = frozenset({"general", "schedule"})


def may_be_told(recipient: str) -> frozenset[str]:
    """The domains that the rule allows a recipient, whatever the task."""
    for words, domains in _MAY_BE_TOLD:
        if re.search(rf"\b(?:{words})\b", recipient.casefold()):
            return frozenset({"general", *domains.split()})
    return _ANYBODY


class DomainGuard(TranscriptSystem, Tagged):
    """Recalls every fact whose domain the recipient may be told; the query begins with the name.

    A fact without a domain is held back.
    """

    ignores_k = True

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._domains: dict[str, str] = {}

    def tag(self, domains: Mapping[str, str]) -> None:
        """Hold these domains, instead of any held before."""
        self._domains = dict(domains)

    def recall(self, query: str, k: int) -> list[Recalled]:
        """The facts allowed, in order of ingestion."""
        told = may_be_told(query.partition(":")[0])
        return as_recalled(
            turn for turn in self.history.turns if self._domains.get(turn.id) in told
        )

    def digest(self) -> str:
        """SHA-256 of the history's digest and the domains."""
        return sha256_value([super().digest(), self._domains])
