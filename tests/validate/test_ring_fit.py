"""Does the fit find what was put in, and minimise what it says?"""

from __future__ import annotations

import numpy as np
import pytest

from simdist.cost.collectives import seconds
from simdist.units import MiB
from simdist.validate.curve import Curve, curves
from simdist.validate.ring_fit import RingFit, fit

TRUE = RingFit(3e-6, 150e9)


def made(world_size: int, noise: float = 0.0) -> Curve:
    """Times of a ring with known parameters, and relative noise."""
    nbytes = np.arange(1, 101) * float(MiB)
    times = np.array([TRUE.seconds(world_size, size) for size in nbytes])
    times = times * (1 + noise * np.random.default_rng(world_size).standard_normal(len(times)))
    return Curve("made", world_size, nbytes, times, np.zeros_like(times))


@pytest.mark.parametrize("sizes", [(2,), (8,), (2, 4), (2, 4, 8)])
def test_what_was_put_in_is_found(sizes: tuple[int, ...]) -> None:
    assert fit([made(size) for size in sizes]) == pytest.approx(TRUE, rel=1e-9)
    found = fit([made(size, noise=0.01) for size in sizes])
    assert found == pytest.approx(TRUE, rel=0.1)


def test_the_formula_is_the_ring_s() -> None:
    assert TRUE.seconds(4, 1e9) == seconds("all_reduce", "ring", 4, 1e9, 3e-6, 150e9) == 6 * 3e-6 + 1.5 * 1e9 / 150e9
    slow = RingFit(6e-6, 75e9)
    assert slow.errors(made(4)) == pytest.approx(np.ones(100))


def test_no_other_pair_has_smaller_relative_errors() -> None:
    curve = curves()[2].half(odd=False)
    best = fit([curve])
    least = float((best.errors(curve) ** 2).sum())
    for latency in (0.98, 1.0, 1.02):
        for bandwidth in (0.998, 1.0, 1.002):
            other = RingFit(best.latency * latency, best.bandwidth * bandwidth)
            assert float((other.errors(curve) ** 2).sum()) >= least
