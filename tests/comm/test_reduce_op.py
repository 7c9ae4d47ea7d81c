import numpy as np
import pytest

from simdist.comm import ARITHMETIC, PremulSum, ReduceOp
from simdist.comm.reduce_op import make_premul_sum, reduction
from simdist.errors import ReductionError


def test_each_op_combines_as_its_name_says():
    a, b = np.array([1.0, 5.0]), np.array([3.0, 2.0])
    wanted = {"SUM": [4, 7], "AVG": [4, 7], "PRODUCT": [3, 10], "MIN": [1, 2], "MAX": [3, 5]}
    assert {op.name: op.combine(a, b).tolist() for op in ARITHMETIC} == wanted
    assert repr(ReduceOp.SUM) == "ReduceOp.SUM"
    bits = {op.name: int(op.combine(np.uint8(6), np.uint8(3))) for op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)}
    assert bits == {"BAND": 2, "BOR": 7, "BXOR": 5}


@pytest.mark.parametrize(
    ("op", "dtype", "words"),
    [
        (ReduceOp.AVG, "int64", "not a whole number"),
        (ReduceOp.BAND, "float32", "whole numbers or truth values"),
        (ReduceOp.MAX, "complex64", "complex numbers"),
        (ReduceOp.PREMUL_SUM, "float32", "needs its factor"),
        (PremulSum(0.5), "int32", "factor is not a whole number"),
    ],
)
def test_what_is_not_defined_is_refused(op, dtype, words):
    with pytest.raises(ReductionError, match=words) as found:
        reduction(op, np.dtype(dtype), "all_reduce")
    assert isinstance(found.value, RuntimeError)
    assert isinstance(found.value, ValueError)


def test_a_premultiplied_sum_has_its_factor():
    assert make_premul_sum(2).name == "PREMUL_SUM(2.0)"
    assert reduction(make_premul_sum(2), np.dtype("float32"), "x").factor == 2.0
    with pytest.raises(TypeError, match="must be a ReduceOp"):
        reduction("sum", np.dtype("float32"), "x")
