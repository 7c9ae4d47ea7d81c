"""How does a user's array become a buffer that can travel?

Collectives work on contiguous one-dimensional buffers. An array that is contiguous already is used in place; anything
else (a transpose, a strided slice) is copied to a buffer, and the result is written back *through the view*, so the
base changes where the view looks and nowhere else. An asynchronous call always works on a copy: its input is taken
when it is issued, its result appears when it is waited for, so the order of execution never shows.

Accepted are numpy arrays, simdist Tensors, and shape-only MetaArrays. A subclass of numpy's array with manners of its own
(a matrix stays two-dimensional whatever one does) counts as the plain array over the same memory. A masked array is
refused: its mask would stay behind. So is a tensor that is a result on the tape: changing it in place would falsify the
gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simdist.backends import context
from simdist.errors import GradientError
from simdist.tensor import MetaArray, Tensor

from .lent_array import LentArray, plain

__all__ = ["array_of", "flatten", "in_place", "writeable"]

_KINDS = "biufc"
_ARRAYS = (np.ndarray, MetaArray)


def array_of(value: Any, what: str) -> Any:
    """The ndarray or MetaArray inside ``value``.

    Args:
        value: a numpy array, Tensor or MetaArray.
        what: the call and argument, for texts: ``"all_reduce: tensor"``.

    Raises:
        TypeError: anything else, an array of objects, or a masked array.
    """
    kind = value.__class__
    array = value if kind is np.ndarray or kind is MetaArray else _inside(value, what)
    if array.dtype.kind not in _KINDS:
        raise TypeError(f"{what} has dtype {array.dtype}: only arrays of numbers can be sent.")
    return array


def _inside(value: Any, what: str) -> Any:
    """The array of a Tensor, or the plain array that a subclass of numpy's array is over its memory."""
    array = value.data if isinstance(value, Tensor) else value
    if isinstance(array, LentArray):  # the caller is told below to which operation it belongs
        return plain(array)
    if isinstance(array, np.ma.MaskedArray):
        world = context.current()
        raise TypeError(
            f"{'' if world is None else f'rank {world.rank}: '}{what} is a masked array: numbers travel, its mask would "
            "stay behind. Pass x.filled(value), and the mask as an array of its own if the others need it."
        )
    if not isinstance(array, _ARRAYS):
        raise TypeError(
            f"{what} must be a numpy array or a simdist Tensor, got {type(value).__name__}: use np.array(...) or "
            "sd.tensor(...), and keep a reference, since the result is written into it."
        )
    return array if isinstance(array, MetaArray) or array.__class__ is np.ndarray else array.view(np.ndarray)


def writeable(value: Any, what: str) -> Any:
    """The array inside ``value``, which a collective is going to overwrite.

    Raises:
        TypeError: not an array.
        ValueError: a read-only array.
        GradientError: a tensor that was computed with gradients (it is on the tape).
    """
    if value.__class__ is MetaArray:
        return value
    array = array_of(value, what)
    if array.__class__ is not MetaArray and not array.flags.writeable:
        raise ValueError(f"{what} is a read-only array; the result cannot be written into it. Pass a copy: x.copy().")
    if array is not value and isinstance(value, Tensor) and value.requires_grad and not value.is_leaf:
        raise GradientError(
            f"{what} is a result that gradients flow through; overwriting it would falsify them. Pass x.detach(), or "
            "communicate the leaf it was computed from."
        )
    return array


def flatten(array: Any, copy: bool) -> tuple[Any, bool]:
    """A contiguous one-dimensional buffer with the contents of ``array``.

    Args:
        array: any shape and strides.
        copy: True if the buffer must not share memory with the array.

    Returns:
        The buffer, and whether it shares memory (then nothing has to be written back).
    """
    if array.__class__ is MetaArray:
        return array if len(array.shape) == 1 else array.reshape(-1), True
    if array.flags.c_contiguous and not copy:
        return array.reshape(-1), True
    return array.flatten(), False


def in_place(value: Any, what: str, copy: bool) -> tuple[Any, tuple[int, ...], Callable[[], None] | None]:
    """What a collective needs to know of an array that it overwrites.

    Args:
        value: a numpy array, Tensor or MetaArray.
        what: the call and argument, for texts: ``"all_reduce: tensor"``.
        copy: True if the array must keep its contents until the result is written back.

    Returns:
        The work buffer, the array's shape, and what writes the result back through the view (None: it is there already).

    Raises:
        TypeError, ValueError, GradientError: as ``writeable``.
    """
    if value.__class__ is MetaArray:
        return value if len(value.shape) == 1 else value.reshape(-1), value.shape, None
    array = writeable(value, what)
    flat, shared = flatten(array, copy)
    if shared:
        return flat, array.shape, None

    def finish() -> None:
        array[...] = flat.reshape(array.shape)

    return flat, array.shape, finish
