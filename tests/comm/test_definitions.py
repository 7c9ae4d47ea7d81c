import numpy as np

from simdist.comm import ReduceOp, definitions


def test_definitions_by_hand():
    x = [np.array([1.0, 2.0]), np.array([10.0, 20.0])]
    assert definitions.reduce(x).tolist() == [11, 22]
    assert definitions.reduce(x, ReduceOp.AVG).tolist() == [5.5, 11]
    assert [v.tolist() for v in definitions.all_reduce(x, ReduceOp.MAX)] == [[10, 20]] * 2
    assert [v.tolist() for v in definitions.reduce_scatter(x)] == [[11], [22]]
    assert [[v.tolist() for v in row] for row in definitions.all_gather(x)] == [[[1, 2], [10, 20]]] * 2
    assert [v.tolist() for v in definitions.broadcast(x, 1)] == [[10, 20]] * 2
    assert definitions.gather(x, 1)[0] is None
    assert [v.tolist() for v in definitions.gather(x, 1)[1]] == [[1, 2], [10, 20]]
    assert [v.tolist() for v in definitions.scatter(x, 0)] == [[1, 2], [10, 20]]
