"""What is one line of the table?"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MARKS", "Criterion"]

MARKS: dict[bool | None, str] = {True: "✔", False: "✘", None: "–"}
"""Met, not met, not reached."""


class Criterion(NamedTuple):
    """One criterion and how the learner's function did.

    Attributes:
        name: what is measured.
        yours: what was found, in words.
        limit: what is allowed, in words.
        met: True, False, or None if it was not reached because something before it failed.
        lesson: what to try, if it is not met.
    """

    name: str
    yours: str
    limit: str
    met: bool | None
    lesson: str = ""

    @property
    def passed(self) -> bool:
        """Whether it was reached and met."""
        return self.met is True

    @property
    def mark(self) -> str:
        """✔, ✘ or –."""
        return MARKS[self.met]

    def __str__(self) -> str:
        return f"{self.name}: {self.yours} ({self.limit}) {self.mark}"
