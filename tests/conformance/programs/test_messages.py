from __future__ import annotations

import numpy as np

import simdist as sd
from simdist.conformance.programs.messages import PROGRAMS
from simdist.conformance.programs.program import numbers

BY_NAME = {program.name.removeprefix("messages: "): program for program in PROGRAMS}


def results(name, world_size):
    program = BY_NAME[name]
    return sd.run(program.fn, world_size=world_size, **program.options).results


def test_a_ring_hears_both_neighbours():
    for rank, found in enumerate(results("lengths", 3)):
        for i, length in enumerate((0, 1, 8191, 8193, 50_000, 400_000)):
            assert np.array_equal(found[2 * i], numbers((rank - 1) % 3, length))
            assert np.array_equal(found[2 * i + 1], numbers((rank + 1) % 3 + 1, length))


def test_messages_are_told_apart_by_place_and_by_tag():
    for i, array in enumerate(results("order", 2)[1]):
        assert np.array_equal(array, numbers(i, len(array)))
    got = results("tags", 2)[1]
    assert [len(array) for array in got] == [8, 50_000, 0, 10, 4, 2]
    assert np.array_equal(got[0], numbers(4, 8))


def test_any_source_hears_everybody():
    out = results("any source", 4)[0]
    assert [source for source, _ in out] == [1, 2, 3, 1, 2, 3]
    assert np.array_equal(out[4][1], numbers(2, 50_000))


def test_a_wait_is_begun_again():
    told, x = results("waits", 2)[0]
    assert told == ["late", False, True]
    assert np.array_equal(x, numbers(1, 3))
