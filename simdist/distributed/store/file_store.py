"""How do processes that share a disk share notes?

In a file that all of them open. It must be new for each use: keys of an earlier one would be found. When all of
``world_size`` users have left, it is removed. In simulation no file is written: its name names the store, and waiting takes
simulated time.
"""

from __future__ import annotations

import os
import time
import weakref
from datetime import timedelta
from pathlib import Path
from typing import Any

from simdist.backends import context
from simdist.errors import StoreOperationError

from .board import Board, late, limit_now, said
from .file_table import visit
from .store import DEFAULT_TIMEOUT, Store
from .values import Values

__all__ = ["FileStore"]

_PAUSE = 0.01  # between two looks at the file
_OWN_KEYS = 1  # torch counts its users under a key of its own


class FileStore(Store):
    """A store in a file.

    Args:
        file_name: the file. It is made if it is not there.
        world_size: how many processes use it; the last one to leave removes it. -1: it stays.
        timeout: how long ``get`` and the like wait: seconds, or a ``timedelta``.

    Attributes:
        path: ``file_name``.

    Raises:
        DistStoreError: the file cannot be used.
    """

    def __init__(self, file_name: str, world_size: int = -1, timeout: float | timedelta = DEFAULT_TIMEOUT) -> None:
        super().__init__(timeout)
        self.path = os.fspath(file_name)
        self._board: Board | None = None
        world = context.current()
        if world is not None and world.commons is not None:
            self._board = _simulated(world.commons, str(Path(self.path).resolve()))
            return
        with visit(self.path) as table:
            table.count(present=1, gone=0)
        weakref.finalize(self, _leave, self.path, world_size, os.getpid())

    def has_extended_api(self) -> bool:
        """False, as in torch: there are no queues."""
        return False

    def _do(self, operation: str, arguments: tuple[Any, ...], limit: float | None) -> Any:
        if operation.startswith("queue_"):
            raise StoreOperationError(f"a FileStore has no queues ({operation}). Use a TCPStore or a HashStore.")
        if self._board is not None:
            return self._board.do(operation, arguments, limit)
        limit = limit_now(limit)
        assert limit is not None
        end = time.monotonic() + limit
        while True:
            with visit(self.path) as table:
                values = Values(table, _OWN_KEYS)
                missing = values.missing(operation, *arguments)
                if not missing:
                    return values.do(operation, *arguments)
            if time.monotonic() >= end:
                raise late(said(operation, arguments), missing, limit)
            time.sleep(min(_PAUSE, max(0.0, end - time.monotonic())))


def _simulated(commons: Any, path: str) -> Board:
    """The board of the store in the file called ``path`` in this run."""
    board: Board = commons.touch(
        f"FileStore {path}", lambda: commons.things.setdefault(("file", path), Board(Values(hidden=_OWN_KEYS)))
    )
    return board


def _leave(path: str, world_size: int, process: int) -> None:
    """A user goes; the last of all removes the file."""
    if process != os.getpid() or not Path(path).exists():
        return
    with visit(path) as table:
        present, gone = table.count(present=-1, gone=1)
    if not present and 0 < world_size <= gone:
        Path(path).unlink()
