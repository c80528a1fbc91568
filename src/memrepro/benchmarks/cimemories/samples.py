"""Which samples of a results file a score is computed from."""

from collections import defaultdict
from collections.abc import Sequence

from memrepro.benchmarks.cimemories.results import SampleRow
from memrepro.errors import InputError


def select_samples(
    rows: Sequence[SampleRow],
    *,
    composition: str | None,
    samples: int | None,
    pooled: bool,
    where: str,
) -> list[SampleRow]:
    """Choose a composition, and of its trials the first `samples` of every context.

    Args:
        rows: every sample of the file.
        composition: the one to take; none takes all there are.
        samples: how many trials a context, in order of trial; none takes all.
        pooled: whether several compositions of one context count as trials of it, and contexts may
            differ in their number of trials (the released code's reading); otherwise both are
            refused, since Violation@n has one n.
        where: the file, for errors.

    Raises:
        InputError: no such composition, several in one context, fewer trials than asked for, or
            contexts with different numbers of trials.
    """
    if composition is not None:
        found = sorted({row.composition for row in rows})
        rows = [row for row in rows if row.composition == composition]
        if not rows:
            raise InputError(
                f"no context has composition {composition!r}",
                where="--composition",
                expected=", ".join(found[:5]) or "a file with combination_… entries",
            )
    groups: dict[tuple[int, int, str], list[SampleRow]] = defaultdict(list)
    for row in rows:
        groups[row.profile, row.place, row.composition].append(row)
    if not pooled:
        _refuse_several(groups, where)
    if samples is None and not pooled:
        _refuse_uneven({len(group) for group in groups.values()}, where)
    if samples is not None:
        _refuse_fewer(min(map(len, groups.values()), default=samples), samples)
    return [
        row
        for group in groups.values()
        for row in sorted(group, key=lambda row: row.trial)[:samples]
    ]


def _refuse_several(groups: dict[tuple[int, int, str], list[SampleRow]], where: str) -> None:
    first: dict[tuple[int, int], str] = {}
    for profile, place, composition in groups:
        other = first.setdefault((profile, place), composition)
        if other != composition:
            raise InputError(
                "a context has several compositions; the paper reading takes one",
                where=f"{where}, line {profile + 1}, field contexts[{place}]",
                found=f"{other}, {composition}",
                hint=f"--composition {other}",
            )


def _refuse_uneven(sizes: set[int], where: str) -> None:
    if len(sizes) > 1:
        raise InputError(
            "contexts differ in their number of samples; the paper reading takes one number",
            where=where,
            found=f"{min(sizes)} to {max(sizes)} samples",
            hint=f"--samples {min(sizes)}",
        )


def _refuse_fewer(least: int, samples: int) -> None:
    if least < samples:
        raise InputError(
            "a context has fewer samples than asked for",
            where="--samples",
            expected=f"at most {least}",
            found=samples,
        )
