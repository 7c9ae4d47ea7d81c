"""What is an array without data?

A MetaArray has a shape and a dtype. It takes part in numpy's two protocols (``__array_ufunc__``, ``__array_function__``) and has
the methods that ``ndarray`` and it are used with in this project, so value functions, optimizers, buckets and collectives run on
it unchanged, for a model of any size, at the price of some microseconds. Functions that it does not know are refused by name.

Invariants: a result is a MetaArray as soon as one operand is; shapes and dtypes are those that numpy would give; nothing that
depends on a value has an answer. It is refused, except for ``item`` and ``float``, which are NaN: so a training function that
returns ``loss.item()`` runs on shapes unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from simdist.errors import ShapeError, SimdistError

from .shape import broadcast, matmul_lesson, normalize_axes, reshaped

__all__ = ["MetaArray", "boxed", "valueless"]

_FLAGS = SimpleNamespace(c_contiguous=True, f_contiguous=False, writeable=True, owndata=True)
_dtypes: dict[tuple[Any, ...], np.dtype[Any]] = {}
_Shape = tuple[int, ...]


class MetaArray:
    """A shape and a dtype.

    Args:
        shape: sizes of the dimensions.
        dtype: numpy dtype of the elements that are not there.
    """

    __slots__ = ("dtype", "shape", "size")
    base = None
    flags = _FLAGS

    def __init__(self, shape: Sequence[int], dtype: Any = np.float32) -> None:
        self.shape: _Shape = tuple(shape)
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.size: int = math.prod(self.shape)

    # -- what an array tells of itself ------------------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes that the elements would take."""
        return self.size * self.dtype.itemsize

    @property
    def T(self) -> MetaArray:  # noqa: N802 - numpy's name
        """All dimensions reversed."""
        return MetaArray(self.shape[::-1], self.dtype)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a meta array without dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"MetaArray({self.shape}, {self.dtype})"

    def __bool__(self) -> bool:
        raise valueless("the truth of", self)

    def item(self) -> float:
        """NaN: there is no number.

        Raises:
            ShapeError: not one element.
        """
        if self.size != 1:
            raise ShapeError(f"item() needs an array of one element, got a meta array of shape {self.shape}.")
        return math.nan

    def __float__(self) -> float:
        return math.nan

    def tolist(self) -> Any:
        """Refused.

        Raises:
            SimdistError: always.
        """
        raise valueless("a list of the elements of", self)

    # -- methods ----------------------------------------------------------------------------------------------------

    def reshape(self, *shape: Any) -> MetaArray:
        """Another shape with as many elements."""
        new = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return MetaArray(reshaped(self.size, self.shape, new), self.dtype)

    def ravel(self) -> MetaArray:
        """One dimension."""
        return MetaArray((self.size,), self.dtype)

    flatten = ravel

    def transpose(self, *axes: Any) -> MetaArray:
        """Dimensions in another order."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        if not order:
            return self.T
        return MetaArray([self.shape[i] for i in order], self.dtype)

    def swapaxes(self, a: int, b: int) -> MetaArray:
        """Two dimensions exchanged."""
        shape = list(self.shape)
        shape[a], shape[b] = shape[b], shape[a]
        return MetaArray(shape, self.dtype)

    def astype(self, dtype: Any, copy: bool = True) -> MetaArray:
        """Another dtype."""
        return MetaArray(self.shape, dtype)

    def copy(self) -> MetaArray:
        """An equal one."""
        return MetaArray(self.shape, self.dtype)

    def fill(self, value: Any) -> None:
        """Nothing to do."""

    def squeeze(self, axis: Any = None) -> MetaArray:
        """Without dimensions of size 1."""
        axes = [i for i, n in enumerate(self.shape) if n == 1] if axis is None else normalize_axes(axis, self.ndim)
        return MetaArray([n for i, n in enumerate(self.shape) if i not in axes], self.dtype)

    def _reduce(self, axis: Any, keepdims: bool, dtype: Any) -> MetaArray:
        axes = normalize_axes(axis, len(self.shape))
        shape = [1 if i in axes else n for i, n in enumerate(self.shape) if keepdims or i not in axes]
        return MetaArray(shape, dtype)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> MetaArray:
        """Sum over dimensions; small integers and booleans become int64 as in numpy."""
        wide = np.dtype(np.int64) if self.dtype.kind in "bi" else self.dtype
        return self._reduce(axis, keepdims, dtype or wide)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> MetaArray:
        """Mean over dimensions."""
        wide = self.dtype if self.dtype.kind == "f" else np.dtype(np.float64)
        return self._reduce(axis, keepdims, dtype or wide)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> MetaArray:
        """Maximum over dimensions."""
        return self._reduce(axis, keepdims, self.dtype)

    min = max

    def all(self, axis: Any = None) -> MetaArray:
        """Whether all are true."""
        return self._reduce(axis, False, np.bool_)

    any = all

    def argmax(self, axis: Any = None) -> MetaArray:
        """Index of the largest element."""
        return self._reduce(axis, False, np.int64)

    # -- indexing ---------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> MetaArray:
        if type(key) is slice and self.shape:  # the one that buckets and chunks use
            return MetaArray((len(range(*key.indices(self.shape[0]))), *self.shape[1:]), self.dtype)
        return MetaArray(self._selected(key), self.dtype)

    def _selected(self, key: Any) -> _Shape:
        keys = key if isinstance(key, tuple) else (key,)
        keys = tuple([_stand_in(k.shape, k.dtype) if isinstance(k, MetaArray) else k for k in keys])
        # numpy decides: an array of one repeated element has any shape at no cost
        selected: _Shape = np.broadcast_to(np.zeros((), np.int8), self.shape)[keys].shape
        return selected

    def __setitem__(self, key: Any, value: Any) -> None:
        target = self.shape if key is Ellipsis else self[key].shape
        source = np.shape(value) if not isinstance(value, MetaArray) else value.shape
        if source != target and broadcast(source, target) != target:
            raise ShapeError(f"a value of shape {source} does not fit into an array of shape {target}.")

    # -- numpy's protocols ------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out")
        if method == "reduce":
            result = inputs[0]._reduce(kwargs.get("axis", 0), kwargs.get("keepdims", False), inputs[0].dtype)
        elif method == "at":
            return None
        elif method != "__call__":
            return NotImplemented
        elif ufunc is np.matmul:
            result = _matmul(*inputs)
        else:
            result = MetaArray(broadcast(*[_shape_of(x) for x in inputs]), _result_dtype(ufunc, inputs))
        if out is None:
            return result
        if out[0].shape != result.shape:
            raise ShapeError(f"{ufunc.__name__}: the result {result.shape} does not fit into out= of {out[0].shape}.")
        return out[0]

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        handler = _FUNCTIONS.get(func.__name__)
        if handler is None:
            raise TypeError(f"numpy.{func.__name__} has no rule for arrays without data (device='meta').")
        return handler(*args, **kwargs)

    def __neg__(self) -> MetaArray:
        return MetaArray(self.shape, self.dtype)


def _operators() -> None:
    """Give MetaArray Python's operators: each is numpy's ufunc."""
    table = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "matmul": np.matmul,
        "pow": np.power, "and": np.bitwise_and, "or": np.bitwise_or, "floordiv": np.floor_divide, "mod": np.remainder,
    }  # fmt: skip
    compare = {
        "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
    }  # fmt: skip
    for name, ufunc in {**table, **compare}.items():
        setattr(MetaArray, f"__{name}__", lambda a, b, u=ufunc: u(a, b))
    for name, ufunc in table.items():
        setattr(MetaArray, f"__r{name}__", lambda a, b, u=ufunc: u(b, a))
        setattr(MetaArray, f"__i{name}__", lambda a, b, u=ufunc: u(a, b, out=a))
    setattr(MetaArray, "__invert__", lambda a: np.logical_not(a))  # noqa: B010 - as the loops above
    setattr(MetaArray, "__hash__", object.__hash__)  # noqa: B010


_operators()


def _shape_of(value: Any) -> _Shape:
    shape: _Shape = getattr(value, "shape", ())
    return shape


def _stand_in(shape: _Shape, dtype: Any) -> np.ndarray[Any, Any]:
    return np.broadcast_to(np.zeros((), dtype), shape)


def _result_dtype(ufunc: np.ufunc, inputs: Sequence[Any]) -> np.dtype[Any]:
    kinds = tuple([x.dtype if hasattr(x, "dtype") else _weak(x) for x in inputs])
    key = (ufunc, kinds)
    found = _dtypes.get(key)
    if found is None:
        found = _dtypes[key] = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))[len(kinds)]
    return found


def _weak(value: Any) -> Any:
    return np.dtype(np.bool_) if isinstance(value, bool) else type(value)


def _matmul(a: Any, b: Any) -> MetaArray:
    lesson = matmul_lesson("matmul", a.shape, b.shape)
    if lesson is not None:
        raise ShapeError(lesson)
    left = a.shape if len(a.shape) > 1 else (1, *a.shape)
    right = b.shape if len(b.shape) > 1 else (*b.shape, 1)
    shape = [*broadcast(left[:-2], right[:-2])]
    shape += [left[-2]] if len(a.shape) > 1 else []
    shape += [right[-1]] if len(b.shape) > 1 else []
    return MetaArray(shape, np.result_type(a.dtype, b.dtype))


def _like(a: Any, fill_value: Any = None, dtype: Any = None, shape: Any = None, **_: Any) -> MetaArray:
    return MetaArray(a.shape if shape is None else shape, dtype or a.dtype)


def _copyto(dst: Any, src: Any, **_: Any) -> None:
    if isinstance(dst, MetaArray):
        dst[...] = src
    # numbers cannot come out of nothing: a real destination keeps what it has


def _concatenate(arrays: Sequence[Any], axis: int = 0, **_: Any) -> MetaArray:
    first = arrays[0]
    shape = list(first.shape)
    shape[axis] = sum([a.shape[axis] for a in arrays])
    return MetaArray(shape, np.result_type(*[a.dtype for a in arrays]))


def _stack(arrays: Sequence[Any], axis: int = 0, **_: Any) -> MetaArray:
    shape = list(arrays[0].shape)
    shape.insert(axis % (len(shape) + 1), len(arrays))
    return MetaArray(shape, np.result_type(*[a.dtype for a in arrays]))


def _where(condition: Any, a: Any, b: Any) -> MetaArray:
    dtype = np.result_type(*[x.dtype if hasattr(x, "dtype") else x for x in (a, b)])
    return MetaArray(broadcast(_shape_of(condition), _shape_of(a), _shape_of(b)), dtype)


def _expand_dims(a: Any, axis: int) -> MetaArray:
    shape = list(a.shape)
    shape.insert(axis % (len(shape) + 1), 1)
    return MetaArray(shape, a.dtype)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "empty_like": _like, "zeros_like": _like, "ones_like": _like, "full_like": _like,
    "copyto": _copyto, "concatenate": _concatenate, "stack": _stack, "where": _where, "expand_dims": _expand_dims,
    "broadcast_to": lambda a, shape, **_: MetaArray(shape, a.dtype),
    "take_along_axis": lambda a, indices, axis=-1: MetaArray(_shape_of(indices), a.dtype),
    "reshape": lambda a, shape, **_: a.reshape(shape),
    "transpose": lambda a, axes=None: a.transpose(*([axes] if axes is not None else [])),
    "swapaxes": lambda a, x, y: a.swapaxes(x, y),
    "sum": lambda a, axis=None, **k: a.sum(axis=axis, **k),
    "mean": lambda a, axis=None, **k: a.mean(axis=axis, **k),
    "max": lambda a, axis=None, **k: a.max(axis=axis, **k), "amax": lambda a, axis=None, **k: a.max(axis=axis, **k),
    "squeeze": lambda a, axis=None: a.squeeze(axis), "ravel": lambda a: a.ravel(), "copy": lambda a: a.copy(),
    "argmax": lambda a, axis=None: a.argmax(axis),
    "shape": lambda a: a.shape, "ndim": lambda a: a.ndim, "size": lambda a: a.size,
    "vdot": lambda a, b: MetaArray((), np.result_type(a.dtype, b.dtype)),
    "clip": lambda a, *_, **__: MetaArray(a.shape, a.dtype),
    "result_type": lambda *xs: np.result_type(*[x.dtype if hasattr(x, "dtype") else x for x in xs]),
}  # fmt: skip
"""numpy functions by name; what is not here is refused."""


def valueless(what: str, array: MetaArray) -> SimdistError:
    """The error for a question that only numbers can answer.

    Args:
        what: the question: ``"the truth of"``.
        array: the array that was asked.
    """
    return SimdistError(
        f"{what} a meta array {array.shape} {array.dtype} was asked for, but it has a shape and no values: a program cannot "
        "branch on numbers with device='meta'. Run it with device='real', or decide on shapes (.item() of one element is nan)."
    )


def boxed(value: Any) -> Any:
    """``value`` as an array if it is a numpy scalar (numpy unpacks results without dimensions); arrays as they are."""
    return value if isinstance(value, (np.ndarray, MetaArray)) else np.asarray(value)
