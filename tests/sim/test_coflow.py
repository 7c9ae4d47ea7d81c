"""A collective as one flow: exact alone and in step, between two bounds otherwise."""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.cluster import Cluster, Link, Node, presets
from simdist.errors import UnknownNameError
from simdist.sim import Job
from simdist.sim.coflow import Coflow
from simdist.tensor import MetaArray
from tests.sim.programs import call

UPLINK = 1e9


def pairs(latency=0.0):
    """Two leaf switches with two nodes each; whatever goes between them shares one cable in each direction."""
    device = presets.get("pc-10gbe").nodes[0].accelerators[0]
    node = Node((device,), num_nics=1, nic=Link(10e9, latency))
    edges = [(f"node{i}/nic0", f"leaf{i % 2}", Link(10e9, latency)) for i in range(4)]
    return Cluster("pairs", (node,) * 4, [*edges, ("leaf0", "leaf1", Link(UPLINK, latency))])


def two_groups(nbytes, offset=0.0, rounds=1):
    """Ranks 0, 1 and ranks 2, 3 all-reduce across the uplink, the second pair ``offset`` seconds later."""

    def program(rank):
        first = rank.rank // 2 * 2
        if first and offset:
            rank.charge("compute", "w", offset)
        for sequence in range(rounds):
            x = MetaArray((nbytes,), np.dtype("uint8"))
            rank.collective(call(rank, sequence, x, ranks=(first, first + 1), group=1 + first), False)
        return rank.main.now

    return program


def ends(program, network, cluster, **options):
    job = Job(cluster, 4, program, network=network, **options)
    job.run()
    return job.results


@pytest.mark.parametrize("network", ["coflow", "messages"])
@pytest.mark.parametrize("strict", [False, True])
def test_two_collectives_in_step_share_the_uplink(network, strict):
    """Each sends 2 x n/2 bytes over it in each direction: together twice the time of one, plus the latencies."""
    n, latency = 8_000_000, 1e-6
    found = ends(two_groups(n), network, pairs(latency), lazy=not strict)
    assert found == pytest.approx([2 * n / UPLINK + 2 * 3 * latency] * 4, rel=1e-12)


def test_one_that_comes_later_shares_only_what_is_left():
    """Alone 8 ms. The second comes after 4 ms: the first ends at 12 ms, the second at 16 ms."""
    n = 8_000_000
    for network in ("coflow", "coflow-fluid"):
        found = ends(two_groups(n, offset=4e-3), network, pairs())
        assert found == pytest.approx([12e-3, 12e-3, 16e-3, 16e-3], rel=1e-9)


@pytest.mark.parametrize("n", [2_000, 200_000, 20_000_000])
@pytest.mark.parametrize("offset", [0.0, 0.3, 0.6])
def test_messages_lie_between_the_two_bounds(n, offset):
    """Latency-bound or not, in step or not: fluid is the least; sync the most, but for a phase shift (0.2 % here)."""
    latency = 1e-6
    shift = offset * n / UPLINK
    found = {
        network: max(ends(two_groups(n, shift, rounds=4), network, pairs(latency)))
        for network in ("coflow-fluid", "messages", "coflow")
    }
    assert found["coflow-fluid"] <= found["messages"] * (1 + 1e-9)
    assert found["messages"] <= found["coflow"] * 1.0025


def test_fluid_hides_latencies_behind_the_bytes_of_others():
    n, latency = 20_000, 10e-6
    alone = n / UPLINK + 2 * 3 * latency
    fluid, sync = (max(ends(two_groups(n), network, pairs(latency))) for network in ("coflow-fluid", "coflow"))
    assert fluid == pytest.approx(alone, rel=1e-12)
    assert sync == pytest.approx(alone + n / UPLINK, rel=1e-12)


def test_a_message_of_the_users_shares_with_a_collective():
    n = 8_000_000

    def program(rank):
        if rank.rank < 2:
            rank.collective(call(rank, 0, MetaArray((n,), np.dtype("uint8")), ranks=(0, 1), group=1), False)
        else:
            buf = MetaArray((n // 2,), np.dtype("uint8"))
            (rank.isend(buf, 3, (0, 0, 0), None) if rank.rank == 2 else rank.irecv(buf, 2, (0, 0, 0), None)).wait()
        return rank.main.now

    found = ends(program, "coflow", pairs())
    assert found == pytest.approx([12e-3, 12e-3, 8e-3, 8e-3], rel=1e-9)


def program(rank, world_size):
    """Groups of every second rank, asynchronous, so that they share."""
    groups = [dist.new_group(list(range(i, world_size, 2))) for i in range(2)]
    arrays = np.full((3, 1 << 16), float(rank))
    works = [dist.all_reduce(x, group=groups[rank % 2], async_op=True) for x in arrays]
    for work in works:
        work.wait()
    return float(arrays[0, 0])


def test_through_the_public_interface_numbers_are_the_same_and_messages_are_drawn_out():
    runs = {n: sd.run(program, world_size=16, cluster="dgx1-v100", network=n) for n in ("messages", "coflow")}
    assert runs["coflow"].results == runs["messages"].results
    coflow = runs["coflow"].trace
    assert max(flow.end for flow in coflow.flows()) <= coflow.end * (1 + 1e-12)
    sent = {name: sum(flow.nbytes for flow in run.trace.flows()) for name, run in runs.items()}
    assert sent["coflow"] == sent["messages"]


def test_an_unknown_bound():
    with pytest.raises(UnknownNameError, match="bound of a coflow"):
        Coflow(None, Job(pairs(), 4, lambda rank: None).network, "squid")
