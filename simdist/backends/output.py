"""Who printed that?

While a run is under way, lines that a simulated rank prints carry its rank: ``[rank 2] loss 0.3``. ``sys.stdout`` and
``sys.stderr`` are replaced by a writer that asks for the current rank; runs may be nested in threads, so the writer
is counted.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from .context import current

__all__ = ["prefixed_output"]

_lock = threading.Lock()
_users = 0
_saved: tuple[TextIO, TextIO] | None = None


class _Prefixer:
    """A text stream that puts ``[rank r]`` before each line that a rank writes; lines of two ranks never mix."""

    def __init__(self, inner: TextIO) -> None:
        self._inner = inner
        self._partial: dict[int, str] = {}

    def write(self, text: str) -> int:
        world = current()
        if world is None:
            return self._inner.write(text)
        *lines, rest = (self._partial.pop(world.rank, "") + text).split("\n")
        for line in lines:
            self._inner.write(f"[rank {world.rank}] {line}\n")
        if rest:
            self._partial[world.rank] = rest
        return len(text)

    def finish(self) -> None:
        """Write what ranks left without an end of line."""
        for rank, rest in sorted(self._partial.items()):
            self._inner.write(f"[rank {rank}] {rest}\n")
        self._partial.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@contextmanager
def prefixed_output() -> Iterator[None]:
    """For as long as the block runs, what ranks print carries their number."""
    global _users, _saved
    with _lock:
        if _users == 0:
            _saved = (sys.stdout, sys.stderr)
            sys.stdout, sys.stderr = _Prefixer(sys.stdout), _Prefixer(sys.stderr)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _saved is not None:
                for stream in (sys.stdout, sys.stderr):
                    if isinstance(stream, _Prefixer):
                        stream.finish()
                sys.stdout, sys.stderr = _saved
                _saved = None
