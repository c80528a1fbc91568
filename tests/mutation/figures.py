"""The figures of a mutation run, from what `mutmut results --all true` says of each mutant."""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable

REQUIRED = 0.9
# What mutmut may say of a mutant, and what is counted: only a failed test is a kill.
COUNTED = {
    "killed": "killed",
    "survived": "survived",
    "no tests": "survived",
    "timeout": "timeout",
}
HEADER = ("module", "mutants", "killed", "survived", "timeout", "share")
NOTE = (
    "Not mutated by mutmut: lines outside functions, and decorated functions (`ledger.open_store`,"
    " `score.Labelled`)."
)

Figures = dict[str, Counter[str]]


def read(lines: Iterable[str]) -> Figures:
    """Counts by module of lines `    memrepro.stats.x_wilson__mutmut_7: killed`.

    Raises:
        ValueError: a mutant was not decided, or there is none.
    """
    figures: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        mutant, _, status = line.strip().rpartition(": ")
        if status not in COUNTED:
            raise ValueError(f"not decided: {line.strip()}")
        # A function's name begins with x_, a method's with xǁ.
        module = mutant[: max(mutant.rfind(".x_"), mutant.rfind(".xǁ"))]
        figures[module][COUNTED[status]] += 1
    if not figures:
        raise ValueError("no mutants")
    return dict(figures)


def share(counts: Counter[str]) -> float:
    """The killed among all mutants."""
    return counts["killed"] / counts.total()


def table(figures: Figures) -> str:
    """A line a module and one for all, in columns."""
    rows: list[tuple[str, ...]] = [HEADER]
    named = [*sorted(figures.items()), ("all", sum(figures.values(), Counter()))]
    for name, counts in named:
        numbers = (counts.total(), counts["killed"], counts["survived"], counts["timeout"])
        # Rounded down: a share that is under the limit never reads as the limit.
        per_mille = 1000 * counts["killed"] // counts.total()
        rows.append((name, *map(str, numbers), f"{per_mille / 10:.1f}%"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        )
        for row in rows
    )


def main() -> int:
    """Print the table; 1 if a module is under the share that is required."""
    figures = read(sys.stdin)
    print(table(figures), NOTE, sep="\n")
    under = [name for name, counts in sorted(figures.items()) if share(counts) < REQUIRED]
    for name in under:
        print(f"{name}: under {REQUIRED:.0%} killed", file=sys.stderr)
    return 1 if under else 0


if __name__ == "__main__":
    sys.exit(main())
