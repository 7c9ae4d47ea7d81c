from __future__ import annotations

import numpy as np
import pytest

from simdist.comm.chunks import bounds

SIZES = [1, 2, 3, 5, 8]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("length", [0, 1, 7, 16])
def test_gather_brings_each_rank_s_chunk_to_the_root(play, numbers, size: int, length: int) -> None:
    cuts = bounds(length, size)
    for root in range(size):
        buffers = numbers(size, length)
        expected = np.concatenate([buffers[rank][cuts[rank] : cuts[rank + 1]] for rank in range(size)])
        sent = play("star_gather", buffers, root=root)
        assert buffers[root].tobytes() == expected.tobytes()
        assert {(src, dst) for src, dst, _ in sent} == {(rank, root) for rank in range(size) if rank != root}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("length", [0, 1, 7, 16])
def test_scatter_brings_each_rank_its_chunk_of_the_root_s(play, numbers, size: int, length: int) -> None:
    cuts = bounds(length, size)
    for root in range(size):
        buffers = numbers(size, length)
        source = buffers[root].copy()
        sent = play("star_scatter", buffers, root=root)
        for rank, buffer in enumerate(buffers):
            mine = slice(cuts[rank], cuts[rank + 1])
            assert buffer[mine].tobytes() == source[mine].tobytes()
        assert [dst for _, dst, _ in sent] == [rank for rank in range(size) if rank != root], "in rank order"
