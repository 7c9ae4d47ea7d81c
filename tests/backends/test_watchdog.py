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


def test_the_rank_and_the_line_are_named():
    def program(rank, world_size):
        sd.sleep(1e-3)
        while rank == 2:
            pass

    with pytest.raises(EndlessLoopError, match=r"rank 2 ran for more than 0.2 s .* It is at test_watchdog.py:\d+\."):
        sd.run(program, world_size=3, watchdog=0.2)


def test_all_ranks_in_an_endless_loop_end_at_the_first():
    def program(rank, world_size):
        while True:
            pass

    with pytest.raises(EndlessLoopError, match=r"rank 0 ran for more than 0\.2 s"):
        sd.run(program, world_size=50, watchdog=0.2)


@pytest.mark.parametrize("caught", [Exception, BaseException])
def test_a_loop_that_catches_everything_ends_too(caught):
    def program(rank, world_size):
        while rank == 0:
            try:
                for _ in range(10):
                    pass
            except caught:
                pass

    with pytest.raises(EndlessLoopError, match=r"rank 0 ran for more than 0\.2 s"):
        sd.run(program, world_size=2, watchdog=0.2)


def test_the_block_that_ends_in_time_is_not_hit_later():
    with watchdog(0.01, lambda: 0):
        pass
    sum(range(100_000))
