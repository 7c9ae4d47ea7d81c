"""What does a Tensor hold while its array is lent to an operation?

The same memory in a class that tells its form and keeps its numbers: whoever computes with it, reads an element or writes one
gets the lender's error. So reads are noticed where they happen and cost nothing where nothing is lent. A plain numpy array cannot
be watched in this way: others hold it already.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

__all__ = ["LentArray", "lent", "plain"]

_FORM = frozenset(
    (
        "shape", "dtype", "ndim", "size", "nbytes", "itemsize", "strides", "flags", "base", "T", "reshape", "transpose", "view",
        "ravel", "squeeze", "__class__", "__dict__", "__array_finalize__", "__array_priority__", "__array_interface__",
        "__array_struct__", "__repr__", "__str__", "__format__", "__len__", "__doc__", "__module__", "__dir__",
    )
)  # fmt: skip
"""What may be asked of an array that is lent; views are lent as well."""

_USES = (
    "__array_ufunc__", "__array_function__", "__getitem__", "__setitem__", "__iter__", "__contains__", "__float__", "__int__",
    "__complex__", "__bool__", "__index__", "__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__array__",
)  # fmt: skip
"""What operators and functions look for in the class itself."""


class Owner(Protocol):
    """To whom an array is lent."""

    def touched(self, array: Any) -> Exception:
        """The error for somebody who uses ``array``."""

    def __str__(self) -> str: ...


class LentArray(np.ndarray[Any, Any]):
    """An array that can be passed on and looked at from outside, and not be used."""

    def __array_finalize__(self, obj: Any) -> None:
        if isinstance(obj, LentArray):
            self.__dict__["owner"] = obj.__dict__["owner"]

    def __getattribute__(self, name: str) -> Any:
        if name not in _FORM:
            raise _owner(self).touched(self)
        return np.ndarray.__getattribute__(self, name)

    def __repr__(self) -> str:
        return f"<{self.shape} {self.dtype}, lent to {_owner(self)}>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)


def _owner(array: LentArray) -> Owner:
    owner: Owner = np.ndarray.__getattribute__(array, "__dict__")["owner"]
    return owner


def _refused(name: str) -> Callable[..., Any]:
    def refuse(self: LentArray, *args: Any, **kwargs: Any) -> Any:
        raise _owner(self).touched(self)

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


for _name in _USES:
    setattr(LentArray, _name, _refused(_name))


def lent(array: Any, owner: Owner) -> LentArray:
    """``array`` as its ``owner`` lets others see it."""
    guarded: LentArray = array.view(LentArray)
    guarded.__dict__["owner"] = owner
    return guarded


def plain(array: Any) -> Any:
    """The same memory for who may use it."""
    return np.ndarray.view(array, np.ndarray) if isinstance(array, LentArray) else array
