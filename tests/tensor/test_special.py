"""erf and erfc against the standard library's, element by element."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simdist.tensor import MetaArray
from simdist.tensor.special import erf, erfc

X = np.concatenate([np.linspace(-7, 27, 6801), [0.46875, -0.46875, 4.0, -4.0, 1e-300, -1e-20, 0.0]])


def test_relative_error() -> None:
    assert erf(X) == pytest.approx([math.erf(x) for x in X], rel=5e-16, abs=0)
    # the tail: numpy's exp and the library's may differ by some units in the last place
    exact = np.array([math.erfc(x) for x in X])
    keep = exact > 1e-300
    assert np.abs(erfc(X)[keep] / exact[keep] - 1).max() < 5e-15


def test_limits() -> None:
    ends = np.array([np.inf, -np.inf, np.nan, 40.0, -40.0])
    assert erf(ends).tolist()[:2] == [1.0, -1.0]
    assert erfc(ends).tolist()[:2] == [0.0, 2.0]
    assert np.isnan(erf(ends)[2]) and np.isnan(erfc(ends)[2])
    assert erfc(ends)[3:].tolist() == [0.0, 2.0]


def test_precision_and_shape_are_kept() -> None:
    x = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)
    assert (erf(x).dtype, erf(x).shape) == (np.float32, (3, 4))
    assert (erfc(MetaArray((3, 4))).shape, erf(MetaArray((3, 4))).dtype) == ((3, 4), np.float32)


def test_the_input_is_not_changed() -> None:
    x = X.copy()
    erfc(x)
    assert np.array_equal(x, X)
