"""Random numbers with an address: a part is the slice of the whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdist.tensor import random


@pytest.fixture
def untouched() -> Iterator[None]:
    yield
    random.set_generator_source(random_source)
    random.manual_seed(0)


random_source = random._source[0]


@given(st.integers(0, 40), st.integers(0, 40))
@pytest.mark.parametrize("draw", [random.bits, random.uniform, random.normal])
def test_a_part_is_the_slice_of_the_whole(draw: object, start: int, count: int) -> None:
    whole = draw(7, "h.0.qkv.weight", 0, 80)  # type: ignore[operator]
    part = draw(7, "h.0.qkv.weight", start, count)  # type: ignore[operator]
    assert np.array_equal(part, whole[start : start + count])


def test_addresses_give_different_numbers() -> None:
    first = random.uniform(0, "a", 0, 100)
    assert not np.array_equal(first, random.uniform(1, "a", 0, 100))
    assert not np.array_equal(first, random.uniform(0, "b", 0, 100))
    assert np.array_equal(first, random.uniform(0, "a", 0, 100))


def test_distributions() -> None:
    u, z = random.uniform(0, "u", 0, 100_000), random.normal(0, "z", 0, 100_000)
    assert u.min() >= 0 and u.max() < 1
    assert u.mean() == pytest.approx(0.5, abs=0.005)
    assert u.var() == pytest.approx(1 / 12, abs=0.002)
    assert z.mean() == pytest.approx(0, abs=0.02)
    assert z.var() == pytest.approx(1, abs=0.02)
    assert np.isfinite(z).all()
    assert (np.abs(z) < 1.96).mean() == pytest.approx(0.95, abs=0.005)


def test_the_numbers_are_the_same_for_ever() -> None:
    assert random.bits(0, "w", 0, 3).tolist() == BITS


BITS = [7794451565978782959, 15926283841030777662, 2936927915173341392]


def test_seeds(untouched: None) -> None:
    random.manual_seed(5)
    assert random.current_seed() == 5
    random.set_generator_source(lambda: random.Generator(9))
    assert random.current_seed() == 9
    random.set_generator_source(lambda: None)
    assert random.current_seed() == 5


def test_a_generator_counts_for_each_drawer() -> None:
    generator = random.Generator(3)

    def one() -> None: ...

    assert [generator.next_call(one), generator.next_call(one), generator.next_call(untouched)] == [0, 1, 0]
    assert generator.seed == 3


def test_seeding_begins_a_new_generator(untouched: None) -> None:
    random.set_generator_source(lambda: None)
    random.manual_seed(5)
    first = random.current_generator()
    random.manual_seed(5)
    assert random.current_generator() is not first and random.current_generator().seed == 5
