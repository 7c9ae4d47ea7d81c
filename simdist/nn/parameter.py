"""What is a parameter, and where do its first values come from?

A Parameter is a leaf tensor that wants a gradient and that modules find by themselves. Its first values have an address: (seed,
name in the model, index); see ``tensor.random``. The full name is known only when the model is built, so a parameter starts as a
*description* (``Initial``) and its numbers are drawn when they are first touched:

* attaching a module or parameter under a name puts that name in front of the address;
* the first ``parameters()``, ``state_dict()`` or call of a module fixes the addresses below it, relative to that module. A
  wrapper such as DistributedDataParallel therefore changes nothing, and neither does the order of construction.

Seed, dtype and device are those of the moment of construction. Two models of equal structure start equal for one seed.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from simdist.tensor import MetaArray, Tensor, random
from simdist.tensor.creation import DEFAULT_DTYPE, array_from
from simdist.tensor.device import current_device
from simdist.tensor.observe import current_listener

__all__ = ["DRAWS", "Initial", "Parameter"]

DRAWS: dict[str, Any] = {
    "uniform": lambda i, name, count: (random.uniform(i.seed, name, 0, count) * 2.0 - 1.0) * i.scale,
    "normal": lambda i, name, count: random.normal(i.seed, name, 0, count) * i.scale,
    "constant": lambda i, name, count: np.full(count, i.scale),
}
"""Distributions by name: uniform in +- scale, normal with standard deviation scale, all equal to scale."""


class Initial(NamedTuple):
    """The description of a parameter's first values.

    Attributes:
        shape: of the parameter.
        draw: a key of ``DRAWS``.
        scale: see there.
        seed: of the moment of construction.
        dtype: of the parameter.
        device: ``"real"`` or ``"meta"``.
    """

    shape: tuple[int, ...]
    draw: str
    scale: float
    seed: int
    dtype: np.dtype[Any]
    device: str

    def array(self, name: str) -> Any:
        """The values at the address ``name``."""
        if self.device == "meta":
            return MetaArray(self.shape, self.dtype)
        flat = DRAWS[self.draw](self, name, math.prod(self.shape))
        return flat.astype(self.dtype).reshape(self.shape)


class Parameter(Tensor):
    """A leaf tensor that a module owns.

    Args:
        data: an array, tensor or numbers.
        requires_grad: False for a frozen one.

    Attributes:
        address: the name that its first values are drawn from.
        is_fixed: whether the address is final.
    """

    __slots__ = ("_initial", "address", "is_fixed")

    _initial: Initial | None
    address: str
    is_fixed: bool

    def __init__(self, data: Any, requires_grad: bool = True) -> None:
        array = data.data if isinstance(data, Tensor) else array_from(data)
        super().__init__(array, requires_grad)
        self._initial, self.address, self.is_fixed = None, "", True
        self._count_memory()

    @staticmethod
    def drawn(shape: tuple[int, ...], draw: str, scale: float, dtype: Any = None) -> Parameter:
        """A parameter whose values are drawn by address when they are first touched."""
        kind = np.dtype(dtype or DEFAULT_DTYPE)
        result = _Undrawn(np.zeros(0, kind))
        result._initial = Initial(tuple(shape), draw, scale, random.current_seed(), kind, current_device())
        result.is_fixed = False
        result.token = None
        del result.data  # the slot is empty until the values are drawn
        return result

    def _count_memory(self) -> None:
        listener = current_listener()
        if listener is not None and self.data.size:
            self.token = listener.allocate(self.data.nbytes, "parameters")

    def prefix(self, name: str) -> None:
        """The parameter, or the module that holds it, was attached under ``name``."""
        if not self.is_fixed:
            self.address = f"{name}.{self.address}" if self.address else name

    def fix(self, address: str) -> None:
        """The final address; later calls change nothing."""
        if not self.is_fixed:
            self.address, self.is_fixed = address, True

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "address": self.address}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Parameter.__init__(self, state["data"], state["requires_grad"])
        self.grad, self.address = state["grad"], state["address"]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class _Undrawn(Parameter):
    """A parameter that has only a description yet: it draws its values when they are first touched, and is a Parameter then.

    A class of its own, since a class with ``__getattr__`` pays for it at every attribute.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name != "data" or self._initial is None:
            raise AttributeError(f"'Parameter' object has no attribute {name!r}")
        self.data = self._initial.array(self.address)
        self._initial, self.is_fixed = None, True
        self._count_memory()
        self.__class__ = Parameter  # type: ignore[assignment]
        return self.data

    def requires_grad_(self, requires_grad: bool = True) -> _Undrawn:
        """Freeze or unfreeze: its dtype is floating point, so nothing has to be drawn to know that."""
        self._requires_grad = bool(requires_grad)
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A copy or a pickle is one of the drawn parameter."""
        _ = self.data
        return Parameter.__reduce_ex__(self, protocol)
