from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
from simdist.conformance.programs.groups import PROGRAMS
from simdist.conformance.programs.program import numbers

BY_NAME = {program.name: program for program in PROGRAMS}


def test_overlapping_groups_do_not_mix():
    first, middle, last = sd.run(BY_NAME["groups: two at once, overlapping"].fn, world_size=3).results
    assert (len(first), len(middle), len(last)) == (3, 6, 3)
    for turn in range(3):
        a, b, c = (numbers(rank + 10 * turn, 5000) for rank in range(3))
        assert np.allclose(first[turn], a + b)
        assert np.allclose(middle[2 * turn], a + b)
        assert np.allclose(middle[2 * turn + 1], b + c)
        assert np.allclose(last[turn], b + c)


def test_halves_know_their_ranks():
    results = sd.run(BY_NAME["groups: halves"].fn, world_size=4).results
    assert [found[-2:] for found in results] == [[0, [0, 2]], [0, [1, 3]], [1, [0, 2]], [1, [1, 3]]]
    expected = 2 * numbers(2, 12) + 2 * numbers(3, 12)  # each half has its last rank's, then all add
    assert all(np.allclose(found[0], expected) for found in results)


def test_equal_tags_of_two_groups_are_different_tags():
    got = sd.run(BY_NAME["groups: messages"].fn, world_size=2).results[1]
    assert np.array_equal(got[0], numbers(0, 4))
    assert np.array_equal(got[1], numbers(1, 4))


def test_a_store_keeps_what_it_is_given():
    results = sd.run(BY_NAME["stores: over the network"].fn, world_size=3).results
    assert results == [[b"from rank 2", True, 3, True, False]] * 3
    results = sd.run(BY_NAME["stores: on a disk"].fn, world_size=3).results
    assert results == [[b"", b"x", b"xx", 3]] * 3


def test_a_future_follows_its_work():
    doubled, x, success = sd.run(BY_NAME["asynchronous: futures"].fn, world_size=2).results[0]
    assert doubled == pytest.approx(2 * x)
    assert success is True
