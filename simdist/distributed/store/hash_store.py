"""How do threads of one process share notes?

A dictionary and a condition. It lives in one process and is not copied into another one; simulated ranks that must share
something exchange it (``broadcast_object_list``). A simulated rank never waits in one: a key that is not there is an error
at once.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta

from simdist.backends import context
from simdist.distributed.work import seconds_of
from simdist.errors import DistStoreError

from .store import DEFAULT_TIMEOUT, Store, as_bytes, plus

__all__ = ["HashStore"]


class HashStore(Store):
    """A store of one process.

    Args:
        timeout: how long ``get`` and ``wait`` wait.
    """

    def __init__(self, timeout: timedelta = DEFAULT_TIMEOUT) -> None:
        super().__init__(timeout)
        self._values: dict[str, bytes] = {}
        self._changed = threading.Condition()

    def _put(self, key: str, value: bytes) -> None:
        self._values[key] = value
        self._changed.notify_all()

    def set(self, key: str, value: str | bytes) -> None:
        """Store ``value``, whatever was there."""
        with self._changed:
            self._put(key, as_bytes(value))

    def get(self, key: str) -> bytes:
        """The value, as soon as it is there.

        Raises:
            DistStoreError: it did not come within the timeout.
        """
        with self._changed:
            self._await([key], self.timeout.total_seconds())
            return self._values[key]

    def wait(self, keys: Sequence[str], timeout: float | timedelta | None = None) -> None:
        """Return when all keys are there.

        Raises:
            DistStoreError: they did not come within the timeout.
        """
        limit = seconds_of(timeout)
        with self._changed:
            self._await(keys, self.timeout.total_seconds() if limit is None else limit)

    def _await(self, keys: Sequence[str], limit: float) -> None:
        world = context.current()
        if world is not None and world.backend == "sim":
            limit = 0.0  # all simulated ranks share this thread: nobody could set the key meanwhile
        if not self._changed.wait_for(lambda: all(key in self._values for key in keys), limit):
            missing = [key for key in keys if key not in self._values]
            raise DistStoreError(
                f"waited {limit:g} s for {', '.join(map(repr, missing))}: nobody has set it. Look at who should have, or give "
                "more time: store.set_timeout(...)."
            )

    def add(self, key: str, amount: int) -> int:
        """Add to a number and return the sum."""
        with self._changed:
            total = plus(key, self._values.get(key), amount)
            self._put(key, str(total).encode())
            return total

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Store the desired value if the expected one is there, or none is there and none was expected."""
        expected = as_bytes(expected_value)
        with self._changed:
            old = self._values.get(key)
            if old is None and expected:
                return expected
            if old is not None and old != expected:
                return old
            self._put(key, as_bytes(desired_value))
            return self._values[key]

    def append(self, key: str, value: str | bytes) -> None:
        """Append to a value."""
        with self._changed:
            self._put(key, self._values.get(key, b"") + as_bytes(value))

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there now."""
        with self._changed:
            return all(key in self._values for key in keys)

    def delete_key(self, key: str) -> bool:
        """Forget a key; whether it was there."""
        with self._changed:
            return self._values.pop(key, None) is not None

    def num_keys(self) -> int:
        """How many keys there are."""
        return len(self._values)

    def list_keys(self) -> list[str]:
        """All keys, in order."""
        with self._changed:
            return sorted(self._values)
