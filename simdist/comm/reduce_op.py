"""What does it mean to combine two contributions?

``ReduceOp`` has torch's names. Each row gives the numpy function that combines two arrays; ``AVG`` is a sum that the
owner of each chunk divides once, when the chunk is complete (DESIGN: c10d sums, then divides; DDP divides, then
sums).
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

__all__ = ["ReduceOp", "combine_into"]


class ReduceOp(enum.Enum):
    """How ``all_reduce``, ``reduce`` and ``reduce_scatter`` combine the ranks' values, element by element."""

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is a Python function

    @property
    def combine(self) -> np.ufunc:
        """The numpy function of two arrays (AVG: the sum; the division comes after)."""
        return _COMBINE[self]

    def __repr__(self) -> str:
        return f"ReduceOp.{self.name}"


_COMBINE: dict[ReduceOp, np.ufunc] = {
    ReduceOp.SUM: np.add,
    ReduceOp.AVG: np.add,
    ReduceOp.PRODUCT: np.multiply,
    ReduceOp.MIN: np.minimum,
    ReduceOp.MAX: np.maximum,
}


def combine_into(buf: Any, received: Any, combine: np.ufunc | None, received_is_lower: bool) -> None:
    """Write (or fold) a received message into ``buf``: the value of the lower rank is the left operand."""
    if combine is None:
        buf[...] = received
    elif received_is_lower:
        combine(received, buf, out=buf)
    else:
        combine(buf, received, out=buf)
