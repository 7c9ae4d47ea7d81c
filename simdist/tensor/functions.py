"""Which functions make tensors, or join several?

torch's names: ``tensor``, ``zeros``, ``ones``, ``full``, ``arange``, ``randn``, ``rand``; ``cat``, ``stack``, ``where``. Random
tensors have an address (see ``random``): equal calls give equal numbers, so give each tensor its own name or seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import arithmetic, movement, random
from .creation import DEFAULT_DTYPE, array_from, empty_array
from .device import current_device
from .meta import MetaArray
from .observe import current_listener
from .tensor import Tensor, apply, as_tensor

__all__ = [
    "arange",
    "cat",
    "concatenate",
    "empty",
    "from_numpy",
    "full",
    "maximum",
    "ones",
    "ones_like",
    "rand",
    "randn",
    "stack",
    "tensor",
    "where",
    "zeros",
    "zeros_like",
]  # fmt: skip


def _made(array: Any, requires_grad: bool = False) -> Tensor:
    result = Tensor(array, requires_grad)
    listener = current_listener()
    if listener is not None:
        result.token = listener.allocate(array.nbytes, "inputs")
    return result


def _shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape


def tensor(data: Any, dtype: Any = None, requires_grad: bool = False, device: str | None = None) -> Tensor:
    """A new tensor with a copy of ``data``.

    Args:
        data: numbers, nested lists, an array or a tensor.
        dtype: numpy dtype or its name; None: an array's own, float32 for Python floats, int64 for integers.
        requires_grad: whether gradients with respect to it are wanted.
        device: ``"real"`` (or ``"cpu"``), ``"meta"`` (shape only) or None for the run's.

    Raises:
        GradientError: a gradient asked of an integer tensor.
        UnknownNameError: another device.
    """
    array = array_from(data.data if isinstance(data, Tensor) else data, dtype, device)
    source = data.data if isinstance(data, Tensor) else data
    shared = array is source or (isinstance(source, np.ndarray) and isinstance(array, np.ndarray))
    return _made(array.copy() if shared else array, requires_grad)


def from_numpy(array: Any) -> Tensor:
    """A tensor that shares memory with a numpy array."""
    return _made(array_from(array))


def zeros(*shape: Any, dtype: Any = None, requires_grad: bool = False, device: str | None = None) -> Tensor:
    """A tensor of zeros."""
    return _made(empty_array(_shape(shape), dtype, device), requires_grad)


def ones(*shape: Any, dtype: Any = None, requires_grad: bool = False, device: str | None = None) -> Tensor:
    """A tensor of ones."""
    return _made(empty_array(_shape(shape), dtype, device, fill=1), requires_grad)


def full(shape: Sequence[int], fill_value: float, dtype: Any = None, device: str | None = None) -> Tensor:
    """A tensor of one number."""
    return _made(empty_array(tuple(shape), dtype, device, fill=fill_value))


def empty(*shape: Any, dtype: Any = None, device: str | None = None) -> Tensor:
    """A tensor to be filled: zeros, so that forgetting to fill it gives the same numbers every time."""
    return _made(empty_array(_shape(shape), dtype, device))


def zeros_like(other: Any) -> Tensor:
    """Zeros of another tensor's shape and dtype."""
    return _made(np.zeros_like(as_tensor(other).data))


def ones_like(other: Any) -> Tensor:
    """Ones of another tensor's shape and dtype."""
    return _made(np.ones_like(as_tensor(other).data))


def arange(*bounds: float, dtype: Any = None) -> Tensor:
    """Numbers from start (0) to end (exclusive) in steps (1), as torch: integers if all bounds are."""
    kind = dtype or (DEFAULT_DTYPE if any(isinstance(b, float) for b in bounds) else np.int64)
    return _made(np.arange(*bounds).astype(kind))


def _random(draw: Any, shape: tuple[Any, ...], dtype: Any, seed: int | None, name: str, requires_grad: bool) -> Tensor:
    sizes = _shape(shape)
    kind = np.dtype(dtype or DEFAULT_DTYPE)
    if current_device() == "meta":
        return _made(MetaArray(sizes, kind), requires_grad)
    count = int(np.prod(sizes, dtype=np.int64))
    numbers = draw(random.current_seed() if seed is None else seed, name, 0, count)
    return _made(numbers.reshape(sizes).astype(kind), requires_grad)


def randn(
    *shape: Any, dtype: Any = None, seed: int | None = None, name: str = "randn", requires_grad: bool = False
) -> Tensor:
    """Standard normal numbers with the address (seed, name): equal arguments, equal numbers."""
    return _random(random.normal, shape, dtype, seed, name, requires_grad)


def rand(
    *shape: Any, dtype: Any = None, seed: int | None = None, name: str = "rand", requires_grad: bool = False
) -> Tensor:
    """Uniform numbers in [0, 1) with the address (seed, name): equal arguments, equal numbers."""
    return _random(random.uniform, shape, dtype, seed, name, requires_grad)


def cat(tensors: Sequence[Any], dim: int = 0) -> Tensor:
    """Tensors one after the other along a dimension they have."""
    return apply(movement.CONCATENATE, [as_tensor(t) for t in tensors], dim)


concatenate = cat


def stack(tensors: Sequence[Any], dim: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension."""
    return apply(movement.STACK, [as_tensor(t) for t in tensors], dim)


def where(condition: Any, a: Any, b: Any) -> Tensor:
    """``a`` where the condition is true, else ``b``."""
    mask = condition.data if isinstance(condition, Tensor) else condition
    return apply(arithmetic.WHERE, (as_tensor(a), as_tensor(b)), mask)


def maximum(a: Any, b: Any) -> Tensor:
    """The larger of two, element by element."""
    return apply(arithmetic.MAXIMUM, (as_tensor(a), as_tensor(b)))
