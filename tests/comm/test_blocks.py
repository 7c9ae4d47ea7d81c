"""The first pair of ranks that does not agree is found."""

from dataclasses import replace

import numpy as np

from simdist.comm import ALGORITHMS, Call, Members, Request
from simdist.comm.blocks import Difference, difference


def calls(expected):
    row = ALGORITHMS["pairwise_all_to_all"]
    members = Members(0, (3, 5), 0, "world")
    request = Request("all_to_all", members, row, 0, None, None, 0, (), 0)
    parts = [{1: np.zeros(2), 2: np.zeros(1)}, {1: np.zeros(expected), 2: np.zeros(1)}]
    return [Call(replace(request, members=replace(members, rank=r)), 0, np.zeros(2), None, parts[r]) for r in range(2)]


def test_blocks_that_agree():
    assert difference(calls(2), 0) is None
    assert difference(calls(2), 1) is None


def test_the_pair_is_named_whoever_comes_last():
    assert difference(calls(4), 0) == difference(calls(4), 1) == Difference(0, 1, 2, 4)


def test_who_has_not_come_cannot_differ():
    first, _ = calls(4)
    assert difference([first, None], 0) is None
