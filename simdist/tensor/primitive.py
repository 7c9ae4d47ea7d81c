"""What is one primitive?

A row: a name, the value as a function of arrays, the gradient rule, and how much arithmetic it is. Everything a Tensor can do
is a row; to add an operation, add a row. The value functions are written with the part of numpy that ``ndarray`` and
``MetaArray`` share, so the same row computes numbers or only shapes.

Rules that every row keeps:

1. ``value(*arrays, *params)`` returns ``(result, saved)``; ``saved`` is the tuple of arrays (and numbers) that the gradient
   needs, and nothing else is kept alive by the tape.
2. ``gradient(g, saved, needs)`` returns one gradient per input, None where ``needs[i]`` is None. A returned array is new, or a
   view, or ``g`` itself; the same new array is not returned twice. ``g`` and ``saved`` are never changed.
3. Gradients reach the leaves in the order of the inputs. That order is torch's, and data-parallel buckets depend on it, so a
   linear layer lists its bias before its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["ROWS", "Array", "Primitive", "Work", "elements", "register"]

Array = Any
"""An ndarray or a MetaArray."""


class Work(NamedTuple):
    """What one kernel costs, before it is known on which machine.

    Attributes:
        flops: floating point operations.
        nbytes: bytes read and written if each operand is touched once.
        matmul: (m, n, k) of a matrix product, a batch folded into m; else None.
    """

    flops: float
    nbytes: float
    matmul: tuple[int, int, int] | None = None


def elements(per_element: float) -> Callable[[Array, Sequence[Array]], float]:
    """Arithmetic of ``per_element`` operations for each element of the largest operand or the result."""

    def flops(out: Array, arrays: Sequence[Array]) -> float:
        return float(per_element * max([out.size, *[a.size for a in arrays]]))

    return flops


_one_each = elements(1)


def _no_products(out: Array, arrays: Sequence[Array], needs: Sequence[Any] | None) -> list[Work]:
    return []


@dataclass(frozen=True, slots=True, eq=False)
class Primitive:
    """One row of the table.

    Attributes:
        name: torch's name for it, if torch has one.
        value: see rule 1.
        gradient: see rule 2.
        flops: (result, input arrays) -> operations of the forward pass apart from matrix products.
        gradient_flops: operations of the backward pass as a multiple of ``flops``.
        products: (result, input arrays, needs) -> the matrix products in it; ``needs`` None means the forward pass.
        is_view: the result shares memory with the first input: no arithmetic, no traffic, no memory of its own.
    """

    name: str
    value: Callable[..., tuple[Array, tuple[Any, ...]]]
    gradient: Callable[[Array, tuple[Any, ...], Sequence[Any]], Sequence[Array | None]]
    flops: Callable[[Array, Sequence[Array]], float] = _one_each
    gradient_flops: float = 1.0
    products: Callable[[Array, Sequence[Array], Sequence[Any] | None], list[Work]] = _no_products
    is_view: bool = False

    def forward_work(self, out: Array, arrays: Sequence[Array]) -> list[Work]:
        """What the forward pass does: its matrix products, or one pass over the operands."""
        if self.is_view:
            return []
        products = self.products(out, arrays, None)
        if products:
            first = products[0]  # the rest of a fused primitive rides along with its first product
            return [Work(first.flops + self.flops(out, arrays), first.nbytes, first.matmul), *products[1:]]
        return [Work(self.flops(out, arrays), out.nbytes + sum([a.nbytes for a in arrays]))]

    def backward_work(self, out: Array, arrays: Sequence[Array], needs: Sequence[Any]) -> list[Work]:
        """What the gradient rule does for the inputs that need a gradient."""
        if self.is_view:
            return []
        products = self.products(out, arrays, needs)
        if products:
            return products
        written = sum([a.nbytes for a, need in zip(arrays, needs, strict=True) if need is not None])
        read = out.nbytes + sum([a.nbytes for a in arrays])
        return [Work(self.gradient_flops * self.flops(out, arrays), read + written)]


ROWS: dict[str, Primitive] = {}
"""Every primitive by name: the tests go through it."""


def register(row: Primitive) -> Primitive:
    """Add a row to the table and return it."""
    assert row.name not in ROWS, row.name
    ROWS[row.name] = row
    return row
