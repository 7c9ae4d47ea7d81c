"""Which elements does a chunk hold?

A buffer of n elements is cut into p chunks whose sizes differ by at most one; the longer ones come first. With n < p
the last chunks are empty, and messages about them are empty too: every algorithm works for every n.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["bounds"]


@lru_cache(maxsize=4096)
def bounds(length: int, parts: int) -> tuple[int, ...]:
    """The ``parts + 1`` positions where chunks begin and end: chunk i is ``buffer[b[i]:b[i + 1]]``.

    Args:
        length: number of elements of the buffer.
        parts: number of chunks, at least 1.
    """
    short, longer = divmod(length, parts)
    return tuple(i * short + min(i, longer) for i in range(parts + 1))
