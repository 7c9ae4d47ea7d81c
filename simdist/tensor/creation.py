"""How does a Python value become an array?

Python numbers and lists of them become float32 (torch's default dtype) or int64 or bool; numpy arrays keep their dtype. Under
``device="meta"`` floating point values become shapes; integers stay numbers, since they may be needed as indices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import wants_meta
from .meta import MetaArray

__all__ = ["DEFAULT_DTYPE", "array_from", "empty_array"]

DEFAULT_DTYPE = np.dtype(np.float32)


def array_from(value: Any, dtype: Any = None, device: str | None = None) -> Any:
    """An ndarray or MetaArray for ``value``; an array of the right dtype is shared, not copied.

    Args:
        value: an array, a number, nested lists of numbers.
        dtype: of the result; None keeps an array's, or follows from the numbers.
        device: ``"real"`` (or ``"cpu"``), ``"meta"`` or None for the run's.

    Raises:
        TypeError: there are no numbers in it.
        UnknownNameError: there is no such device.
    """
    is_meta = wants_meta(device)
    if isinstance(value, MetaArray):
        return value if dtype is None else value.astype(dtype)
    is_array = isinstance(value, (np.ndarray, np.generic))
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"a tensor holds numbers, got {type(value).__name__} {str(value)[:40]!r}.")
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    elif not is_array and array.dtype == np.float64:
        array = array.astype(DEFAULT_DTYPE)
    if is_meta and array.dtype.kind == "f":
        return MetaArray(array.shape, array.dtype)
    return array


def empty_array(shape: tuple[int, ...], dtype: Any = None, device: str | None = None, fill: float = 0) -> Any:
    """An array full of ``fill``, or a shape without numbers.

    Raises:
        UnknownNameError: there is no such device.
    """
    kind = np.dtype(dtype or DEFAULT_DTYPE)
    if wants_meta(device):
        return MetaArray(shape, kind)
    return np.full(shape, fill, kind) if fill else np.zeros(shape, kind)
