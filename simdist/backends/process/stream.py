"""Where does a rank's print go?

To the caller, line by line, who writes it to its own standard output with the rank in front: so it is seen in a notebook
too, and lines of two ranks never mix.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable

__all__ = ["RankStream"]


class RankStream(io.TextIOBase):
    """A text stream that hands over whole lines.

    Args:
        emit: takes one line, without its end.
    """

    def __init__(self, emit: Callable[[str], None]) -> None:
        self._emit = emit
        self._rest = ""
        self._guard = threading.Lock()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Lines travel as UTF-8."""
        return "utf-8"

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def write(self, text: str) -> int:
        """Hand over every complete line; keep the rest."""
        with self._guard:
            *lines, self._rest = (self._rest + text).split("\n")
            for line in lines:
                self._emit(line)
        return len(text)

    def finish(self) -> None:
        """Hand over what is left without a line end."""
        with self._guard:
            if self._rest:
                self._emit(self._rest)
            self._rest = ""
