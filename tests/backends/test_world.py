"""Both implementations have everything that a World promises."""

import inspect

import pytest

import simdist as sd
from simdist.backends import context
from simdist.backends.world import World


@pytest.mark.parametrize("backend", ["sim", "process"])
def test_all_members_are_there(backend):
    names = [*World.__annotations__, *(n for n, _ in inspect.getmembers(World, inspect.isfunction) if n[0] != "_")]

    def program(rank, world_size):
        world = context.current()
        return [name for name in names if not hasattr(world, name)]

    assert len(names) > 14
    assert sd.run(program, world_size=2, backend=backend).results == [[], []]
