"""How do two users of one store keep apart?

Each sees only the keys that begin with its prefix: ``"a"`` is stored as ``"prefix/a"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from .store import Store

__all__ = ["PrefixStore"]


class PrefixStore(Store):
    """A part of another store.

    Args:
        prefix: what its keys begin with.
        store: where they are.
    """

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__(store.timeout)
        self._prefix, self._store = f"{prefix}/", store

    @property
    def underlying_store(self) -> Store:
        """The store that holds the keys."""
        return self._store

    @property
    def timeout(self) -> timedelta:
        """That of the underlying store."""
        return self._store.timeout

    def set_timeout(self, timeout: float | timedelta) -> None:
        """Change that of the underlying store."""
        self._store.set_timeout(timeout)

    def _full(self, keys: Sequence[str]) -> list[str]:
        return [self._prefix + key for key in keys]

    def set(self, key: str, value: str | bytes) -> None:
        """Store ``value``, whatever was there."""
        self._store.set(self._prefix + key, value)

    def get(self, key: str) -> bytes:
        """The value, as soon as it is there."""
        return self._store.get(self._prefix + key)

    def wait(self, keys: Sequence[str], timeout: float | timedelta | None = None) -> None:
        """Return when all keys are there."""
        self._store.wait(self._full(keys), timeout)

    def add(self, key: str, amount: int) -> int:
        """Add to a number and return the sum."""
        return self._store.add(self._prefix + key, amount)

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Store the desired value if the expected one is there, or none is there and none was expected."""
        return self._store.compare_set(self._prefix + key, expected_value, desired_value)

    def append(self, key: str, value: str | bytes) -> None:
        """Append to a value."""
        self._store.append(self._prefix + key, value)

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there now."""
        return self._store.check(self._full(keys))

    def delete_key(self, key: str) -> bool:
        """Forget a key; whether it was there."""
        return self._store.delete_key(self._prefix + key)

    def num_keys(self) -> int:
        """How many keys the underlying store has, as in torch."""
        return self._store.num_keys()

    def list_keys(self) -> list[str]:
        """The keys with this prefix, without it, in order."""
        found = self._store.list_keys()
        return [key.removeprefix(self._prefix) for key in found if key.startswith(self._prefix)]
