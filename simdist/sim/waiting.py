"""What does a suspended task wait for?

A value that the deadlock report, ``Run.at`` and time-outs read: never a decision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from simdist.place import Place

__all__ = ["Reason", "Waiting"]


class Reason(Protocol):
    """Why a task is suspended: anything that can say so."""

    @property
    def what(self) -> str:
        """For a person: ``'recv from rank 1 (tag 0)'``."""

    def ranks(self) -> tuple[int, ...]:
        """The global ranks that must act before it can go on, as of now (none: it waits for the clock, or for work)."""

    def place(self, rank: int) -> Place | None:
        """The line at which ``rank`` made the call, if it is known."""


class Waiting(NamedTuple):
    """A reason that is known when the task is suspended."""

    what: str
    on: tuple[int, ...] | Callable[[], tuple[int, ...]] = ()
    where: Place | None = None

    def ranks(self) -> tuple[int, ...]:
        """The ranks that must act, as of now."""
        return self.on() if callable(self.on) else self.on

    def place(self, rank: int) -> Place | None:
        """The user's line."""
        return self.where
