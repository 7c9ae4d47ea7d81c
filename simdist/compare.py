"""Are two runs the same, bit for bit?

``compare`` walks through the results of two runs together, rank by rank, and compares every array by its bytes: no
tolerance. It puts the times side by side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .tensor import Tensor
from .units import format_time

if TYPE_CHECKING:
    from .result import Run

__all__ = ["Comparison", "Difference", "compare"]


@dataclass(frozen=True)
class Difference:
    """Two values at one place that are not equal.

    Attributes:
        place: where in the results: ``rank 1['fc.weight']``.
        what: how they differ.
    """

    place: str
    what: str


@dataclass(frozen=True)
class Comparison:
    """What ``compare`` found.

    Attributes:
        labels: how the two runs are called.
        times: seconds of each.
        count: number of values (arrays, numbers, texts) compared.
        differences: where they differ; empty if all bits agree.
    """

    labels: tuple[str, str]
    times: tuple[float, float]
    count: int
    differences: tuple[Difference, ...]

    @property
    def identical(self) -> bool:
        """Whether every value is equal, bit for bit."""
        return not self.differences

    def __bool__(self) -> bool:
        return self.identical

    def __str__(self) -> str:
        head = f"{self.labels[0]}: {format_time(self.times[0])}   {self.labels[1]}: {format_time(self.times[1])}"
        if self.identical:
            return f"{head}\nall {self.count} values agree bit for bit"
        lines = [f"  {d.place}: {d.what}" for d in self.differences[:10]]
        more = len(self.differences) - 10
        if more > 0:
            lines.append(f"  ... and {more} more")
        return f"{head}\n{len(self.differences)} of {self.count} values differ:\n" + "\n".join(lines)


def compare(a: Run, b: Run) -> Comparison:
    """Compare the results of two runs bit for bit, and show their times.

    Args:
        a: a run.
        b: a run of the same function at the same world size, on any backend.

    Raises:
        ValueError: the world sizes differ.
    """
    if a.world_size != b.world_size:
        raise ValueError(
            f"the runs have {a.world_size} and {b.world_size} ranks: only runs of one world size can agree bit for bit. "
            f"Run both with world_size={min(a.world_size, b.world_size)}."
        )
    count, found = 0, []
    for rank, (x, y) in enumerate(zip(a.results, b.results, strict=True)):
        for difference in _walk(f"rank {rank}", x, y):
            count += 1
            if difference is not None:
                found.append(difference)
    return Comparison((_label(a), _label(b)), (a.time, b.time), count, tuple(found))


def _label(run: Run) -> str:
    return "simulated" if run.backend == "sim" else run.backend


def _walk(place: str, a: Any, b: Any) -> Iterator[Difference | None]:
    """One item per value: None if equal."""
    a, b = (v.data if isinstance(v, Tensor) else v for v in (a, b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if list(a) != list(b):
            yield Difference(place, f"has keys {list(a)[:5]} and {list(b)[:5]}")
            return
        for key in a:
            yield from _walk(f"{place}[{key!r}]", a[key], b[key])
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
        if len(a) != len(b):
            yield Difference(place, f"has {len(a)} and {len(b)} entries")
            return
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from _walk(f"{place}[{index}]", x, y)
    elif isinstance(a, np.ndarray | np.generic) or isinstance(b, np.ndarray | np.generic):
        yield _arrays(place, np.asarray(a), np.asarray(b))
    else:
        same = (a == b and type(a) is type(b)) or (_is_nan(a) and _is_nan(b))
        yield None if same else Difference(place, f"{a!r} and {b!r}")


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _arrays(place: str, a: np.ndarray, b: np.ndarray) -> Difference | None:
    if a.shape != b.shape or a.dtype != b.dtype:
        return Difference(place, f"{a.shape} {a.dtype} and {b.shape} {b.dtype}")
    if a.tobytes() == b.tobytes():
        return None
    with np.errstate(all="ignore"):
        unequal = int(np.count_nonzero(a != b))
        gap = np.max(np.abs(a.astype(np.float64) - b.astype(np.float64))) if a.dtype.kind in "biuf" else float("nan")
    return Difference(place, f"{unequal} of {a.size} elements differ, by at most {gap:.3g}")
