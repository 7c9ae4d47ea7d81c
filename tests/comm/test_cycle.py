"""A circle of waiting ranks is found, in one form, and told."""

from simdist.comm.cycle import BREAK_IT, find_cycle, told


def test_find_cycle():
    assert find_cycle({0: [1], 1: [2], 2: [0]}) == [0, 1, 2, 0]
    assert find_cycle({3: [1], 1: [3], 0: [3]}) == [1, 3, 1]
    assert find_cycle({0: [1], 1: [5]}) == []
    assert find_cycle({0: [], 1: [0], 2: [0, 1]}) == []
    chain = {i: [i + 1] for i in range(5000)}
    assert find_cycle(chain) == []
    assert find_cycle(chain | {5000: [0]})[:2] == [0, 1]


def test_it_is_told_with_the_way_out():
    assert told([]) == []
    assert told([0, 2, 0]) == ["The cycle: 0 -> 2 -> 0.", BREAK_IT]
    assert "isend/irecv" in BREAK_IT
