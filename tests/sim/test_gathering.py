"""Everybody parks: what that means for the trace, for streams, and for ranks that stop."""

from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import DistTimeoutError


def overlapped(rank: int, world_size: int) -> None:
    """A collective on a stream while the rank computes, joined by a blocking one."""
    x = np.zeros(1 << 18)
    work = dist.all_reduce(x, async_op=True)
    sd.compute(seconds=1e-5)
    dist.barrier()
    work.wait()


@pytest.mark.parametrize("strict", [False, True])
def test_streams_and_blocking_ranks_are_on_record_as_with_messages(strict: bool) -> None:
    runs = [
        sd.run(overlapped, world_size=4, cluster="dgx-a100", network=network, strict=strict)
        for network in ("steps", "messages")
    ]
    seen = [[(s.rank, s.stream, s.kind, s.name, s.start, s.end) for s in run.trace.spans()] for run in runs]
    assert seen[0] == seen[1]


def test_a_blocking_collective_is_recorded_once_for_all() -> None:
    def plain(rank: int, world_size: int) -> None:
        sd.compute(seconds=1e-6 * (1 + rank))
        dist.all_reduce(np.zeros(1000))

    runs = [sd.run(plain, world_size=4, cluster="dgx-a100", network=n) for n in ("steps", "messages")]
    texts = [[repr(span) for span in run.trace.spans()] for run in runs]
    assert texts[0] == texts[1]


def test_a_timeout_is_seen() -> None:
    def slow(rank: int, world_size: int) -> None:
        dist.all_reduce(np.zeros(1 << 20))

    with pytest.raises(DistTimeoutError, match="took longer than its timeout"):
        sd.run(slow, world_size=4, cluster="dgx-a100", network="steps", timeout=1e-6)


def test_a_failing_rank_ends_the_others() -> None:
    def fails(rank: int, world_size: int) -> None:
        if rank == 1:
            raise ValueError("on purpose")
        dist.barrier()

    with pytest.raises(ValueError, match="on purpose"):
        sd.run(fails, world_size=4, cluster="dgx-a100", network="formula")


def test_shapes_only() -> None:
    def meta(rank: int, world_size: int) -> float:
        dist.all_reduce(sd.zeros(1000))
        return sd.current_time()

    times = [
        sd.run(meta, world_size=8, cluster="dgx-a100", network=n, device="meta").results for n in ("steps", "messages")
    ]
    assert times[0] == times[1]
