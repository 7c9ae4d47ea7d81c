from __future__ import annotations

import numpy as np
import pytest

from simdist.conformance.programs.program import Mistake, Program, numbers


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8, np.bool_, np.complex128])
def test_numbers_are_of_the_dtype_and_differ_from_rank_to_rank(dtype):
    a, b = numbers(0, 50, dtype), numbers(1, 50, dtype)
    assert a.dtype == b.dtype == dtype
    assert a.shape == (50,)
    assert (a != b).any()
    assert np.array_equal(a, numbers(0, 50, dtype))


def test_another_order_of_additions_shows():
    a, b, c = (numbers(rank, 100) for rank in range(3))
    assert ((a + b) + c != a + (b + c)).any()


def test_a_program_runs_from_one_rank_on_and_a_mistake_from_two():
    assert Program("x", print).least == 1
    assert Mistake("x", print, (LookupError,)).least == 2
