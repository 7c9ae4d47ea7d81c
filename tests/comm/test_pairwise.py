"""Every block goes straight from its owner to its receiver, once."""

import pytest

from simdist.comm import ALGORITHMS, plan
from simdist.comm.promise import keep, promise
from simdist.comm.rehearsal import rehearse


@pytest.mark.parametrize("size", range(1, 18))
def test_every_block_travels_once(size):
    algorithm = ALGORITHMS["pairwise_all_to_all"]
    sent = [(rank, step.send.peer, step.send.chunks) for rank in range(size) for step in plan(algorithm, rank, size)]
    assert sorted(sent) == [(s, d, (s * size + d,)) for s in range(size) for d in range(size) if s != d]
    keep(algorithm.name, rehearse(algorithm, size), promise("all_to_all", size, 0, size * size))
