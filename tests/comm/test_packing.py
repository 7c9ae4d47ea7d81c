from __future__ import annotations

from typing import Any

import numpy as np

from simdist.comm import Call, ReduceOp, Transfer
from simdist.comm.packing import landing, outgoing, overlap, unpack
from simdist.tensor.meta import MetaArray
from tests.comm.conftest import request


def call(flat: Any = None) -> Call:
    """Rank 0 of four, with two elements in each chunk."""
    return Call(request("ring_all_reduce", 0, 4, 8), 0, np.arange(8.0) if flat is None else flat)


def test_neighbouring_chunks_travel_as_a_slice() -> None:
    mine = call()
    assert np.shares_memory(outgoing(mine, (1, 2), copy=False), mine.flat)
    assert outgoing(mine, (1, 2), copy=False).tolist() == [2, 3, 4, 5]
    buf, packed = landing(mine, (1, 2))
    assert np.shares_memory(buf, mine.flat) and not packed


def test_what_must_not_share_memory_is_copied() -> None:
    mine = call()
    assert not np.shares_memory(outgoing(mine, (1,), copy=True), mine.flat)


def test_other_chunks_are_packed_in_the_order_given() -> None:
    mine = call()
    assert outgoing(mine, (3, 0), copy=False).tolist() == [6, 7, 0, 1]
    buf, packed = landing(mine, (3, 0))
    assert packed and buf.shape == (4,)
    unpack(mine, (3, 0), np.array([60.0, 70.0, 0.5, 1.5]), None, False)
    assert mine.flat.tolist() == [0.5, 1.5, 2, 3, 4, 5, 60, 70]


def test_unpacking_may_fold_with_the_lower_rank_on_the_left() -> None:
    mine = call()
    unpack(mine, (0, 2), np.array([1.0, 1.0, 2.0, 2.0]), ReduceOp.SUM.combine, True)
    assert mine.flat.tolist() == [1, 2, 2, 3, 6, 7, 6, 7]


def test_shapes_without_data_are_packed_too() -> None:
    mine = call(MetaArray((8,), np.float64))
    assert outgoing(mine, (3, 0), copy=False).shape == (4,)
    assert landing(mine, (3, 0))[0].nbytes == 32


def test_a_chunk_that_passes_through_is_made_when_it_comes() -> None:
    parts = {0: np.arange(3)}
    mine = Call(request("star_gather", 0, 2, 6), 0, parts[0], parts=parts)
    buf, packed = landing(mine, (1,))
    assert not packed and buf is parts[1] and buf.shape == (3,)


def test_steps_that_overlap() -> None:
    assert overlap(Transfer(1, (0, 1)), Transfer(2, (1, 2)))
    assert not overlap(Transfer(1, (0,)), Transfer(2, (1,)))
    assert not overlap(None, Transfer(2, (1,)))
