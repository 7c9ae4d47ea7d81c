from __future__ import annotations

import re

import pytest

import simdist as sd
from simdist.backends.custom.byte_transport import ends
from simdist.errors import DistBackendError


class End:
    def __init__(self, rank, size):
        self.rank, self.size = rank, size

    def isend(self, buf, dst, tag):
        raise NotImplementedError

    irecv = isend


def test_what_a_factory_gives_is_taken_as_it_is():
    made = [End(0, 2), End(1, 2)]
    assert ends("mine", lambda size: tuple(made), 2) == made


def test_a_factory_must_give_one_end_for_each_rank():
    with pytest.raises(DistBackendError, match=r"list with the end of each of the 3 ranks, got 2 of them\."):
        ends("mine", lambda size: [End(0, 2), End(1, 2)], 3)
    with pytest.raises(DistBackendError, match=r"list with the end of each of the 3 ranks, got None\."):
        ends("mine", lambda size: None, 3)


def test_what_an_end_lacks_is_named():
    class Half(End):
        irecv = None

    text = "the end of rank 0, a Half, has no irecv. A transport is isend(buf, dst, tag) and irecv(buf, src, tag)"
    with pytest.raises(DistBackendError, match=re.escape(text)):
        ends("mine", lambda size: [Half(0, 1)], 1)


def test_ends_are_in_the_order_of_ranks():
    with pytest.raises(DistBackendError, match=r"the end of rank 0 of 2 says rank=1, size=2\. The factory must return"):
        ends("mine", lambda size: [End(1, 2), End(0, 2)], 2)


def test_the_run_says_so(register):
    register(lambda size: [])
    with pytest.raises(DistBackendError, match="backend 'mine': its factory must return a list"):
        sd.run(lambda rank, world_size: None, world_size=2, backend="mine")
