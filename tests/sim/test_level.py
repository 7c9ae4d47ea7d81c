"""The levels of the network against each other: one program, one set of numbers, and times that agree where they must."""

from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import CollectiveMismatchError, DeadlockError, UnknownNameError
from simdist.sim import LEVELS

PARKED = [name for name in LEVELS if name != "messages"]


def everything(rank: int, world_size: int, skew: float = 0.0) -> list[bytes]:
    """One of each, with one asynchronous collective and a message on the way."""
    x = np.random.default_rng(rank).standard_normal(8 * world_size)
    sd.compute(seconds=1e-9 + skew * (rank * 3 % world_size))
    dist.all_reduce(x)
    gathered = np.empty(x.size * world_size)
    dist.all_gather_into_tensor(gathered, x)
    dist.broadcast(x, world_size - 1)
    work = dist.all_reduce(gathered, dist.ReduceOp.MAX, async_op=True)
    sd.compute(seconds=1e-6)
    work.wait()
    dist.reduce(x, 0)
    part = np.empty(8)
    dist.reduce_scatter_tensor(part, x)
    pieces = [np.empty(8) for _ in range(world_size)] if rank == 0 else None
    dist.gather(part, pieces)
    dist.scatter(part, pieces)
    if rank == 0:
        dist.send(part, world_size - 1)
    elif rank == world_size - 1:
        dist.recv(part, 0)
    dist.barrier()
    return [x.tobytes(), gathered.tobytes(), part.tobytes()]


@pytest.mark.parametrize("network", PARKED)
@pytest.mark.parametrize("world_size", [2, 3, 8])
@pytest.mark.parametrize("skew", [0.0, 1e-5])
@pytest.mark.parametrize("strict", [False, True])
def test_the_level_never_changes_a_number(network: str, world_size: int, skew: float, strict: bool) -> None:
    oracle = sd.run(everything, skew, world_size=world_size, cluster="dgx-a100", network="messages")
    run = sd.run(everything, skew, world_size=world_size, cluster="dgx-a100", network=network, strict=strict)
    assert run.results == oracle.results
    assert run.network == network
    assert f"network: {network}" in run.report()
    moved = [sum(flow.nbytes for flow in r.trace.flows()) for r in (run, oracle)]
    assert moved[0] == moved[1] > 0


def symmetric(rank: int, world_size: int, nbytes: int) -> None:
    """Two collectives in which nobody is done before everybody has come."""
    x = np.zeros(nbytes // 8)
    dist.all_reduce(x)
    dist.all_gather_into_tensor(np.zeros(x.size * world_size), x)
    dist.barrier()


@pytest.mark.parametrize("network", PARKED)
@pytest.mark.parametrize("cluster", ["dgx-a100", "dgx1-v100", "pc-10gbe"])
@pytest.mark.parametrize("nbytes", [64, 1 << 20])
def test_levels_agree_on_an_idle_network(network: str, cluster: str, nbytes: int) -> None:
    times = [sd.run(symmetric, nbytes, world_size=8, cluster=cluster, network=n).time for n in (network, "messages")]
    assert times[0] == pytest.approx(times[1], rel=1e-12)


def test_steps_sees_a_straggler_as_messages_do() -> None:
    def late(rank: int, world_size: int) -> None:
        sd.compute(seconds=1e-3 if rank == 3 else 1e-9)
        dist.all_reduce(np.zeros(1 << 16))

    ends = [sd.run(late, world_size=8, cluster="dgx-a100", network=n).rank_times for n in ("steps", "messages")]
    assert ends[0] == ends[1]


def test_formula_starts_everybody_with_the_last_one() -> None:
    def late(rank: int, world_size: int) -> float:
        sd.compute(seconds=1e-3 if rank == 3 else 1e-9)
        began = sd.current_time()
        dist.all_reduce(np.zeros(1 << 16))
        return sd.current_time() - began

    durations = sd.run(late, world_size=8, cluster="dgx-a100", network="formula").results
    assert min(durations) == durations[3]
    assert max(durations) == pytest.approx(durations[3] + 1e-3, rel=1e-3)


@pytest.mark.parametrize("network", PARKED)
def test_a_mismatch_is_raised_on_every_rank(network: str) -> None:
    def differ(rank: int, world_size: int) -> str:
        try:
            dist.all_reduce(np.zeros(4 if rank else 5))
        except CollectiveMismatchError as error:
            return str(error)
        return "nothing"

    results = sd.run(differ, world_size=3, cluster="dgx-a100", network=network).results
    assert len(set(results)) == 1
    assert "all_reduce of (5,) float64, SUM" in results[0]


@pytest.mark.parametrize("network", PARKED)
def test_who_never_comes_is_named(network: str) -> None:
    def missing(rank: int, world_size: int) -> None:
        if rank:
            dist.barrier()

    with pytest.raises(DeadlockError, match="rank 0"):
        sd.run(missing, world_size=3, cluster="dgx-a100", network=network)


@pytest.mark.parametrize("network", PARKED)
def test_an_unchecked_mismatch_goes_message_by_message(network: str) -> None:
    def swapped(rank: int, world_size: int) -> list[float]:
        a, b = np.full(2, 1.0 + rank), np.full(2, 10.0 * (1 + rank))
        first, second = (a, b) if rank == 0 else (b, a)
        dist.all_reduce(first)
        dist.all_reduce(second)
        return [a[0], b[0]]

    run = sd.run(swapped, world_size=2, cluster="dgx-a100", network=network, checked=False)
    assert run.results == [[21.0, 12.0], [12.0, 21.0]]


def test_an_unknown_level() -> None:
    with pytest.raises(UnknownNameError, match=r"no network level named 'step'\. Did you mean 'steps'"):
        sd.run(everything, world_size=2, network="step")
