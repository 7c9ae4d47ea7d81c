"""What does a rank run, and how does it get its own copy?

A program is the user's function with its arguments. Each rank unpacks its own copy (``process.shipment`` packs by
value: functions from a notebook cell, a REPL or another function's body work). Simulated ranks get copies too: they
share an interpreter, and without a copy a list in a closure would be shared memory that no cluster has. (Module-level
variables of importable modules are shared in simulation.)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simdist.errors import DistBackendError

__all__ = ["Program"]


_OTHER_KINDS: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (inspect.isgeneratorfunction, "a generator function (it has a yield)"),
    (inspect.iscoroutinefunction, "an async function"),
    (inspect.isasyncgenfunction, "an async generator function"),
)


def _inner(fn: Any) -> Any:
    """The function inside partials, or the ``__call__`` of an object."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return fn if inspect.isroutine(fn) or inspect.isclass(fn) else type(fn).__call__


@dataclass(frozen=True)
class Program:
    """A function to be called as ``fn(rank, world_size, *args, **kwargs)`` on every rank."""

    fn: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not callable(self.fn):
            raise TypeError(f"the first argument must be a function of (rank, world_size, ...), got {self.fn!r}.")
        kind = next((words for is_kind, words in _OTHER_KINDS if is_kind(inspect.unwrap(_inner(self.fn)))), None)
        if kind is not None:
            raise TypeError(
                f"{self.name} is {kind}: calling it would run nothing of it. Write a plain function, in which send, recv and "
                "collectives block; simdist lets the other ranks go on meanwhile."
            )

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

    def copies(self, notes: list[str]) -> Callable[[], tuple[Any, ...]]:
        """A function that gives each rank its own (fn, args, kwargs), where ranks share a process.

        Args:
            notes: gets a sentence if they cannot be copied: then all ranks share one.
        """
        try:
            packed = self.pack()
        except DistBackendError as error:
            notes.append(f"all ranks share one copy of the function and its arguments: {error}")
            return lambda: (self.fn, self.args, dict(self.kwargs or {}))
        return lambda: Program.unpack(packed)

    @staticmethod
    def unpack(packed: bytes) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """A fresh copy of (fn, args, kwargs)."""
        import pickle

        fn, args, kwargs = pickle.loads(packed)
        return fn, args, kwargs
