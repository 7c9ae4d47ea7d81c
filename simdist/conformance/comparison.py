"""Are two results the same, bit for bit?

Results are numbers, texts, arrays, and lists, tuples and dicts of them.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

__all__ = ["CLOSE", "difference", "fingerprint"]

CLOSE: dict[str, float] = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-12, "complex128": 1e-12}
"""Difference relative to the largest element that is allowed where additions may be done in another order, by dtype."""


def difference(found: Any, expected: Any, exact: bool = True, where: str = "") -> str | None:
    """The first place where two results differ, in words; None if they are the same.

    Args:
        found: what the backend gave.
        expected: what the simulator gave.
        exact: bit for bit; else as far as ``CLOSE`` says.
        where: what these two are, for the text.
    """
    if type(found) is not type(expected):
        return f"{where}: a {type(found).__name__} instead of a {type(expected).__name__}"
    if isinstance(found, np.ndarray):
        return _arrays(found, expected, exact, where)
    if isinstance(found, dict):
        if list(found) != list(expected):
            return f"{where}: keys {list(found)} instead of {list(expected)}"
        return difference(list(found.values()), list(expected.values()), exact, where)
    if isinstance(found, list | tuple):
        if len(found) != len(expected):
            return f"{where}: {len(found)} values instead of {len(expected)}"
        pairs = enumerate(zip(found, expected, strict=True))
        return next((text for i, (a, b) in pairs if (text := difference(a, b, exact, f"{where}[{i}]"))), None)
    if isinstance(found, float):  # of an array of any dtype: the widest limit but for half precision
        kind = np.float64 if exact else np.float32
        return _arrays(np.array(found, kind), np.array(expected, kind), exact, where)
    return None if found == expected else f"{where}: {found!r} instead of {expected!r}"


def _arrays(found: Any, expected: Any, exact: bool, where: str) -> str | None:
    if (found.shape, found.dtype) != (expected.shape, expected.dtype):
        return f"{where}: {found.shape} {found.dtype} instead of {expected.shape} {expected.dtype}"
    a, b = found.reshape(-1), expected.reshape(-1)
    if a.tobytes() == b.tobytes():
        return None
    limit = 0.0 if exact else CLOSE.get(str(a.dtype), 0.0)
    wrong = np.abs(a - b) > limit * max(1.0, float(np.abs(b).max())) if limit else _bitwise(a, b)
    if not wrong.any():
        return None
    first = int(np.flatnonzero(wrong)[0])
    return f"{where}: {int(wrong.sum())} of {a.size} elements differ; element {first} is {a[first]!r} instead of {b[first]!r}"


def _bitwise(a: Any, b: Any) -> Any:
    rows = [np.frombuffer(x.tobytes(), np.uint8).reshape(x.size, x.itemsize) for x in (a, b)]
    return (rows[0] != rows[1]).any(axis=1)


def fingerprint(value: Any) -> str:
    """A number in 64 hexadecimal digits that is equal for equal results only, on any machine."""
    state = hashlib.sha256()
    _add(value, state.update)
    return state.hexdigest()


def _add(value: Any, update: Any) -> None:
    if isinstance(value, np.ndarray):
        update(f"array {value.shape} {value.dtype} ".encode())
        update(value.tobytes())
    elif isinstance(value, dict):
        _add(list(value.items()), update)
    elif isinstance(value, list | tuple):
        update(f"{type(value).__name__} of {len(value)} ".encode())
        for one in value:
            _add(one, update)
    else:
        update(f"{type(value).__name__} {value!r} ".encode())
