import pytest

import simdist as sd
from simdist.backends import context
from simdist.errors import DistError


def test_each_rank_has_its_own_world_and_outside_there_is_none():
    def program(rank, world_size):
        world = context.require("this")
        return world is context.current(), world.rank, world.world_size, world.backend

    assert sd.run(program, world_size=3).results == [(True, r, 3, "sim") for r in range(3)]
    assert context.current() is None


def test_outside_a_run_the_lesson_says_how_to_start_one():
    with pytest.raises(DistError, match=r"sd.sleep was called outside a run.*sd.run\(train, world_size=4\)"):
        sd.sleep(1)
