"""What can be asked of a store?

torch's rules. Keys are texts, values are bytes. ``get``, ``wait``, ``multi_get`` and ``queue_pop`` block until the key is
there or the store's timeout is over; everything else answers at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from simdist.distributed.work import seconds_of

from .board import DEFAULT_SECONDS

__all__ = ["DEFAULT_TIMEOUT", "Store", "as_bytes"]

DEFAULT_TIMEOUT = timedelta(seconds=DEFAULT_SECONDS)


def as_bytes(value: str | bytes) -> bytes:
    """A value as it is stored."""
    return value.encode() if isinstance(value, str) else bytes(value)


class Store(ABC):
    """Keys and values that several ranks share.

    Args:
        timeout: how long ``get`` and the like wait: seconds of the current clock, or a ``timedelta``. Left at its default
            a simulated rank waits until the key comes, or until no rank can go on.
    """

    def __init__(self, timeout: float | timedelta = DEFAULT_TIMEOUT) -> None:
        self._limit = None if timeout is DEFAULT_TIMEOUT else seconds_of(timeout)

    @abstractmethod
    def _do(self, operation: str, arguments: tuple[Any, ...], limit: float | None) -> Any:
        """One operation of ``Values``, as soon as it can be done; DistStoreError after the limit."""

    @property
    def timeout(self) -> timedelta:
        """How long ``get`` and the like wait."""
        return DEFAULT_TIMEOUT if self._limit is None else timedelta(seconds=self._limit)

    def set_timeout(self, timeout: float | timedelta) -> None:
        """Change it (seconds, or a ``timedelta``)."""
        self._limit = seconds_of(timeout)

    def set(self, key: str, value: str | bytes) -> None:
        """Store ``value``, whatever was there."""
        self._do("set", (key, as_bytes(value)), self._limit)

    def get(self, key: str) -> bytes:
        """The value, as soon as it is there.

        Raises:
            DistStoreError: it did not come within the timeout.
        """
        return bytes(self._do("get", (key,), self._limit))

    def wait(self, keys: Sequence[str], timeout: float | timedelta | None = None) -> None:
        """Return when all keys are there.

        Args:
            keys: the keys.
            timeout: seconds, or a ``timedelta``; None: the store's.

        Raises:
            DistStoreError: they did not come within the timeout.
        """
        self._do("wait", (list(keys),), self._limit if timeout is None else seconds_of(timeout))

    def add(self, key: str, amount: int) -> int:
        """Add to a number (a new one begins at 0) and return the sum.

        Raises:
            ValueError: what is stored is no number.
        """
        return int(self._do("add", (key, int(amount)), self._limit))

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Store the desired value if the expected one is there, or none is there and none was expected ("").

        Returns:
            What is there afterwards; the expected value if nothing is there.
        """
        return bytes(self._do("compare_set", (key, as_bytes(expected_value), as_bytes(desired_value)), self._limit))

    def append(self, key: str, value: str | bytes) -> None:
        """Append to a value (a new one begins empty)."""
        self._do("append", (key, as_bytes(value)), self._limit)

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there now."""
        return bool(self._do("check", (list(keys),), self._limit))

    def delete_key(self, key: str) -> bool:
        """Forget a key; whether it was there."""
        return bool(self._do("delete_key", (key,), self._limit))

    def num_keys(self) -> int:
        """How many keys there are; FileStore and TCPStore count one of their own, as in torch."""
        return int(self._do("num_keys", (), self._limit))

    def list_keys(self) -> list[str]:
        """All keys, in order."""
        return list(self._do("list_keys", (), self._limit))

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """``set`` for each pair."""
        self._do("multi_set", (list(keys), [as_bytes(value) for value in values]), self._limit)

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """``get`` for each key, when all are there."""
        return list(self._do("multi_get", (list(keys),), self._limit))

    def has_extended_api(self) -> bool:
        """Whether ``append``, ``multi_set`` and ``multi_get`` are one step each, and there are queues."""
        return True

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Put a value at the end of the queue ``key``."""
        self._do("queue_push", (key, as_bytes(value)), self._limit)

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Take the first value of the queue ``key``.

        Args:
            key: the queue's name.
            block: wait for a value, up to the timeout.

        Raises:
            QueueEmptyError: there is none, and ``block`` is False.
            DistStoreError: none came within the timeout.
        """
        return bytes(self._do("queue_pop", (key, block), self._limit))

    def queue_len(self, key: str) -> int:
        """How many values are in the queue ``key``."""
        return int(self._do("queue_len", (key,), self._limit))
