"""What does a rank run, and how does it get its own copy?

A program is the user's function with its arguments, packed by value with cloudpickle: functions from a notebook cell,
a REPL or another function's body work. Each rank unpacks its own copy, simulated ranks too: they share an
interpreter, and without it a list in a closure would be shared memory that no cluster has. (Module-level variables of
importable modules are shared in simulation.)
"""

from __future__ import annotations

import io
import threading
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simdist.errors import SimdistError

__all__ = ["Program", "UnpicklableError"]


class UnpicklableError(SimdistError, TypeError):
    """A function or an argument that cannot be copied to another process."""


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
            UnpicklableError: something in it cannot be copied; names the function, the object, the remedy.
        """
        import cloudpickle

        try:
            return bytes(cloudpickle.dumps((self.fn, self.args, dict(self.kwargs or {}))))
        except Exception as error:
            raise UnpicklableError(self._why(error)) from None

    def _why(self, error: Exception) -> str:
        culprit = _culprit(self.fn, self.args, dict(self.kwargs or {}))
        what = f": {culprit} cannot be pickled" if culprit else ""
        return (
            f"the function {self.name!r} cannot be copied to the ranks{what} ({error}). Create such things (locks, files, "
            "sockets, generators) inside the function, or pass a name instead of the thing; backend='sim' can also run it "
            "without a copy."
        )

    @staticmethod
    def unpack(packed: bytes) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """A fresh copy of (fn, args, kwargs)."""
        import pickle

        fn, args, kwargs = pickle.load(io.BytesIO(packed))
        return fn, args, kwargs


def _culprit(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The variable that cannot be pickled, as well as it can be found: an argument, a closure's cell, a global."""
    candidates = [(f"argument {i}", value) for i, value in enumerate(args)]
    candidates += [(f"argument {name!r}", value) for name, value in kwargs.items()]
    code = getattr(fn, "__code__", None)
    if code is not None:
        cells = getattr(fn, "__closure__", None) or ()
        for name, cell in zip(code.co_freevars, cells, strict=False):
            candidates.append((f"the captured variable {name!r}", cell.cell_contents))
        scope = getattr(fn, "__globals__", {})
        candidates += [(f"the global variable {name!r}", scope[name]) for name in code.co_names if name in scope]
    for name, value in candidates:
        if not isinstance(value, types.ModuleType) and not _can_pickle(value):
            return f"{name} ({type(value).__name__})"
    return ""


def _can_pickle(value: object) -> bool:
    import cloudpickle

    if isinstance(value, threading.Thread):
        return False
    try:
        cloudpickle.dumps(value)
    except Exception:
        return False
    return True
