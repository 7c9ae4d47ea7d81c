"""Which backends are there?

A row per backend: its name, what it is, and where its ``launch`` function is. The function is imported when it is
first used, so that a simulation never loads what real processes need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from simdist.errors import UnknownNameError

from .settings import Outcome

__all__ = ["BACKENDS", "Backend", "find"]


@dataclass(frozen=True)
class Backend:
    """How to find a backend.

    Attributes:
        name: what a person types.
        what: one sentence about it.
        target: ``"module:function"`` of its launch function.
    """

    name: str
    what: str
    target: str

    def load(self) -> Callable[..., Outcome]:
        """Import and return the launch function."""
        module, _, function = self.target.partition(":")
        found: Callable[..., Outcome] = getattr(import_module(module, __package__), function)
        return found


BACKENDS: dict[str, Backend] = {
    row.name: row
    for row in (
        Backend("sim", "all ranks in this process under a simulated clock", ".sim:launch"),
        Backend("process", "one local process per rank, for real", ".process_world:launch"),
    )
}


def find(name: str) -> Any:
    """The launch function of the backend ``name``.

    Raises:
        UnknownNameError: there is no such backend.
    """
    if name not in BACKENDS:
        raise UnknownNameError("backend", name, BACKENDS)
    return BACKENDS[name].load()
