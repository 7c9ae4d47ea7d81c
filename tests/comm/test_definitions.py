from __future__ import annotations

import numpy as np

from simdist.comm import ReduceOp, definitions

BUFFERS = [np.array([1.0, 2.0]), np.array([3.0, 5.0]), np.array([8.0, 2.0])]


def test_reductions_by_hand() -> None:
    expected = {
        ReduceOp.SUM: [12, 9], ReduceOp.AVG: [4, 3], ReduceOp.PRODUCT: [24, 20], ReduceOp.MIN: [1, 2], ReduceOp.MAX: [8, 5],
    }  # fmt: skip
    for op, values in expected.items():
        assert definitions.reduce(BUFFERS, op).tolist() == values


def test_every_rank_holds_the_reduction() -> None:
    assert [result.tolist() for result in definitions.all_reduce(BUFFERS)] == [[12, 9]] * 3


def test_each_rank_holds_its_part_of_the_reduction() -> None:
    buffers = [np.arange(4.0), np.arange(4.0)]
    assert [part.tolist() for part in definitions.reduce_scatter(buffers)] == [[0, 2], [4, 6]]


def test_everybody_s_buffer_everywhere_or_at_the_root() -> None:
    everybody = [buffer.tolist() for buffer in BUFFERS]
    assert [[b.tolist() for b in result] for result in definitions.all_gather(BUFFERS)] == [everybody] * 3
    at_root = definitions.gather(BUFFERS, root=1)
    assert at_root[0] is None and at_root[2] is None
    assert at_root[1] is not None and [b.tolist() for b in at_root[1]] == everybody


def test_the_root_s_buffer_or_its_parts() -> None:
    assert [b.tolist() for b in definitions.broadcast(BUFFERS, root=2)] == [[8, 2]] * 3
    assert [b.tolist() for b in definitions.scatter(BUFFERS, root=0)] == [[1, 2], [3, 5], [8, 2]]


def test_nothing_is_shared_and_nothing_is_changed() -> None:
    before = [buffer.copy() for buffer in BUFFERS]
    for result in (definitions.broadcast(BUFFERS, 0), definitions.scatter(BUFFERS, 0), definitions.all_reduce(BUFFERS)):
        result[0][0] = -1.0
    assert all((a == b).all() for a, b in zip(BUFFERS, before, strict=True))
