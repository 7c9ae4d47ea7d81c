"""How do threads of one process, or the ranks of a simulation, share notes?

A dictionary. It lives in one process and is not copied into another one. A HashStore that is made before the run and used
inside it is one and the same for all simulated ranks; one that a rank makes is the rank's own.
"""

from __future__ import annotations

import os
from datetime import timedelta
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

from simdist.errors import DistStoreError

from .board import Board
from .store import DEFAULT_TIMEOUT, Store

__all__ = ["HashStore"]

_made: WeakValueDictionary[int, HashStore] = WeakValueDictionary()
_numbers = count()


def _found(process: int, number: int) -> HashStore:
    """The store itself, and never a copy."""
    store = _made.get(number) if process == os.getpid() else None
    if store is None:
        raise DistStoreError(
            "a HashStore lives in one process and cannot be sent to another one. Make a TCPStore (over the network) or a "
            "FileStore (one file that all can open) in each rank instead."
        )
    return store


class HashStore(Store):
    """A store of one process.

    Args:
        timeout: how long ``get`` and the like wait: seconds, or a ``timedelta``.
    """

    def __init__(self, timeout: float | timedelta = DEFAULT_TIMEOUT) -> None:
        super().__init__(timeout)
        self._board = Board()
        self._number = next(_numbers)
        _made[self._number] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return _found, (os.getpid(), self._number)

    def _do(self, operation: str, arguments: tuple[Any, ...], limit: float | None) -> Any:
        return self._board.do(operation, arguments, limit)
