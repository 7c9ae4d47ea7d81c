"""Lists of arrays: one for each rank, alike, apart."""

import numpy as np
import pytest

from simdist.distributed.array_list import one_per_rank, only_on_root
from simdist.distributed.group import ProcessGroup
from simdist.errors import ShapeError


class World:
    rank = 1


GROUP = ProcessGroup(World(), 0, (0, 1), "world")


def test_a_good_list():
    arrays = [np.zeros(2), np.ones(2)]
    assert one_per_rank(arrays, GROUP, (2,), np.dtype(float), "x", write=True) == arrays
    assert only_on_root(GROUP, 1, arrays, arrays[0], "gather", "gather_list", "dst", write=True) is not None
    assert only_on_root(GROUP, 0, None, arrays[0], "gather", "gather_list", "dst", write=True) is None


@pytest.mark.parametrize(
    ("arrays", "error", "text"),
    [
        ([np.zeros(2)], ValueError, "rank 1: x has 1 arrays, the group has 2 ranks"),
        ([np.zeros(2), np.zeros(3)], ShapeError, r"x\[1\] is \(3,\) float64, expected \(2,\) float64"),
        ([np.zeros(2), np.zeros(2, np.float32)], ShapeError, r"x\[1\] is \(2,\) float32"),
        ([np.zeros(2)] * 2, ValueError, r"x\[0\] and \[1\] share memory"),
    ],
)
def test_bad_lists(arrays, error, text):
    with pytest.raises(error, match=text):
        one_per_rank(arrays, GROUP, (2,), np.dtype(float), "x", write=True)


def test_the_root_must_give_a_list_and_nobody_else():
    x = np.zeros(2)
    with pytest.raises(ValueError, match="the dst rank must give gather_list"):
        only_on_root(GROUP, 1, None, x, "gather", "gather_list", "dst", write=True)
    with pytest.raises(ValueError, match="gather_list must be given on the dst rank only"):
        only_on_root(GROUP, 0, [x], x, "gather", "gather_list", "dst", write=True)
