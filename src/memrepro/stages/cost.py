"""What a recording would cost: the calls' own prompts, counted before any is sent."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memrepro.errors import InputError
from memrepro.llm.call import Call, Reply
from memrepro.llm.ledger import read_shard
from memrepro.llm.tokens import token_counter
from memrepro.params import ModelStep, Params, model_of
from memrepro.stages.declarations.base import shard_path
from memrepro.stages.steps import BENCHMARKS, Step, recorded_names, step_calls, steps, systems_of


class Cost(NamedTuple):
    """One step of one system; money in US dollars, for the calls that are not recorded."""

    benchmark: str
    step: str
    system: str
    calls: int
    recorded: int
    prompt_tokens: int
    likely: float
    at_most: float


def estimate(
    root: Path,
    params: Params,
    *,
    model: str | None = None,
    benchmark: str | None = None,
    system: str | None = None,
    output_tokens: int,
    vocabularies: str | None,
) -> tuple[list[Cost], str]:
    """Estimate the systems that the params name.

    Args:
        root: the project, in which the contexts are reproduced.
        params: the dataset's params.
        model: a row of `models` that stands in for those of the steps, or None.
        benchmark: the one to estimate, or None for all.
        system: the one to estimate, or None for all.
        output_tokens: how many tokens a reply is taken to have, if its cap allows for them.
        vocabularies: the folder of tiktoken's files, if there is one.

    Returns:
        A row for each step and system, and how the tokens were counted.

    Raises:
        InputError: no such model or system, or a stage's output is missing.
    """
    if model is not None:
        params = _with_model(params, model)
    asked = [
        (one, name, step)
        for one in ((benchmark,) if benchmark else BENCHMARKS)
        for name in dict.fromkeys((*recorded_names(params, one), *systems_of(params, one)))
        for step in steps(params, one, name)
    ]
    if system is not None and system not in {name for _, name, _ in asked}:
        raise InputError(
            "no such system in the params",
            where="--system",
            expected=", ".join(sorted({name for _, name, _ in asked})),
            found=system,
        )
    rows, ways = [], []
    for one, name, step in asked:
        if system in (None, name):
            served = model_of(params, step.settings.model).name
            counter, way = token_counter(served, vocabularies)
            rows.append(_cost(root, params, one, step, name, counter, output_tokens))
            ways.append(way)
    return rows, "; ".join(dict.fromkeys(ways))


def _with_model(params: Params, model: str) -> Params:
    """The params as if every step asked one model."""
    changed = {}
    for benchmark in BENCHMARKS:
        settings = getattr(params, benchmark)
        asked = {
            name: step.model_copy(update={"model": model})
            for name in type(settings).model_fields
            if isinstance(step := getattr(settings, name), ModelStep)
        }
        changed[benchmark] = settings.model_copy(update=asked)
    return params.model_copy(update=changed)


def _cost(
    root: Path,
    params: Params,
    benchmark: str,
    step: Step,
    system: str,
    counter: Callable[[str], int],
    output_tokens: int,
) -> Cost:
    model = model_of(params, step.settings.model)
    found: dict[str, Reply] = {}
    for one in steps(params, benchmark, system):
        path = root / shard_path(params, benchmark, one.name, system)
        if path.is_file():
            found |= read_shard(path)

    def find(key: str) -> Reply | None:
        # A judge's prompt holds the answer; one that is not there yet is taken to be as long as
        # every reply is taken to be.
        return found.get(key) or _stand_in(key, output_tokens)

    reply_tokens = min(output_tokens, step.settings.cap)

    # Equal calls are one: it is sent and paid once.
    sizes = {
        call.key(): _prompt_tokens(call, counter)
        for call in step_calls(root, params, step, system, find)
    }
    open_tokens = sum(size for key, size in sizes.items() if key not in found)
    missing = len(sizes.keys() - found.keys())
    prompt = open_tokens * model.price_input / 1e6
    return Cost(
        benchmark=benchmark,
        step=step.name,
        system=system,
        calls=len(sizes),
        recorded=len(sizes) - missing,
        prompt_tokens=sum(sizes.values()),
        likely=prompt + missing * reply_tokens * model.price_output / 1e6,
        at_most=prompt + missing * step.settings.cap * model.price_output / 1e6,
    )


def _stand_in(key: str, tokens: int) -> Reply:
    """A reply yet to come; its key is in it, or the calls that hold it would be taken for one."""
    return Reply(
        key=key,
        text=f"{key[:8]} {'word ' * (tokens - 2)}",
        failure=None,
        detail=None,
        finish_reason="stop",
        prompt_tokens=None,
        completion_tokens=None,
        model=None,
    )


def _prompt_tokens(call: Call, counter: Callable[[str], int]) -> int:
    # Every message costs a few tokens of framing beside its text (OpenAI's cookbook says 3 + 3).
    return 3 + sum(3 + counter(content) for _, content in call.messages)
