"""What does it mean to combine two contributions?

``ReduceOp`` has torch's names. Each row gives the numpy function that combines two arrays, and the kinds of numbers for
which it is defined, which are torch's. ``AVG`` is a sum that the owner of each chunk divides once, when the chunk is
complete (DESIGN: c10d sums, then divides; DDP divides, then sums). ``PREMUL_SUM`` is a sum of contributions that are
multiplied by a factor before they leave their rank: ``PremulSum(factor)`` says by which.

Truth values are added as ``or`` and multiplied as ``and``; whole numbers wrap around at the end of their range.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from simdist.errors import ReductionError

__all__ = ["ARITHMETIC", "PremulSum", "ReduceOp", "Reduction", "combine_into", "make_premul_sum", "reduction"]


class ReduceOp(enum.Enum):
    """How ``all_reduce``, ``reduce`` and ``reduce_scatter`` combine the ranks' values, element by element."""

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"
    BAND = "bitwise and"
    BOR = "bitwise or"
    BXOR = "bitwise exclusive or"
    PREMUL_SUM = "sum of multiples"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is a Python function

    @property
    def combine(self) -> np.ufunc:
        """The numpy function of two arrays (AVG: the sum; the division comes after)."""
        return _ROWS[self].combine

    def __repr__(self) -> str:
        return f"ReduceOp.{self.name}"


ARITHMETIC = (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX)
"""The reductions that are defined for real numbers without any further word."""


@dataclass(frozen=True)
class PremulSum:
    """A sum of contributions, each multiplied by ``factor`` on its rank. Made by ``_make_nccl_premul_sum``, as in torch."""

    factor: float

    @property
    def name(self) -> str:
        """``PREMUL_SUM(0.5)``."""
        return f"PREMUL_SUM({self.factor!r})"


def make_premul_sum(factor: float) -> PremulSum:
    """The reduction that adds ``factor`` times each contribution."""
    return PremulSum(float(factor))


class _Row(NamedTuple):
    combine: np.ufunc
    kinds: str  # numpy's letters: b truth values, i and u whole numbers, f real, c complex
    why: str = ""


_ORDER = "complex numbers have no such reduction in torch"
_WHOLE = "bitwise reductions need whole numbers or truth values"
_ROWS: dict[ReduceOp, _Row] = {
    ReduceOp.SUM: _Row(np.add, "biufc"),
    ReduceOp.AVG: _Row(
        np.add, "fc", "an average is not a whole number; reduce with SUM and divide, or convert to float"
    ),
    ReduceOp.PRODUCT: _Row(np.multiply, "biuf", _ORDER),
    ReduceOp.MIN: _Row(np.minimum, "biuf", _ORDER),
    ReduceOp.MAX: _Row(np.maximum, "biuf", _ORDER),
    ReduceOp.BAND: _Row(np.bitwise_and, "biu", _WHOLE),
    ReduceOp.BOR: _Row(np.bitwise_or, "biu", _WHOLE),
    ReduceOp.BXOR: _Row(np.bitwise_xor, "biu", _WHOLE),
    ReduceOp.PREMUL_SUM: _Row(np.add, "", "it needs its factor: op=dist._make_nccl_premul_sum(0.5)"),
}
_PREMUL = _Row(np.add, "fc", "a factor is not a whole number; convert to float")


class Reduction(NamedTuple):
    """A reduction that can be done.

    Attributes:
        name: for texts and for the comparison between ranks.
        combine: how to combine two contributions.
        averages: whether the result is divided by the number of ranks.
        factor: what each contribution is multiplied by before it leaves, or None.
    """

    name: str
    combine: np.ufunc
    averages: bool = False
    factor: float | None = None


def reduction(op: Any, dtype: np.dtype[Any], what: str) -> Reduction:
    """What ``op`` asks for.

    Args:
        op: a ReduceOp or a PremulSum.
        dtype: of the numbers.
        what: the call, for texts.

    Raises:
        TypeError: ``op`` is something else.
        ReductionError: it is not defined for this dtype.
    """
    if op.__class__ is ReduceOp:
        row, factor, name = _ROWS[op], None, str(op.name)
    elif op.__class__ is PremulSum:
        row, factor, name = _PREMUL, op.factor, op.name
    else:
        raise TypeError(f"{what}: op must be a ReduceOp (ReduceOp.SUM, ...), got {op!r}.")
    if dtype.kind not in row.kinds:
        raise ReductionError(f"{what}: ReduceOp.{name} of {dtype}: {row.why}.")
    return Reduction(name, row.combine, op is ReduceOp.AVG, factor)


def combine_into(buf: Any, received: Any, combine: np.ufunc | None, received_is_lower: bool) -> None:
    """Write (or fold) a received message into ``buf``: the value of the lower rank is the left operand."""
    if combine is None:
        buf[...] = received
    elif received_is_lower:
        combine(received, buf, out=buf)
    else:
        combine(buf, received, out=buf)
