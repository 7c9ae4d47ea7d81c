"""Which shapes fit together, and what does one say when they do not?

numpy's broadcasting rule: shapes are compared from the last dimension on; two sizes fit if they are equal or one of them is 1.
The gradient of a broadcast operand is the sum over the dimensions along which it was repeated (``unbroadcast``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simdist.errors import ShapeError

__all__ = ["broadcast", "broadcast_lesson", "matmul_lesson", "normalize_axes", "reshaped", "unbroadcast"]

Shape = tuple[int, ...]


def broadcast(*shapes: Shape) -> Shape:
    """The common shape.

    Raises:
        ShapeError: two sizes differ and none of them is 1.
    """
    result = shapes[0]
    for shape in shapes[1:]:
        if shape != result:
            result = _broadcast_two(result, shape)
    return result


def _broadcast_two(a: Shape, b: Shape) -> Shape:
    rank = max(len(a), len(b))
    wide_a, wide_b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    for x, y in zip(wide_a, wide_b, strict=True):
        if x != y and x != 1 and y != 1:
            raise ShapeError(broadcast_lesson("broadcasting", a, b))
    return tuple([y if x == 1 else x for x, y in zip(wide_a, wide_b, strict=True)])


def broadcast_lesson(name: str, a: Shape, b: Shape) -> str:
    """The text for two shapes that do not broadcast: both shapes, the dimension, the remedy."""
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            return (
                f"{name}: shapes {a} and {b} do not fit: dimension -{back} is {a[-back]} on the left and {b[-back]} on the "
                "right. Sizes must be equal or one of them 1, compared from the last dimension on. Try unsqueeze or "
                "reshape to put the sizes under each other, or transpose one side."
            )
    return f"{name}: shapes {a} and {b} do not fit."


def matmul_lesson(name: str, a: Shape, b: Shape) -> str | None:
    """The text for a matrix product a @ b that is not defined, or None if it is."""
    if not a or not b:
        return (
            f"{name}: a matrix product needs at least one dimension on both sides, got {a} and {b}. Use * for numbers."
        )
    inner = b[-2] if len(b) > 1 else b[0]
    if a[-1] != inner:
        return (
            f"{name}: shapes {a} and {b} do not fit: the last dimension of the left side is {a[-1]}, but it is multiplied "
            f"with a dimension of size {inner} on the right. (.., m, k) @ (.., k, n) is what fits; try .T or transpose(-2, -1)."
        )
    for x, y in zip(reversed(a[:-2]), reversed(b[:-2]), strict=False):
        if x != y and 1 not in (x, y):
            return f"{name}: " + broadcast_lesson("batch dimensions", a[:-2], b[:-2])
    return None


def unbroadcast(gradient: Any, shape: Shape) -> Any:
    """Sum ``gradient`` down to ``shape``, which was broadcast to it."""
    if gradient.shape == shape:
        return gradient
    extra = gradient.ndim - len(shape)
    if extra:
        gradient = gradient.sum(axis=tuple(range(extra)))
    repeated = tuple([i for i, size in enumerate(shape) if size == 1 and gradient.shape[i] != 1])
    return gradient.sum(axis=repeated, keepdims=True) if repeated else gradient


def normalize_axes(dim: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Dimensions as non-negative numbers, ascending; None is all of them.

    Raises:
        ShapeError: no such dimension, or one twice.
    """
    if dim is None:
        return tuple(range(ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    for d in dims:
        if not -ndim <= d < max(ndim, 1):
            raise ShapeError(f"there is no dimension {d} in a tensor of {ndim} dimensions: give {-ndim} to {ndim - 1}.")
    axes = tuple(sorted([d % ndim if ndim else 0 for d in dims]))
    if len(frozenset(axes)) != len(axes):
        raise ShapeError(f"dimensions {tuple(dims)} name one dimension twice (a tensor of {ndim} dimensions).")
    return axes if ndim else ()


def reshaped(size: int, old: Shape, new: Sequence[int]) -> Shape:
    """``new`` with -1 filled in.

    Raises:
        ShapeError: the number of elements changes, or there are two -1.
    """
    known, unknown = 1, 0
    for n in new:
        known, unknown = (known, unknown + 1) if n == -1 else (known * n, unknown)
    if unknown > 1 or (unknown and (known <= 0 or size % known)) or (not unknown and known != size):
        raise ShapeError(
            f"reshape: a tensor of shape {old} has {size} elements and cannot get the shape {tuple(new)}. At most one size "
            "may be -1, and the product must stay the same."
        )
    return tuple([size // known if n == -1 else int(n) for n in new])
