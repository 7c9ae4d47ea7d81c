from __future__ import annotations

import numpy as np
import pytest

from simdist.backends.process.sink import BLOCK_BYTES, Folding, Landing, Parcel, Sink


def _pour(sink: Sink, data: bytes, step: int) -> None:
    """Give the sink its bytes in pieces of at most ``step``."""
    position, complete = 0, False
    while position < len(data):
        assert not complete
        place = sink.want()
        count = min(step, len(place), len(data) - position)
        assert count > 0
        place[:count] = data[position : position + count]
        complete = sink.took(count)
        position += count
    assert complete


@pytest.mark.parametrize("step", [1, 7, 100])
def test_landing_writes_in_place(step: int) -> None:
    target = np.zeros(33, dtype=np.uint8)
    data = bytes(range(33))
    _pour(Landing(target.data), data, step)
    assert target.tobytes() == data


@pytest.mark.parametrize("step", [1, 64])
def test_a_parcel_keeps_its_bytes(step: int) -> None:
    parcel = Parcel(40)
    _pour(parcel, bytes(range(40)), step)
    assert parcel.data.tobytes() == bytes(range(40))


@pytest.mark.parametrize("size", [1, 1000, BLOCK_BYTES // 4, BLOCK_BYTES // 4 + 1, 3 * BLOCK_BYTES // 4 + 5])
@pytest.mark.parametrize("step", [4097, 1 << 20])
def test_folding_by_blocks_gives_the_bits_of_the_whole(size: int, step: int) -> None:
    rng = np.random.default_rng(1)
    mine, theirs = rng.standard_normal((2, size)).astype(np.float32)
    target = mine.copy()
    _pour(Folding(target, np.add, arriving_is_lower=True), theirs.tobytes(), step)
    assert target.tobytes() == (theirs + mine).tobytes()


@pytest.mark.parametrize("lower", [True, False])
def test_the_lower_ranks_operand_comes_first(lower: bool) -> None:
    target = np.array([10.0, 20.0])
    _pour(Folding(target, np.subtract, arriving_is_lower=lower), np.array([1.0, 2.0]).tobytes(), 3)
    assert target.tolist() == ([-9.0, -18.0] if lower else [9.0, 18.0])


def test_a_callable_that_is_no_ufunc_sees_the_whole_message() -> None:
    seen = []

    def combine(lower: np.ndarray, higher: np.ndarray, out: np.ndarray) -> None:
        seen.append(len(lower))
        np.maximum(lower, higher, out=out)

    size = BLOCK_BYTES // 8 + 3
    target = np.zeros(size)
    _pour(Folding(target, combine, arriving_is_lower=True), np.ones(size).tobytes(), 1 << 20)
    assert seen == [size]
    assert target.min() == 1.0


def test_an_error_of_combine_is_kept_for_the_one_who_waits() -> None:
    target = np.zeros(4, dtype=np.int64)
    sink = Folding(target, np.true_divide, arriving_is_lower=True)
    _pour(sink, np.ones(4, dtype=np.int64).tobytes(), 32)
    assert isinstance(sink.error, TypeError)
