"""Which backends are there?

A row per backend: its name, what it is, and where its ``launch`` function is. The function is imported when it is
first used, so that a simulation never loads what real processes need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

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
        station: ``"module:function"`` that gives (rank, number of processes) of this process, where the processes of a run were
            there before it; empty where the backend makes its ranks itself.
    """

    name: str
    what: str
    target: str
    station: str = ""

    def load(self) -> Callable[..., Outcome]:
        """Import and return the launch function."""
        return cast("Callable[..., Outcome]", _named(self.target))

    def place(self) -> tuple[int, int] | None:
        """(rank, number of processes) of this process, or None if the backend makes its ranks itself."""
        return cast("tuple[int, int]", _named(self.station)()) if self.station else None


def _named(path: str) -> Any:
    module, _, function = path.partition(":")
    return getattr(import_module(module, __package__), function)


BACKENDS: dict[str, Backend] = {
    row.name: row
    for row in (
        Backend("sim", "all ranks in this process under a simulated clock", ".sim:launch"),
        Backend("process", "one local process per rank, for real", ".process_world:launch"),
        Backend(
            "mpi", "one MPI process per rank, on one machine or several", ".mpi.launcher:launch", ".mpi.library:station"
        ),
    )
}


def find(name: str) -> Backend:
    """The backend ``name``.

    Raises:
        UnknownNameError: there is no such backend.
    """
    if name not in BACKENDS:
        raise UnknownNameError("backend", name, BACKENDS)
    return BACKENDS[name]
