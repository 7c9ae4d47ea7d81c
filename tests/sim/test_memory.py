import pytest

from simdist.errors import OutOfMemoryError
from simdist.sim.memory import Allocator


def test_bytes_are_held_as_long_as_the_token_lives():
    points = []
    clock = iter(range(100))
    memory = Allocator(3, 1000, lambda: next(clock), points)
    a = memory.allocate(100, "activations")
    b = memory.allocate(300, "parameters")
    assert (memory.total, memory.peak) == (400, 400)
    a.reclassify("gradients")
    assert memory.held == {"activations": 0, "parameters": 300, "gradients": 100}
    del a
    assert memory.total == 300
    del b
    assert (memory.total, memory.peak) == (0, 400)
    assert memory.at_peak == {"activations": 100, "parameters": 300}
    assert memory.peaks == {"activations": 100, "parameters": 300, "gradients": 100}
    assert points[0][0] == 3
    assert [(kind, held) for _, _, kind, held in points][-2:] == [("gradients", 0), ("parameters", 0)]


def test_a_full_accelerator_says_who_holds_what():
    memory = Allocator(1, 1000, lambda: 0.002, None)
    token = memory.allocate(900, "parameters")
    with pytest.raises(OutOfMemoryError) as found:
        memory.allocate(200, "activations")
    text = str(found.value)
    assert "rank 1 at 2 ms: no room for 200 B of activations; 900 B of 1 kB are held" in text
    assert "parameters        900 B" in text
    assert "activation checkpointing" in text
    assert memory.total == 900
    del token
