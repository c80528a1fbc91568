"""Retention decisions, pure: whether a policy statement prohibits a text, by rules or by a model.

Rules are keywords a statement. They miss what is told without the keyword, and in substring mode
they block what holds it inside an unrelated word: both are there to be measured.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from memrepro.digest import sha256_value
from memrepro.records import DecidedBy, RetentionMode

Match = Literal["word", "substring"]
OnUndecided = Literal["block", "store"]
Rules = Mapping[str, Sequence[str]]
# (fact's text, policy statement) → 1 prohibited, 0 permitted, None where the model failed.
Ask = Callable[[str, str], int | None]

MODES: tuple[RetentionMode, ...] = ("none", "deterministic", "hybrid", "llm")
MATCHES: tuple[Match, ...] = ("word", "substring")
ON_UNDECIDED: tuple[OnUndecided, ...] = ("block", "store")


@dataclass(frozen=True)
class Governance:
    """How policies are enforced.

    Args:
        mode: none enforces nothing; deterministic asks the rules, llm the model, hybrid the rules
            and then, for what they miss, the model.
        match: whether a keyword must stand as a word, or may stand anywhere.
        on_undecided: what happens to a fact on which the model gave no verdict.
        rules: keywords by policy statement; None is no table, and then no rule is enforced.
    """

    mode: RetentionMode
    match: Match = "word"
    on_undecided: OnUndecided = "block"
    rules: Rules | None = None

    def digest(self) -> str:
        """SHA-256 of all four."""
        rules = None if self.rules is None else {key: list(of) for key, of in self.rules.items()}
        return sha256_value([self.mode, self.match, self.on_undecided, rules])


class Decision(NamedTuple):
    """What was decided on a text, by whom, and the keyword that matched."""

    blocked: bool
    decided_by: DecidedBy
    rule: str | None = None


UNGOVERNED = Decision(blocked=False, decided_by="nothing")


def normalise(text: str) -> str:
    """Compatibility forms and case folded, every run of white space one space, none at the ends."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def first_match(text: str, keywords: Iterable[str], match: Match = "word") -> str | None:
    """The first of the keywords, in their order, that stands in a text; None if none does."""
    found = normalise(text)
    return next((key for key in keywords if _pattern(key, match).search(found)), None)


@functools.lru_cache(maxsize=1 << 12)
def _pattern(keyword: str, match: Match) -> re.Pattern[str]:
    escaped = re.escape(normalise(keyword))
    return re.compile(escaped if match == "substring" else rf"(?<!\w){escaped}(?!\w)")


def decide(
    text: str, statement: str | None, governance: Governance, ask: Ask | None = None
) -> Decision:
    """Whether a text may be kept under a policy statement.

    Args:
        text: the fact.
        statement: the policy; None where none is set, which permits everything.
        governance: how it is enforced. A statement without an entry in the rules matches none of
            them: `policy.configuration` refuses that before a run.
        ask: the model, for hybrid and llm.

    Raises:
        ValueError: the mode needs a model, and none is handed in.
    """
    if statement is None or governance.mode == "none":
        return UNGOVERNED
    if governance.mode != "llm" and governance.rules is not None:
        rule = first_match(text, governance.rules.get(statement, ()), governance.match)
        if rule is not None or governance.mode == "deterministic":
            return Decision(rule is not None, "rules", rule)
    if governance.mode == "deterministic":
        return UNGOVERNED
    if ask is None:
        raise ValueError(f"mode {governance.mode} asks a model, and none is handed in")
    verdict = ask(text, statement)
    if verdict is None:
        return Decision(governance.on_undecided == "block", "undecided")
    return Decision(verdict == 1, "model")
