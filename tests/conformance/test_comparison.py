from __future__ import annotations

import numpy as np
import pytest

from simdist.conformance.comparison import CLOSE, difference, fingerprint

SAME = [
    1,
    0.1,
    "a",
    None,
    [1, (2.0, "b")],
    {"a": np.arange(3), "b": None},
    np.float32([np.nan, -0.0]),
    np.zeros((2, 0)),
    np.array(3.5),
]


@pytest.mark.parametrize("value", SAME, ids=repr)
def test_equal_values_are_the_same(value):
    assert difference(value, value) is None
    assert difference([value], [value], exact=False) is None
    assert fingerprint(value) == fingerprint(value)


@pytest.mark.parametrize(
    ("found", "expected", "text"),
    [
        ([1, 2], [1, 3], r"x[1]: 2 instead of 3"),
        ([1], [1, 3], "x: 1 values instead of 2"),
        ((1,), [1], "x: a tuple instead of a list"),
        ({"a": 1}, {"b": 1}, "x: keys ['a'] instead of ['b']"),
        ({"a": [1, "x"]}, {"a": [1, "y"]}, "x[0][1]: 'x' instead of 'y'"),
        (np.zeros(3), np.zeros((3, 1)), "x: (3,) float64 instead of (3, 1) float64"),
        (np.zeros(3, np.float32), np.zeros(3), "x: (3,) float32 instead of (3,) float64"),
        (
            np.array([0.0, 1.0, 2.0]),
            np.array([0.0, 1.5, 2.5]),
            "x: 2 of 3 elements differ; element 1 is np.float64(1.0) instead of np.float64(1.5)",
        ),
        (
            0.1 + 0.2,
            0.3,
            "x: 1 of 1 elements differ; element 0 is np.float64(0.30000000000000004) instead of np.float64(0.3)",
        ),
    ],
)
def test_the_first_difference_is_told(found, expected, text):
    assert difference(found, expected, where="x") == text
    assert fingerprint(found) != fingerprint(expected)


def test_zeros_of_both_signs_and_two_kinds_of_nan_are_not_the_same_bits():
    assert difference(np.array([0.0]), np.array([-0.0])) is not None
    quiet = np.array([0x7FF8000000000001], np.uint64).view(np.float64)
    assert difference(quiet, np.array([np.nan])) is not None


@pytest.mark.parametrize("dtype", CLOSE)
def test_another_order_of_additions_may_be_allowed(dtype):
    a = np.array([100.0, 1e-3]).astype(dtype)
    b = (a * (1 + CLOSE[dtype] / 4)).astype(dtype)
    assert difference(a, b, exact=False) is None
    assert difference(a, (a * (1 + 4 * CLOSE[dtype])).astype(dtype), exact=False) is not None


def test_whole_numbers_are_never_nearly_the_same():
    assert difference(np.array([10**9]), np.array([10**9 + 1]), exact=False) is not None
    assert difference(1, 2, exact=False) is not None


def test_the_fingerprint_is_the_same_on_every_machine():
    assert fingerprint({"a": np.arange(3, dtype=np.int64), "b": [1.5, "x", None]}) == (
        "e17b05a16cc4aa4393a2cdfab566b0f694f8d3a2207f9b330f4ba5146c592eaf"
    )
