"""Which values may a field of a machine description hold?

Each check returns the value as it is kept (a float, an int, a tuple) or refuses it with a ``ClusterError`` that names the
thing described, the key and the value: a description that cannot be true must not get as far as a simulation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from simdist.errors import ClusterError, nearest

__all__ = ["choice", "count", "fraction", "hint", "known_keys", "not_negative", "positive"]


def _number(thing: str, key: str, value: Any, wanted: str, advice: str) -> float:
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise ClusterError(f"{thing}: {key} must be {wanted}, got {value!r}. {advice}".rstrip())
    return float(value)


def positive(thing: str, key: str, value: Any, advice: str = "") -> float:
    """A finite number above zero (a rate, a capacity).

    Raises:
        ClusterError: zero, negative, infinite, not a number, or not numeric at all.
    """
    number = _number(thing, key, value, "a finite number above 0", advice)
    if not (math.isfinite(number) and number > 0):
        raise ClusterError(f"{thing}: {key} must be a finite number above 0, got {value!r}. {advice}".rstrip())
    return number


def not_negative(thing: str, key: str, value: Any, advice: str = "") -> float:
    """A finite number of zero or more (a latency, an overhead).

    Raises:
        ClusterError: negative, infinite, not a number, or not numeric at all.
    """
    number = _number(thing, key, value, "a finite number of 0 or more", advice)
    if not (math.isfinite(number) and number >= 0):
        raise ClusterError(f"{thing}: {key} must be a finite number of 0 or more, got {value!r}. {advice}".rstrip())
    return number


def fraction(thing: str, key: str, value: Any) -> float:
    """A share in (0, 1].

    Raises:
        ClusterError: anything else.
    """
    number = positive(thing, key, value, "It is a share of the peak.")
    if number > 1:
        raise ClusterError(f"{thing}: {key} must lie in (0, 1], got {value!r}. It is a share of the peak.")
    return number


def count(thing: str, key: str, value: Any, least: int = 0) -> int:
    """An integer of at least ``least``.

    Raises:
        ClusterError: not an integer, or too small.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        raise ClusterError(f"{thing}: {key} must be an integer of at least {least}, got {value!r}.")
    return int(value.__index__())


def choice(thing: str, key: str, value: Any, known: Iterable[str]) -> str:
    """One of a few words.

    Raises:
        ClusterError: another word; the text names the nearest.
    """
    words = list(known)
    if value in words:
        return str(value)
    raise ClusterError(
        f"{thing}: {key} must be one of {', '.join(map(repr, words))}, got {value!r}.{hint(value, words)}"
    )


def known_keys(thing: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse the first key that nobody reads: a misspelt key would be ignored in silence.

    Raises:
        ClusterError: naming the key, the nearest known one and all known ones.
    """
    words = list(known)
    for key in given:
        if key not in words:
            raise ClusterError(f"{thing}: unknown key {key!r}.{hint(key, words)} Known keys: {', '.join(words)}.")


def hint(value: Any, words: Iterable[str]) -> str:
    """`` Did you mean ...?`` with the words that look most like ``value``, upper or lower case; empty if none does."""
    small = {word.lower(): word for word in words}
    close = [small[word] for word in nearest(str(value), small)]
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
