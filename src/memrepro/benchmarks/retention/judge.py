"""Is a fact recalled: word for word, or, where something else came back, as a model judges.

The source's rule: a result equals the fact's text; if none does, and the fact was not blocked and
recall returned something, a model says whether a result still conveys it (for memories that store
facts in words of their own).
"""

from collections.abc import Iterable, Iterator, Mapping

from memrepro.digest import canonical_json
from memrepro.llm.call import Call, Reply
from memrepro.llm.verdict import parse_verdict, verdict_format
from memrepro.params import StructuredOutput
from memrepro.records import RetentionObservation, RetentionVerdict


def judged(
    observations: Iterable[RetentionObservation], texts: Mapping[str, str]
) -> Iterator[tuple[RetentionObservation, str]]:
    """The observations that need the model, each with its fact's text.

    Args:
        observations: of one system or several.
        texts: the facts' texts by `fact_id`.
    """
    for observation in observations:
        if needs_judge(observation):
            yield observation, texts[observation.fact_id]


def needs_judge(observation: RetentionObservation) -> bool:
    """Whether words of its own may hide the fact: kept, not found word for word, something back."""
    return not observation.blocked and not observation.exact and bool(observation.recalled)


def judge_call(
    prompt: str,
    text: str,
    observation: RetentionObservation,
    *,
    model: str,
    cap: int,
    temperature: float | None,
    structured_output: StructuredOutput,
) -> Call:
    """The request for one verdict; the fact and the results stand in one JSON object."""
    results = [item.text for item in observation.recalled]
    return Call(
        model=model,
        messages=(
            ("system", prompt),
            ("user", canonical_json({"fact": text, "results": results})),
        ),
        cap=cap,
        temperature=temperature,
        response_format=verdict_format(structured_output),
    )


def verdict(
    observation: RetentionObservation, reply: Reply, raised_cap: bool, *, judge: str
) -> RetentionVerdict:
    """The verdict on one observation: a score, or a judge error with its text kept.

    Args:
        observation: what was asked about.
        reply: what came of it.
        raised_cap: whether the reply came under a raised token cap.
        judge: the judging model's identity.
    """
    score = parse_verdict(reply.text) if reply.text is not None else None
    return RetentionVerdict(
        edition=observation.edition,
        mode=observation.mode,
        policy_id=observation.policy_id,
        fact_id=observation.fact_id,
        system=observation.system,
        judge=judge,
        status="judge_error" if score is None else "scored",
        score=score,
        key=reply.key,
        raw=None if score is not None else reply.text or reply.failure,
        raised_cap=raised_cap,
    )
