"""Exceptions of ranks, results, determinism."""

import subprocess
import sys

import numpy as np
import pytest

from tests.sim.programs import call, picture, run


def test_the_earliest_failure_in_simulated_time_is_raised_and_the_others_are_noted():
    def program(rank):
        rank.charge("compute", "w", [3e-3, 1e-3, 2e-3][rank.rank])
        raise KeyError(f"of rank {rank.rank}")

    with pytest.raises(KeyError, match="of rank 1") as found:
        run(program, 3)
    assert found.value.__notes__[0] == "raised in rank 1 at 1 ms of simulated time"


def test_at_equal_times_the_lowest_rank_is_raised_and_others_noted():
    def program(rank):
        raise ValueError(f"of rank {rank.rank}")

    with pytest.raises(ValueError, match="of rank 0") as found:
        run(program, 3)
    assert found.value.__notes__ == [
        "raised in rank 0 at 0 s of simulated time",
        "rank 1 failed too, at 0 s: ValueError: of rank 1",
        "rank 2 failed too, at 0 s: ValueError: of rank 2",
    ]


def test_an_exception_with_its_own_signature_arrives_as_itself():
    class Odd(Exception):
        def __init__(self, a, b):
            super().__init__(f"{a}-{b}")

    def program(rank):
        raise Odd(1, 2)

    with pytest.raises(Odd, match="1-2"):
        run(program, 2)


def test_a_failure_ends_ranks_that_wait():
    ended = []

    def program(rank):
        try:
            if rank.rank == 1:
                raise RuntimeError("boom")
            rank.collective(call(rank, 0, np.zeros(4)), async_op=False)
        finally:
            ended.append(rank.rank)

    with pytest.raises(RuntimeError, match="boom"):
        run(program, 3)
    assert sorted(ended) == [0, 1, 2]


def test_an_error_on_a_stream_arrives_at_its_wait():
    def program(rank):
        x = np.zeros(4 + rank.rank)
        work = rank.collective(call(rank, 0, x), async_op=True)
        work.wait()

    from simdist.errors import CollectiveMismatchError

    with pytest.raises(CollectiveMismatchError, match="Every rank of a group must make the same calls"):
        run(program, 2)


def program(rank):
    x = np.full(100, rank.rank, np.float32)
    for step in range(4):
        rank.charge("compute", "w", 1e-6 * (rank.rank + 1))
        work = rank.collective(call(rank, step, x), async_op=step % 2 == 0)
        rank.charge("compute", "w", 1e-7)
        if work is not None:
            work.wait()
    return x


def test_same_seed_same_run():
    pictures = [picture(run(program, 8, seed=5, jitter=0.3)) for _ in range(3)]
    assert pictures[0] == pictures[1] == pictures[2]
    assert picture(run(program, 8, seed=6, jitter=0.3)) != pictures[0]


def test_hash_seeds_do_not_matter():
    code = (
        "import hashlib; from tests.sim.test_job import program; from tests.sim.programs import picture, run;"
        "print(hashlib.sha256(repr(picture(run(program, 8, jitter=0.3))).encode()).hexdigest())"
    )
    outs = [
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PATH": ""}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "2")
    ]
    assert len(outs[0]) == 65
    assert outs[0] == outs[1] == outs[2]


def test_a_rank_that_exits_ends_the_run_and_not_the_caller():
    from simdist.errors import RankFailedError

    def leave(rank):
        if rank.rank == 1:
            sys.exit(3)
        rank.collective(call(rank, 0, np.zeros(4)), async_op=False)

    with pytest.raises(RankFailedError, match=r"rank 1 left with sys.exit\(3\) before it returned"):
        run(leave, 2)
