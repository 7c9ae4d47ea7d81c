"""Which latency and bandwidth describe measured times best, if the algorithm was a ring?

The ring's closed form (``cost.collectives``) is linear in both: steps(p) alpha + volume(p) n beta, so for one p a straight line
over the size. The fit minimises the squares of *relative* errors: a small buffer counts as much as a large one. Two
parameters and no others: with enough of them anything can be fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from simdist.cost.collectives import formula, seconds

from .curve import Curve

__all__ = ["RingFit", "fit"]

_Array = np.ndarray[Any, Any]


class RingFit(NamedTuple):
    """The two parameters.

    Attributes:
        latency: alpha, seconds of each step.
        bandwidth: 1 / beta, bytes per second of each rank's way to its neighbour.
    """

    latency: float
    bandwidth: float

    def seconds(self, world_size: int, nbytes: float) -> float:
        """The ring's closed form with these parameters."""
        return seconds("all_reduce", "ring", world_size, nbytes, self.latency, self.bandwidth)

    def errors(self, curve: Curve) -> _Array:
        """Relative errors, (computed - measured) / measured, one for each size of ``curve``."""
        computed = np.array([self.seconds(curve.world_size, nbytes) for nbytes in curve.nbytes.tolist()])
        return computed / curve.seconds - 1


def fit(curves: Sequence[Curve]) -> RingFit:
    """The parameters with the least squares of relative errors over all sizes of all curves.

    Args:
        curves: measured times; of several numbers of ranks one pair of parameters for all.
    """
    row = formula("all_reduce", "ring")
    latency_columns = [row.steps(curve.world_size) / curve.seconds for curve in curves]
    byte_columns = [row.volume(curve.world_size) * curve.nbytes / curve.seconds for curve in curves]
    columns = np.stack([np.concatenate(latency_columns), np.concatenate(byte_columns)], axis=1)
    scale = columns.mean(axis=0)  # of like size: the solution does not suffer from the units
    found = np.linalg.lstsq(columns / scale, np.ones(len(columns)), rcond=None)[0] / scale
    return RingFit(float(found[0]), float(1 / found[1]))
