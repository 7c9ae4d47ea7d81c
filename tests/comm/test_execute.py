from __future__ import annotations

import numpy as np
import pytest

from simdist.comm import Call, ReduceOp
from simdist.comm.execute import COLLECTIVE_CHANNEL, USER_CHANNEL, divide, tag_of
from simdist.comm.reduce_op import combine_into
from tests.comm.conftest import request


def test_a_collective_s_messages_have_a_tag_of_their_own() -> None:
    first, second = (Call(request("ring_all_reduce", 0, 2, 4), sequence, np.zeros(4)) for sequence in (0, 1))
    assert tag_of(first) == (0, COLLECTIVE_CHANNEL, 0)
    assert tag_of(second) == (0, COLLECTIVE_CHANNEL, 1)
    assert COLLECTIVE_CHANNEL != USER_CHANNEL


def test_without_a_reduction_the_message_replaces() -> None:
    buffer = np.zeros(2)
    combine_into(buffer, np.array([1.0, 2.0]), None, received_is_lower=True)
    assert buffer.tolist() == [1, 2]


@pytest.mark.parametrize(("lower", "expected"), [(True, 7.0), (False, -7.0)])
def test_the_lower_rank_s_value_is_on_the_left(lower: bool, expected: float) -> None:
    buffer = np.array([3.0])
    combine_into(buffer, np.array([10.0]), np.subtract, received_is_lower=lower)
    assert buffer.tolist() == [expected]


def test_an_average_is_divided_in_place() -> None:
    buffer = np.array([3.0, 5.0], np.float32)
    divide(buffer, 2)
    assert (buffer.tolist(), buffer.dtype) == ([1.5, 2.5], np.float32)


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_ten_executions_give_the_same_bits(play, numbers, size: int) -> None:
    """Threads arrive in any order; the order of additions is the algorithm's."""
    results = set()
    for _ in range(10):
        buffers = [buffer.astype(np.float32) for buffer in numbers(size, 33)]
        play("ring_all_reduce", buffers, op=ReduceOp.SUM)
        results |= {buffer.tobytes() for buffer in buffers}
    assert len(results) == 1


def test_one_addition_reversed_is_seen(numbers) -> None:
    """The twin of the test above: another order of additions gives other bits, so the comparison is worth something."""
    a, b, c = (buffer.astype(np.float32) for buffer in numbers(3, 1000))
    assert ((a + b) + c).tobytes() != (a + (b + c)).tobytes()


def test_an_average_divides_once_after_the_sum(play) -> None:
    buffers = [np.array([0.1], np.float32), np.array([0.2], np.float32), np.array([0.3], np.float32)]
    play("binomial_reduce", buffers, op=ReduceOp.AVG)
    one, two, three = np.float32(0.1), np.float32(0.2), np.float32(0.3)
    assert buffers[0][0] == ((one + two) + three) / np.float32(3)
