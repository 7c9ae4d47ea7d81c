import numpy as np

from simdist.comm import ReduceOp


def test_each_op_combines_as_its_name_says():
    a, b = np.array([1.0, 5.0]), np.array([3.0, 2.0])
    wanted = {"SUM": [4, 7], "AVG": [4, 7], "PRODUCT": [3, 10], "MIN": [1, 2], "MAX": [3, 5]}
    assert {op.name: op.combine(a, b).tolist() for op in ReduceOp} == wanted
    assert repr(ReduceOp.SUM) == "ReduceOp.SUM"
