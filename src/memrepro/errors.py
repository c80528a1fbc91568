"""One tree of errors; each says what is wrong, where, what was expected, and what to type next."""

from typing import ClassVar


class MemreproError(Exception):
    """Base of every error that a user can cause or meet.

    Args:
        what: one sentence that says what is wrong.
        where: file, line, field or key at fault.
        expected: what should have been there.
        found: what was there instead.
        hint: one thing that can be typed or edited to mend it.
    """

    exit_code: ClassVar[int] = 2

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        expected: object = None,
        found: object = None,
        hint: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.expected = expected
        self.found = found
        self.hint = hint
        super().__init__(what)

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.expected is not None:
            lines.append(f"  expected: {self.expected}")
        if self.found is not None:
            lines.append(f"  found:    {self.found}")
        if self.hint:
            lines.append(f"  hint:     {self.hint}")
        return "\n".join(lines)


class CheckFailed(MemreproError):
    """A check ran and its answer is no (exit 1)."""

    exit_code = 1


class InputError(MemreproError):
    """A file, option or parameter cannot be used (exit 2)."""

    exit_code = 2


class ProtocolError(MemreproError):
    """A benchmark's protocol was violated by the data or by a memory system (exit 1)."""

    exit_code = 1


class Stopped(MemreproError):
    """A budget or the user stopped the work; it can be resumed (exit 3)."""

    exit_code = 3


class ReplayMiss(MemreproError):
    """A recorded model reply is missing (exit 4)."""

    exit_code = 4


class ServiceError(MemreproError):
    """Something outside failed: a download origin, a model server, the disk (exit 5)."""

    exit_code = 5
