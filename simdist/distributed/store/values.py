"""What happens to a key when it is set, added to, compared?

torch's rules, over any mapping: a dictionary in this process, a table in a file. Nothing waits here: ``missing`` says for
which keys an operation would have to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, NamedTuple

from simdist.errors import QueueEmptyError

__all__ = ["CHANGES", "WORKERS", "Values"]

CHANGES = frozenset(
    {"add", "append", "compare_set", "delete_key", "multi_set", "queue_pop", "queue_push", "set"}
)  # fmt: skip
"""The operations after which somebody who waits may go on."""

WORKERS = "init/"
"""torch's own key of a TCPStore, which counts who has come; it is counted but not listed."""


class Values:
    """Keys, their values, and queues.

    Args:
        keys: where the values are; None: in a new dictionary.
        hidden: how many keys there are besides, which nobody sees but ``num_keys`` counts.
    """

    def __init__(self, keys: MutableMapping[str, bytes] | None = None, hidden: int = 0) -> None:
        self._keys: MutableMapping[str, bytes] = {} if keys is None else keys
        self._queues: dict[str, deque[bytes]] = {}
        self._hidden = hidden

    def do(self, operation: str, *arguments: Any) -> Any:
        """The operation of that name."""
        return getattr(self, operation)(*arguments)

    def missing(self, operation: str, *arguments: Any) -> list[str]:
        """The keys that must come before the operation can be done."""
        row = _WAITS.get(operation)
        return [] if row is None else [key for key in row.keys(*arguments) if not row.there(self, key, *arguments)]

    def lacks(self, key: str, operation: str, *arguments: Any) -> bool:
        """Whether the operation has to wait for ``key``, one of those that were missing."""
        return not _WAITS[operation].there(self, key, *arguments)

    def _has(self, key: str) -> bool:
        return key in self._keys or bool(self._queues.get(key))

    def set(self, key: str, value: bytes) -> None:
        """Store a value, whatever was there."""
        self._keys[key] = value

    def get(self, key: str) -> bytes:
        """The value, which must be there."""
        return self._keys[key]

    def wait(self, keys: Sequence[str]) -> None:
        """Nothing: whoever may do this has waited."""

    def add(self, key: str, amount: int) -> int:
        """Add to a number (0 if there is none) and return the sum.

        Raises:
            ValueError: what is stored is no number.
        """
        old = self._keys.get(key)
        try:
            total = int(old or b"0") + int(amount)
        except ValueError:
            raise ValueError(f"add({key!r}): the value {old!r} is not a whole number.") from None
        self._keys[key] = str(total).encode()
        return total

    def compare_set(self, key: str, expected: bytes, desired: bytes) -> bytes:
        """Store the desired value if the expected one is there, or none is there and none was expected."""
        old = self._keys.get(key)
        if old is None and expected:
            return expected
        if old is not None and old != expected:
            return old
        self._keys[key] = desired
        return desired

    def append(self, key: str, value: bytes) -> None:
        """Append to a value (a new one begins empty)."""
        self._keys[key] = self._keys.get(key, b"") + value

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there."""
        return all(self._has(key) for key in keys)

    def delete_key(self, key: str) -> bool:
        """Forget a key; whether it was there."""
        return self._keys.pop(key, None) is not None

    def num_keys(self) -> int:
        """How many keys there are (queues are not counted)."""
        return len(self._keys) + self._hidden

    def list_keys(self) -> list[str]:
        """All keys, in order."""
        return sorted(key for key in self._keys if key != WORKERS)

    def multi_set(self, keys: Sequence[str], values: Sequence[bytes]) -> None:
        """``set`` for each pair."""
        for key, value in zip(keys, values, strict=True):
            self._keys[key] = value

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """``get`` for each key."""
        return [self._keys[key] for key in keys]

    def queue_push(self, key: str, value: bytes) -> None:
        """Put a value at the end of a queue."""
        self._queues.setdefault(key, deque()).append(value)

    def queue_pop(self, key: str, block: bool) -> bytes:
        """Take the first value of a queue.

        Raises:
            QueueEmptyError: there is none.
        """
        queue = self._queues.get(key)
        if not queue:
            raise QueueEmptyError(
                f"queue_pop({key!r}, block=False): the queue is empty. Leave out block=False to wait for a value."
            )
        return queue.popleft()

    def queue_len(self, key: str) -> int:
        """How many values a queue has."""
        return len(self._queues.get(key, ()))

    def come_up_to(self, key: str, number: int) -> None:
        """Nothing: whoever may do this has waited until the number was reached."""


class _Row(NamedTuple):
    """What an operation waits for.

    Attributes:
        keys: (its arguments) -> the keys that it needs.
        there: (values, key, its arguments) -> whether that key is there.
    """

    keys: Callable[..., Sequence[str]]
    there: Callable[..., bool]


_WAITS: dict[str, _Row] = {
    "get": _Row(lambda key: [key], lambda values, key, *_: key in values._keys),
    "multi_get": _Row(lambda keys: keys, lambda values, key, *_: key in values._keys),
    "wait": _Row(lambda keys: keys, lambda values, key, *_: values._has(key)),
    "queue_pop": _Row(lambda key, block: [key] if block else [], lambda values, key, *_: bool(values._queues.get(key))),
    "come_up_to": _Row(
        lambda key, number: [key], lambda values, key, _, number: int(values._keys.get(key, b"0")) >= number
    ),
}
