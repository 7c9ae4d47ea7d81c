"""The first pair of ranks that does not agree is named."""

from dataclasses import replace

import numpy as np
import pytest

from simdist.comm import ALGORITHMS, Call, Members, Request
from simdist.comm.blocks import compare
from simdist.errors import CollectiveMismatchError


def calls(expected):
    row = ALGORITHMS["pairwise_all_to_all"]
    members = Members(0, (3, 5), 0, "world")
    request = Request("all_to_all", members, row, 0, None, None, 0, (), 0)
    parts = [{1: np.zeros(2), 2: np.zeros(1)}, {1: np.zeros(expected), 2: np.zeros(1)}]
    return [Call(replace(request, members=replace(members, rank=r)), 0, np.zeros(2), None, parts[r]) for r in range(2)]


def test_blocks_that_agree_pass():
    compare(calls(2))


def test_the_pair_is_named():
    with pytest.raises(CollectiveMismatchError, match="3->5: sent 2, expected 4 elements"):
        compare(calls(4))
