"""Who owns an array while an asynchronous operation is under way?

The operation, from the call until ``wait()`` returns: torch forbids to touch the array and says nothing if one does. In a checked
run simdist notices:

* **Results are not there yet.** An array that will be overwritten is filled with what cannot be mistaken for a result: NaN, or
  the smallest whole number of its dtype (the largest, without a sign). A Tensor refuses to be used at all, with both lines.
* **Stamps.** At the call each array gets a stamp, a checksum of its contents; at ``wait()`` it must still fit. An array that was
  changed meanwhile is told with the line of the call and that of the wait.
* **One owner.** An array that belongs to one operation cannot be given to another that would change it, or read what is not
  there.

What it costs: docs/decisions/0011-lent-arrays-are-stamped.md. An operation for which nobody waits checks nothing: its `Work`
holds the loan, and with the Work it is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakValueDictionary
from zlib import crc32

import numpy as np

from simdist import place
from simdist.backends.world import World
from simdist.errors import BufferInUseError
from simdist.place import Place
from simdist.tensor import Tensor
from simdist.units import format_time

from .lent_array import LentArray, lent, plain

__all__ = ["NOTHING", "Lender", "Lent", "Loan", "lend", "poison", "refuse_lent", "stamp"]

Lent = tuple[Sequence[Any], Sequence[Any]]
"""The arrays that an operation overwrites, and those that it only reads: numpy arrays, Tensors, shapes (never guarded)."""

NOTHING: Lent = ((), ())

_COLUMNS = 1021  # words in a row of the checksum: a prime, so that rows of an array do not come to lie below each other


class Lender(NamedTuple):
    """The operation to which arrays are lent.

    Attributes:
        world: the rank.
        name: what says how the operation is called, ``"all_reduce #3 of group 'world'"``: asked when there is an error.
        where: the user's line.
    """

    world: World
    name: Callable[[], str]
    where: Place | None

    @property
    def what(self) -> str:
        """The operation."""
        return self.name()

    def __str__(self) -> str:
        return f"{self.what} ({place.text(self.where)})"

    def error(self, text: str) -> BufferInUseError:
        """An error with the rank and its time."""
        return BufferInUseError(f"rank {self.world.rank} at {format_time(self.world.now())}: {text}")

    def touched(self, array: Any) -> BufferInUseError:
        """A Tensor is used before its result is there."""
        return self.error(
            f"the Tensor {array.shape} {array.dtype} is used ({place.text(place.caller())}) while it belongs to {self}: its "
            "result is there when wait() has returned. Wait first, or compute with something else meanwhile."
        )


class Loan:
    """Arrays that belong to one operation.

    Attributes:
        lender: the operation.
        written: arrays that it will overwrite.
        read: arrays that it only reads.
    """

    __slots__ = ("__weakref__", "_stamps", "_tensors", "lender", "read", "written")

    def __init__(self, lender: Lender, arrays: Lent) -> None:
        self.lender = lender
        self.written, self.read = _with_numbers(arrays[0]), _with_numbers(arrays[1])
        for array in self.written:
            poison(array)
        self._stamps = [_first_stamp(array) for array in self.written] + [stamp(array) for array in self.read]
        self._tensors = [(t, t.data) for t in arrays[0] if isinstance(t, Tensor) and isinstance(t.data, np.ndarray)]
        for tensor, array in self._tensors:
            tensor.data = lent(array, lender)

    def give_back(self) -> None:
        """The operation is over: Tensors can be used again."""
        for tensor, array in self._tensors:
            if isinstance(tensor.data, LentArray):
                tensor.data = array

    def inspect(self) -> None:
        """Compare all arrays with their stamps.

        Raises:
            BufferInUseError: one was changed since the loan began.
        """
        for array, before in zip(self.written + self.read, self._stamps, strict=True):
            if stamp(array) != before:
                raise self.lender.error(
                    f"an array {array.shape} {array.dtype} of {self.lender} was changed before wait() "
                    f"({place.text(place.caller())}): it belongs to the operation until wait() returns. Wait before you change "
                    "it, or work on a copy: x.copy()."
                )


def lend(lender: Lender, arrays: Lent) -> Loan:
    """Let an operation, which has taken its input already, own arrays until its ``wait()``."""
    loan, state = Loan(lender, arrays), lender.world.state
    loans: WeakValueDictionary[int, Loan] = state.setdefault("loans", WeakValueDictionary())
    state["loans made"] = number = state.get("loans made", 0) + 1
    loans[number] = loan
    return loan


def refuse_lent(world: World, what: Callable[[], str], arrays: Lent) -> None:
    """Look whether arrays that are given to a new operation belong to another one.

    Args:
        world: the rank.
        what: how the new operation is called.
        arrays: what it is given.

    Raises:
        BufferInUseError: it would change an array that is lent, or read one whose result is not there.
    """
    loans = world.state.get("loans")
    if not loans:
        return
    writes, reads = _with_numbers(arrays[0]), _with_numbers(arrays[1])
    for loan in list(loans.values()):
        if _overlap(writes, loan.written + loan.read) or _overlap(reads, loan.written):
            raise loan.lender.error(
                f"{what()} ({place.text(place.caller())}) is given an array that belongs to {loan.lender} until wait() returns. "
                "Wait first, or give it another array."
            )


def _with_numbers(values: Iterable[Any]) -> list[Any]:
    """The arrays that have numbers; of a Tensor that is lent, the plain one."""
    arrays = [value.data if isinstance(value, Tensor) else value for value in values]
    return [plain(array) for array in arrays if isinstance(array, np.ndarray) and array.size]


def _overlap(some: list[Any], others: list[Any]) -> bool:
    return any(np.may_share_memory(a, b) and np.shares_memory(a, b) for a in some for b in others)


def poison(array: Any) -> None:
    """Fill an array with what is no result: NaN, or an end of the range of its whole numbers (truth values stay as they are)."""
    kind = array.dtype.kind
    if kind in "fc":
        array.fill(np.nan)
    elif kind in "iu":
        limits = np.iinfo(array.dtype)
        array.fill(limits.min if kind == "i" else limits.max)


def _first_stamp(array: Any) -> int:
    """The stamp of an array that has just been poisoned: equal for all of one size and dtype."""
    return stamp(array) if array.dtype.kind == "b" else _stamp_of_nothing(array.size, array.dtype)


@lru_cache(maxsize=256)
def _stamp_of_nothing(size: int, dtype: np.dtype[Any]) -> int:
    array = np.empty(size, dtype)
    poison(array)
    return stamp(array)


def stamp(array: Any) -> int:
    """A checksum of an array's contents, at about the speed of a copy.

    Words of eight bytes are added column by column, in rows of a prime length, and the sums go into a CRC together with the rest.
    A change of one element always shows; an exchange of elements shows unless they are words of one column.
    """
    flat: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    size = flat.size // 8 // _COLUMNS * _COLUMNS
    if not size:
        return crc32(flat)
    sums: Any = np.add.reduce(flat[: 8 * size].view(np.uint64).reshape(-1, _COLUMNS), axis=0)
    return crc32(flat[8 * size :], crc32(sums))
