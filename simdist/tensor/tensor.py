"""What does a person compute with?

A Tensor is an array (numbers, or a shape only) that can remember how it was computed. Names, arguments and defaults are torch's.
The arithmetic is in the rows (``primitive``), the gradients in ``autograd``; here is only the surface.

Two rules that surprise: a tensor made of Python numbers is float32 (a numpy array keeps its dtype), and changing a tensor in
place is for tensors off the tape: gradients computed from changed numbers would be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from simdist.errors import GradientError, ShapeError

from . import activation, arithmetic, movement, product, reduction
from .autograd import GRADIENT_MODE, Node, install_tensor, run_backward
from .creation import array_from
from .meta import MetaArray, boxed, valueless
from .observe import Allocation, Listener, current_listener
from .primitive import Array, Primitive
from .shape import broadcast_lesson, normalize_axes

__all__ = ["Handle", "Tensor", "apply", "as_tensor"]

_next_hook = count().__next__
Number: TypeAlias = float
"""``float`` inside the class is the method."""


class Handle:
    """What registering a hook returns.

    Args:
        hooks: the table the hook was put into.
        key: where.
    """

    def __init__(self, hooks: dict[int, Callable[[Any], Any]], key: int) -> None:
        self._hooks, self._key = hooks, key

    def remove(self) -> None:
        """Take the hook out (a second time is no error)."""
        self._hooks.pop(self._key, None)


class Tensor:
    """An array with a memory of how it was computed.

    Args:
        data: an ndarray or MetaArray; it is not copied.
        requires_grad: whether gradients with respect to it are wanted.

    Attributes:
        data: the array.
        grad: the accumulated gradient of a leaf, a Tensor, or None.
        node: the tape's node that made it, None for a leaf.
        token: the memory token of its array; views share it.

    Raises:
        GradientError: a gradient is asked of an integer tensor.
    """

    __slots__ = ("__weakref__", "_requires_grad", "data", "grad", "hooks", "node", "post_hooks", "token")
    __array_ufunc__ = None  # array + tensor asks the tensor

    data: Any
    grad: Tensor | None
    node: Node | None
    _requires_grad: bool
    hooks: dict[int, Callable[[Any], Any]] | None
    post_hooks: dict[int, Callable[[Any], Any]] | None
    token: Allocation | None

    def __init__(self, data: Array, requires_grad: bool = False) -> None:
        self.data = data
        self._requires_grad = requires_grad
        self.grad = self.node = self.hooks = self.post_hooks = self.token = None
        if requires_grad:
            _check_floating(data.dtype)

    # -- what it tells of itself ------------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether it is a leaf that wants a gradient, or was computed from one; setting it is ``requires_grad_``."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions."""
        return self.data.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Numpy dtype of the elements."""
        return self.data.dtype  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.data.ndim  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.data.nbytes  # type: ignore[no-any-return]

    @property
    def is_leaf(self) -> bool:
        """Not computed from anything that needs a gradient."""
        return self.node is None

    @property
    def is_meta(self) -> bool:
        """A shape without numbers."""
        return isinstance(self.data, MetaArray)

    @property
    def grad_fn(self) -> Node | None:
        """The node that made it, or None for a leaf."""
        return self.node

    def dim(self) -> int:
        """Number of dimensions."""
        return self.data.ndim  # type: ignore[no-any-return]

    def numel(self) -> int:
        """Number of elements."""
        return self.data.size  # type: ignore[no-any-return]

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.data.dtype.itemsize  # type: ignore[no-any-return]

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension."""
        return self.data.shape if dim is None else self.data.shape[dim]

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        text = repr(self.data)
        text = text if self.is_meta else text.removeprefix("array(").rsplit(")", 1)[0].split(", dtype=")[0]
        parts = [f"tensor({text}", f"dtype={self.data.dtype}"]
        parts += [f"grad_fn={self.node!r}"] if self.node is not None else []
        parts += ["requires_grad=True"] if self.requires_grad and self.node is None else []
        return ", ".join(parts) + ")"

    def item(self) -> Any:
        """The number in a tensor of one element.

        NaN if it holds no numbers (``device="meta"``), so that a training function that returns or prints ``loss.item()`` runs on
        shapes too; torch refuses. ``float(t)`` is the same; everything else that needs a number is refused here too.

        Raises:
            ShapeError: more than one element, or none.
        """
        if self.data.size != 1:
            raise ShapeError(
                f"item() needs a tensor of one element, got shape {self.shape}. Reduce it: .sum() or .mean()."
            )
        return self.data.item()

    def numpy(self) -> Any:
        """The array itself (shared memory).

        Raises:
            GradientError: gradients flow through it.
        """
        if self.requires_grad:
            raise GradientError(
                "numpy() of a tensor that requires a gradient would let numbers leave the tape: say t.detach().numpy()."
            )
        return self.data

    def tolist(self) -> Any:
        """Nested lists of Python numbers.

        Raises:
            SimdistError: it holds no numbers (``device="meta"``).
        """
        return self.data.tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.data
        if isinstance(array, MetaArray):
            array = np.full(array.shape, np.nan) if array.dtype.kind == "f" else np.zeros(array.shape, array.dtype)
        return np.array(array, dtype=dtype, copy=copy) if copy else np.asarray(array, dtype=dtype)

    def __bool__(self) -> bool:
        if self.data.size != 1:
            raise ShapeError(
                f"the truth of a tensor of shape {self.shape} was asked for, but it has {self.data.size} elements: is one true "
                "(.any()) or are all (.all())? To compare two tensors say (a == b).all()."
            )
        return bool(self.data)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        if self.is_meta:
            raise valueless("the whole number in", self.data)
        return int(self.item())

    def __index__(self) -> int:
        if self.is_meta:
            raise valueless("the whole number in", self.data)
        return int(self.data.__index__())

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self.data)))

    __hash__ = object.__hash__

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: the array, the wish for gradients, the gradient; not the tape."""
        return {"data": self.data, "requires_grad": self.requires_grad, "grad": self.grad}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Tensor.__init__(self, state["data"], state["requires_grad"])
        self.grad = state["grad"]

    # -- arithmetic -------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Tensor:
        return _binary(arithmetic.ADD, arithmetic.ADD_SCALAR, self, other)

    def __radd__(self, other: Any) -> Tensor:
        return _binary(arithmetic.ADD, arithmetic.ADD_SCALAR, self, other)

    def __sub__(self, other: Any) -> Tensor:
        if isinstance(other, (int, float, np.generic)):
            return _binary(arithmetic.ADD, arithmetic.ADD_SCALAR, self, -other)  # type: ignore[operator]
        return apply(arithmetic.SUB, _promoted(arithmetic.SUB, self, as_tensor(other)))

    def __rsub__(self, other: Any) -> Tensor:
        return _binary(arithmetic.ADD, arithmetic.ADD_SCALAR, -self, other)

    def __mul__(self, other: Any) -> Tensor:
        return _binary(arithmetic.MUL, arithmetic.MUL_SCALAR, self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return _binary(arithmetic.MUL, arithmetic.MUL_SCALAR, self, other)

    def __truediv__(self, other: Any) -> Tensor:
        return _binary(arithmetic.DIV, arithmetic.DIV_SCALAR, self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        if isinstance(other, (int, float, np.generic)):
            return apply(arithmetic.RDIV_SCALAR, (self.float() if self.data.dtype.kind != "f" else self,), float(other))
        return apply(arithmetic.DIV, _promoted(arithmetic.DIV, as_tensor(other), self))

    def __pow__(self, other: Any) -> Tensor:
        return _binary(arithmetic.POW, arithmetic.POW_SCALAR, self, other)

    def __rpow__(self, other: Any) -> Tensor:
        base = np.asarray(other, self.data.dtype)
        return apply(arithmetic.POW, (Tensor(base), self))

    def __neg__(self) -> Tensor:
        return apply(arithmetic.NEG, (self,))

    def __matmul__(self, other: Any) -> Tensor:
        return apply(product.MATMUL, (self, as_tensor(other)))

    def __rmatmul__(self, other: Any) -> Tensor:
        return apply(product.MATMUL, (as_tensor(other), self))

    matmul = __matmul__
    add, sub, mul, div, pow = __add__, __sub__, __mul__, __truediv__, __pow__

    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        return Tensor(self.data == _raw(other))

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        return Tensor(self.data != _raw(other))

    def __lt__(self, other: Any) -> Tensor:
        return Tensor(self.data < _raw(other))

    def __le__(self, other: Any) -> Tensor:
        return Tensor(self.data <= _raw(other))

    def __gt__(self, other: Any) -> Tensor:
        return Tensor(self.data > _raw(other))

    def __ge__(self, other: Any) -> Tensor:
        return Tensor(self.data >= _raw(other))

    def __invert__(self) -> Tensor:
        return Tensor(~self.data)

    def exp(self) -> Tensor:
        """E to the power of each element."""
        return apply(arithmetic.EXP, (self,))

    def log(self) -> Tensor:
        """Natural logarithm of each element."""
        return apply(arithmetic.LOG, (self,))

    def sqrt(self) -> Tensor:
        """Square root of each element."""
        return apply(arithmetic.SQRT, (self,))

    def tanh(self) -> Tensor:
        """Hyperbolic tangent of each element."""
        return apply(activation.TANH, (self,))

    def relu(self) -> Tensor:
        """Each element, or 0 if it is negative."""
        return apply(activation.RELU, (self,))

    def softmax(self, dim: int) -> Tensor:
        """Positive numbers that sum to 1 along ``dim``."""
        return apply(activation.SOFTMAX, (self,), dim)

    def log_softmax(self, dim: int) -> Tensor:
        """The logarithm of softmax."""
        return apply(activation.LOG_SOFTMAX, (self,), dim)

    def masked_fill(self, mask: Any, value: Number) -> Tensor:
        """``value`` where ``mask`` is true."""
        return apply(arithmetic.MASKED_FILL, (self,), _raw(mask), value)

    # -- reductions -------------------------------------------------------------------------------------------------

    def sum(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        """Sum over one, several or all dimensions."""
        return apply(reduction.SUM, (self,), normalize_axes(dim, self.data.ndim), keepdim)

    def mean(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        """Mean over one, several or all dimensions.

        Raises:
            TypeError: an integer tensor, as in torch.
        """
        if self.data.dtype.kind != "f":
            raise TypeError(f"mean() needs a floating point tensor, got {self.data.dtype}: say t.float().mean().")
        return apply(reduction.MEAN, (self,), normalize_axes(dim, self.data.ndim), keepdim)

    def max(self, dim: int | None = None, keepdim: bool = False) -> Any:
        """The largest element; with ``dim`` the pair (values, indices) as in torch."""
        values = apply(reduction.MAX, (self,), normalize_axes(dim, self.data.ndim), keepdim)
        return values if dim is None else (values, self.argmax(dim))

    def argmax(self, dim: int | None = None) -> Tensor:
        """Index of the largest element (no gradient)."""
        return Tensor(array_from(self.data.argmax(axis=dim)))

    def any(self, dim: int | None = None) -> Tensor:
        """Whether an element is true (not 0), of all or along ``dim``; no gradient."""
        return Tensor(boxed(self.data.any(axis=dim)))

    def all(self, dim: int | None = None) -> Tensor:
        """Whether every element is true (not 0), of all or along ``dim``; no gradient."""
        return Tensor(boxed(self.data.all(axis=dim)))

    # -- shape ------------------------------------------------------------------------------------------------------

    def reshape(self, *shape: Any) -> Tensor:
        """Another shape with as many elements; one size may be -1."""
        new = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return apply(movement.RESHAPE, (self,), tuple(new))

    view = reshape

    def flatten(self, start_dim: int = 0) -> Tensor:
        """All dimensions from ``start_dim`` on become one."""
        return self.reshape(*self.shape[:start_dim], -1)

    def permute(self, *dims: Any) -> Tensor:
        """Dimensions in another order."""
        order = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
        normalize_axes(order, self.data.ndim)
        return apply(movement.PERMUTE, (self,), tuple([d % self.data.ndim for d in order]))

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        """Two dimensions exchanged."""
        order = list(range(self.data.ndim))
        normalize_axes((dim0,), len(order)), normalize_axes((dim1,), len(order))
        order[dim0], order[dim1] = order[dim1], order[dim0]
        return apply(movement.PERMUTE, (self,), tuple(order))

    @property
    def T(self) -> Tensor:  # noqa: N802 - numpy's name
        """All dimensions reversed."""
        return self.permute(*range(self.data.ndim)[::-1])

    @property
    def mT(self) -> Tensor:  # noqa: N802 - numpy's name
        """The last two dimensions exchanged."""
        return self.transpose(-2, -1)

    def expand(self, *shape: int) -> Tensor:
        """Repeat along dimensions of size 1 without copying."""
        extra = len(shape) - self.data.ndim
        full = tuple([self.data.shape[i - extra] if n == -1 else n for i, n in enumerate(shape)])
        return apply(movement.EXPAND, (self,), full)

    def unsqueeze(self, dim: int) -> Tensor:
        """A new dimension of size 1."""
        shape = list(self.data.shape)
        shape.insert(dim % (len(shape) + 1), 1)
        return self.reshape(*shape)

    def squeeze(self, dim: int | None = None) -> Tensor:
        """Without dimensions of size 1 (or without ``dim``, if its size is 1)."""
        ndim = self.data.ndim
        gone = range(ndim) if dim is None else (dim % ndim,)
        return self.reshape(tuple([n for i, n in enumerate(self.data.shape) if n != 1 or i not in gone]))

    def split(self, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
        """Parts of ``split_size`` (the last may be smaller), or of the given sizes."""
        total = self.data.shape[dim]
        if isinstance(split_size, int):
            starts = range(0, total, split_size)
            sizes: Sequence[int] = [min(split_size, total - start) for start in starts]
        else:
            sizes = split_size
            if sum(sizes) != total:
                raise ShapeError(
                    f"split: the sizes {list(sizes)} sum to {sum(sizes)}, but dimension {dim} has size {total}."
                )
        before: tuple[Any, ...] = (slice(None),) * (dim % self.data.ndim)
        parts, start = [], 0
        for size in sizes:
            parts.append(self[(*before, slice(start, start + size))])
            start += size
        return tuple(parts)

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
        """At most ``chunks`` parts of equal size (the last may be smaller), as torch's chunk."""
        return self.split(max(1, -(-self.data.shape[dim] // chunks)), dim)

    def __getitem__(self, key: Any) -> Tensor:
        if isinstance(key, Tensor):
            key = key.data
        elif isinstance(key, tuple):
            key = tuple([_raw(k) for k in key])
        row = movement.GETITEM if movement.is_basic_index(key) else movement.SELECT
        return apply(row, (self,), key)

    # -- dtype and the tape -----------------------------------------------------------------------------------------

    def to(self, dtype: Any) -> Tensor:
        """The same numbers in another dtype (itself if it has it)."""
        return self if self.data.dtype == np.dtype(dtype) else apply(arithmetic.CAST, (self,), np.dtype(dtype))

    def float(self) -> Tensor:
        """As float32."""
        return self.to(np.float32)

    def double(self) -> Tensor:
        """As float64."""
        return self.to(np.float64)

    def long(self) -> Tensor:
        """As int64."""
        return self.to(np.int64)

    def detach(self) -> Tensor:
        """The same array off the tape."""
        result = Tensor(self.data)
        result.token = self.token
        return result

    def clone(self) -> Tensor:
        """A copy, on the tape."""
        return apply(arithmetic.CLONE, (self,))

    def contiguous(self) -> Tensor:
        """Itself, or a copy in row-major order."""
        return self if self.data.flags.c_contiguous else self.clone()

    def cpu(self) -> Tensor:
        """Itself: there is one memory."""
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Ask for gradients with respect to this leaf, or stop asking.

        Raises:
            GradientError: an integer tensor, or a result on the tape.
        """
        if requires_grad and not self._requires_grad:
            _check_floating(self.data.dtype)
        if self.node is not None and not requires_grad:
            raise GradientError("only a leaf can stop requiring a gradient; this tensor was computed: use detach().")
        self._requires_grad = bool(requires_grad)
        return self

    def backward(self, gradient: Any = None, retain_graph: bool = False) -> None:
        """Add d self / d leaf to the ``grad`` of every leaf that this tensor was computed from.

        Args:
            gradient: the gradient of the final number with respect to this tensor; not needed for a tensor of one element.
            retain_graph: keep the saved arrays so that backward can run again.

        Raises:
            GradientError: nothing requires a gradient; not a scalar and no gradient given; the graph was freed.
            ShapeError: ``gradient`` has another shape.
        """
        if not self.requires_grad:
            raise GradientError(
                f"backward on a tensor {self.shape} that does not require a gradient: no leaf with requires_grad=True took part, "
                "or it was computed under no_grad()."
            )
        run_backward(self if self.node is None else self.node, self._seed(gradient), retain_graph)

    def _seed(self, gradient: Any) -> Array:
        if gradient is None:
            if self.data.size != 1:
                raise GradientError(
                    f"backward on a tensor of shape {self.shape} needs a gradient of that shape: only a tensor of one element "
                    "has an obvious one. Reduce it first (.sum() or .mean()), or say t.backward(gradient=...)."
                )
            return self.data.copy() if self.is_meta else np.array(1, self.data.dtype, ndmin=self.data.ndim)
        seed = _raw(gradient)
        if seed.shape != self.data.shape:
            raise ShapeError(
                f"backward: the gradient has shape {seed.shape}, the tensor {self.shape}: they must be equal."
            )
        return seed if seed.dtype == self.data.dtype else seed.astype(self.data.dtype)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Handle:
        """``hook(grad)`` sees the gradient of this tensor in each backward pass and may return another one."""
        if not self.requires_grad:
            raise GradientError("a hook on a tensor that does not require a gradient would never be called.")
        owner: Any = self if self.node is None else self.node
        owner.hooks = {} if owner.hooks is None else owner.hooks
        key = _next_hook()
        owner.hooks[key] = hook
        return Handle(owner.hooks, key)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> Handle:
        """``hook(self)`` runs after ``grad`` of this leaf got its part of a backward pass.

        Raises:
            GradientError: not a leaf that requires a gradient.
        """
        if self.node is not None or not self.requires_grad:
            raise GradientError(
                "a post-accumulate hook belongs on a leaf that requires a gradient: others get no grad."
            )
        self.post_hooks = {} if self.post_hooks is None else self.post_hooks
        key = _next_hook()
        self.post_hooks[key] = hook
        return Handle(self.post_hooks, key)

    # -- in place ---------------------------------------------------------------------------------------------------

    def _in_place(self, name: str) -> None:
        if self.requires_grad and GRADIENT_MODE.get():
            kind = "a leaf that requires a gradient" if self.node is None else "a result that gradients flow through"
            raise GradientError(
                f"{name} changes {kind} in place; its gradients would belong to other numbers. Put it under no_grad(), or "
                "compute a new tensor."
            )

    def zero_(self) -> Tensor:
        """Set all elements to 0."""
        return self.fill_(0)

    def fill_(self, value: Number) -> Tensor:
        """Set all elements to ``value``."""
        self._in_place("fill_")
        self.data.fill(value)
        return self

    def copy_(self, source: Any) -> Tensor:
        """Overwrite with ``source``, broadcast and cast."""
        self._in_place("copy_")
        array = _raw(source)
        try:
            self.data[...] = array
        except ValueError:
            raise ShapeError(broadcast_lesson("copy_", self.shape, np.shape(array))) from None
        return self

    def add_(self, other: Any, alpha: Number = 1) -> Tensor:
        """Add ``alpha * other``."""
        self._in_place("add_")
        np.add(self.data, _raw(other) if alpha == 1 else _raw(other) * alpha, out=self.data)
        return self

    def sub_(self, other: Any, alpha: Number = 1) -> Tensor:
        """Subtract ``alpha * other``."""
        return self.add_(other, -alpha)

    def mul_(self, other: Any) -> Tensor:
        """Multiply with ``other``."""
        self._in_place("mul_")
        np.multiply(self.data, _raw(other), out=self.data)
        return self

    def div_(self, other: Any) -> Tensor:
        """Divide by ``other``."""
        self._in_place("div_")
        np.true_divide(self.data, _raw(other), out=self.data)
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        self._in_place("assignment")
        self.data[_raw(key) if not isinstance(key, tuple) else tuple([_raw(k) for k in key])] = _raw(value)


install_tensor(Tensor)


def _check_floating(dtype: Any) -> None:
    if dtype.kind != "f":
        raise GradientError(
            f"a gradient was asked of a tensor of {dtype}: only floating point tensors have one, since a derivative needs "
            "numbers that can change a little. Use .float(), or leave requires_grad out."
        )


def _raw(value: Any) -> Any:
    """The array inside a tensor; anything else as it is."""
    return value.data if isinstance(value, Tensor) else value


def as_tensor(value: Any) -> Tensor:
    """``value`` itself if it is a Tensor, else a Tensor around it (arrays are shared, Python numbers become float32)."""
    return value if isinstance(value, Tensor) else Tensor(array_from(value))


def _binary(row: Primitive, scalar_row: Primitive, a: Tensor, b: Any) -> Tensor:
    """A primitive of two: a number as a parameter; an integer tensor takes the float dtype of its partner, as in torch."""
    if isinstance(b, (int, float, np.generic)):
        number = b.item() if isinstance(b, np.generic) else b
        if a.data.dtype.kind in "biu" and (isinstance(number, float) or row is arithmetic.DIV):
            a = a.float()
        return apply(scalar_row, (a,), number)
    return apply(row, _promoted(row, a, b if isinstance(b, Tensor) else as_tensor(b)))


def _promoted(row: Primitive, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    x, y = a.data.dtype, b.data.dtype
    if x is y and x.kind == "f":
        return a, b
    if x.kind != "f" and (y.kind == "f" or row is arithmetic.DIV):
        a = a.to(y if y.kind == "f" else np.float32)
    if y.kind != "f" and a.data.dtype.kind == "f":
        b = b.to(a.data.dtype)
    return a, b


def apply(row: Primitive, inputs: Sequence[Tensor], *params: Any) -> Tensor:
    """Run a primitive: compute, tell the listener, and leave a node on the tape if an input needs a gradient.

    Raises:
        ShapeError: the inputs' shapes do not fit together.
    """
    # one pass over the inputs: their arrays, and where their gradients would go
    arrays: list[Array] = []
    edges: list[Node | Tensor | None] = []
    wanted = False
    for t in inputs:
        arrays.append(t.data)
        if t._requires_grad:
            edges.append(t.node or t)
            wanted = True
        else:
            edges.append(None)
    try:
        out, saved = row.value(*arrays, *params)
    except ShapeError:
        raise
    except ValueError as error:
        raise _lesson(row, arrays, error) from None
    result = Tensor(out)
    mode = GRADIENT_MODE.get()
    if wanted and mode is not False:
        node = Node(row, edges, saved, out.dtype)
        result._requires_grad, result.node = True, node
        if mode is not True:
            mode.record(node)
    listener = current_listener()
    if listener is not None:
        _tell(listener, row, inputs, arrays, result, saved, mode is True)
    return result


def _lesson(row: Primitive, arrays: Sequence[Array], error: ValueError) -> ShapeError:
    shapes = [a.shape for a in arrays]
    if len(shapes) == 2:
        return ShapeError(broadcast_lesson(row.name, *shapes))
    return ShapeError(f"{row.name} of {' and '.join(map(str, shapes))}: {error}")


def _tell(
    listener: Listener,
    row: Primitive,
    inputs: Sequence[Tensor],
    arrays: Sequence[Array],
    result: Tensor,
    saved: tuple[Any, ...],
    keeps: bool,
) -> None:
    """Announce a forward primitive and the memory that its result and saved arrays hold."""
    out, node = result.data, result.node
    for flops, nbytes, matmul in row.forward_work(out, arrays):
        listener.primitive(row.name, "forward", flops, nbytes, out.dtype, matmul)
    shared = row.is_view and (isinstance(out, MetaArray) or out.base is not None)
    kind = "workspace" if node is None else "activations"
    result.token = inputs[0].token if shared else listener.allocate(out.nbytes, kind)
    if node is None:
        return
    node.work = row.backward_work(out, arrays, node.edges)
    if keeps:
        known = {id(a): t.token for a, t in zip(arrays, inputs, strict=True)}
        known[id(out)] = result.token
        node.tokens = [
            known[id(s)] if id(s) in known else listener.allocate(s.nbytes, "activations")
            for s in saved
            if isinstance(s, (np.ndarray, MetaArray))
        ]
