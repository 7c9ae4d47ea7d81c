"""How do two users of one store keep apart?

Each sees only the keys that begin with its prefix: ``"a"`` is stored as ``"prefix/a"``.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from .store import Store

__all__ = ["PrefixStore"]


class PrefixStore(Store):
    """A part of another store.

    Args:
        prefix: what its keys begin with.
        store: where they are. Its timeout is the prefix store's.
    """

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
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

    def has_extended_api(self) -> bool:
        """What the underlying store says."""
        return self._store.has_extended_api()

    def _do(self, operation: str, arguments: tuple[Any, ...], limit: float | None) -> Any:
        if arguments:
            first, *rest = arguments
            named = [self._prefix + key for key in first] if isinstance(first, list) else self._prefix + first
            arguments = named, *rest
        return self._store._do(operation, arguments, self._store._limit if limit is None else limit)

    def list_keys(self) -> list[str]:
        """The keys with this prefix, without it, in order."""
        found = self._store.list_keys()
        return [key.removeprefix(self._prefix) for key in found if key.startswith(self._prefix)]
