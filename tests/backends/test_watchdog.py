import pytest

import simdist as sd
from simdist.backends.watchdog import EndlessLoopError, watchdog


def test_an_endless_loop_in_a_rank_is_stopped():
    def program(rank, world_size):
        while rank == 1:
            pass

    with pytest.raises(EndlessLoopError, match="Is there an endless loop") as found:
        sd.run(program, world_size=2, watchdog=0.3)
    assert "raised in rank 1" in found.value.__notes__[0]


def test_an_endless_loop_of_simulated_work_is_alive():
    """It bills work, so the watchdog lets it go on; a cap on simulated time is the user's timeout."""

    def program(rank, world_size):
        for _ in range(200_000):
            sd.compute(seconds=1e-9)
        return "done"

    assert sd.run(program, world_size=1, watchdog=0.05, traced=False).results == ["done"]


def test_the_watcher_ends_with_its_block():
    with watchdog(60.0, lambda: 0):
        pass
