"""What can be asked of a store?

torch's rules. Keys are texts, values are bytes. ``get`` and ``wait`` block until the key is there or the store's timeout is
over; everything else answers at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta

from simdist.distributed.work import seconds_of

__all__ = ["DEFAULT_TIMEOUT", "Store", "as_bytes", "plus"]

DEFAULT_TIMEOUT = timedelta(seconds=300)


def as_bytes(value: str | bytes) -> bytes:
    """A value as it is stored."""
    return value.encode() if isinstance(value, str) else bytes(value)


def plus(key: str, old: bytes | None, amount: int) -> int:
    """The number stored under ``key`` (0 if there is none) plus ``amount``.

    Raises:
        ValueError: what is stored is no number.
    """
    try:
        return int(old or b"0") + int(amount)
    except ValueError:
        raise ValueError(f"add({key!r}): the value {old!r} is not a whole number.") from None


class Store(ABC):
    """Keys and values that several ranks share."""

    def __init__(self, timeout: timedelta = DEFAULT_TIMEOUT) -> None:
        self._timeout = timeout

    @property
    def timeout(self) -> timedelta:
        """How long ``get`` and ``wait`` wait."""
        return self._timeout

    def set_timeout(self, timeout: float | timedelta) -> None:
        """Change it (seconds, or a ``timedelta``)."""
        self._timeout = timedelta(seconds=seconds_of(timeout) or 0.0)

    @abstractmethod
    def set(self, key: str, value: str | bytes) -> None:
        """Store ``value``, whatever was there."""

    @abstractmethod
    def get(self, key: str) -> bytes:
        """The value, as soon as it is there; DistStoreError after the timeout."""

    @abstractmethod
    def wait(self, keys: Sequence[str], timeout: float | timedelta | None = None) -> None:
        """Return when all keys are there; DistStoreError after the timeout."""

    @abstractmethod
    def add(self, key: str, amount: int) -> int:
        """Add to a number (a new one begins at 0) and return the sum; ValueError if it is none."""

    @abstractmethod
    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Store the desired value if the expected one is there, or none is there and none was expected ("").

        Returns:
            What is there afterwards; the expected value if nothing is there.
        """

    @abstractmethod
    def append(self, key: str, value: str | bytes) -> None:
        """Append to a value (a new one begins empty)."""

    @abstractmethod
    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there now."""

    @abstractmethod
    def delete_key(self, key: str) -> bool:
        """Forget a key; whether it was there."""

    @abstractmethod
    def num_keys(self) -> int:
        """How many keys there are."""

    @abstractmethod
    def list_keys(self) -> list[str]:
        """All keys, in order."""

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """``set`` for each pair."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """``get`` for each key."""
        return [self.get(key) for key in keys]
