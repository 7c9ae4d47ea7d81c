"""Who hears that a primitive ran?

The tensor package does not know that there is a clock. It announces each primitive (forward, backward, optimizer update) and
each array it keeps to one listener, if there is one; the simulator's listener bills time and counts memory. Without a
listener the announcement is one comparison with ``None``, so plain numpy speed stays.

The listener is one of the three context variables of simdist (with the current rank and the gradient mode): torch's API has
no argument to carry it. Each simulated rank runs in its own context and sees its own listener.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Protocol

__all__ = ["MEMORY_KINDS", "Allocation", "Listener", "current_listener", "listener"]

MEMORY_KINDS = ("parameters", "gradients", "optimizer", "activations", "buckets", "workspace", "inputs")
"""The classes of memory that an allocator counts apart."""


class Allocation(Protocol):
    """A token for bytes that are held: the memory is freed when the last reference to the token dies."""

    def reclassify(self, kind: str) -> None:
        """Count the bytes under another class from now on (a fresh tensor becomes a parameter)."""


class Listener(Protocol):
    """What the simulator gives to the tensor package."""

    def primitive(
        self, name: str, phase: str, flops: float, nbytes: float, dtype: Any, matmul: tuple[int, int, int] | None
    ) -> None:
        """A primitive ran.

        Args:
            name: the primitive's row: ``"matmul"``, ``"gelu"``, ``"sgd"``.
            phase: ``"forward"``, ``"backward"`` or ``"optimizer"``.
            flops: floating point operations done.
            nbytes: bytes read and written by an implementation that touches each operand once.
            dtype: numpy dtype of the result: the peak rate depends on it.
            matmul: (m, n, k) where the primitive is a matrix product (a batch is folded into m), else None: the
                efficiency of an accelerator depends on the size.
        """

    def allocate(self, nbytes: int, kind: str) -> Allocation:
        """``nbytes`` are held from now on; keep the token as long as the bytes live."""


listener: ContextVar[Listener | None] = ContextVar("simdist_listener", default=None)

current_listener = listener.get
"""The listener of the running rank, or None."""
