from __future__ import annotations

import numpy as np
import pytest

from simdist.comm import ReduceOp


@pytest.mark.parametrize(
    ("op", "expected"),
    [(ReduceOp.SUM, 8.0), (ReduceOp.AVG, 8.0), (ReduceOp.PRODUCT, 15.0), (ReduceOp.MIN, 3.0), (ReduceOp.MAX, 5.0)],
)
def test_two_values_are_combined(op: ReduceOp, expected: float) -> None:
    assert op.combine(np.float64(3), np.float64(5)) == expected


def test_every_operation_has_a_row_and_torch_s_name() -> None:
    assert [op.name for op in ReduceOp] == ["SUM", "AVG", "PRODUCT", "MIN", "MAX"]
    assert all(isinstance(op.combine, np.ufunc) for op in ReduceOp)


def test_it_is_shown_as_it_is_written() -> None:
    assert repr(ReduceOp.SUM) == "ReduceOp.SUM"
