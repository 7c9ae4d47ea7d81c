"""What does a rank run, and how does it get its own copy?

A program is the user's function with its arguments. Each rank unpacks its own copy (``process.shipment`` packs by
value: functions from a notebook cell, a REPL or another function's body work). Simulated ranks get copies too: they
share an interpreter, and without a copy a list in a closure would be shared memory that no cluster has. (Module-level
variables of importable modules are shared in simulation.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Program"]


@dataclass(frozen=True)
class Program:
    """A function to be called as ``fn(rank, world_size, *args, **kwargs)`` on every rank."""

    fn: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """The function's name, for texts."""
        return getattr(self.fn, "__qualname__", repr(self.fn))

    def pack(self) -> bytes:
        """The program by value.

        Raises:
            DistBackendError: something in it cannot be copied; names the function, the object, the remedy.
        """
        from simdist.backends.process.shipment import ship

        return ship(self.fn, self.args, dict(self.kwargs or {}))

    @staticmethod
    def unpack(packed: bytes) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """A fresh copy of (fn, args, kwargs)."""
        import pickle

        fn, args, kwargs = pickle.loads(packed)
        return fn, args, kwargs
