"""How much communication is left outside when it overlaps with the backward pass: worked out by hand.

A model of three layers whose gradients come in the order c, b, a. The backward pass of each layer takes 3, 2 and 1 ms;
a bucket holds one layer; an all-reduce of two ranks takes t = 2 (alpha + (n / 2) / B) seconds (a ring of two: two steps
of half the bytes).
"""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist import nn
from simdist.cluster import Accelerator, Cluster, Link, Node
from simdist.nn.parallel import DistributedDataParallel as DDP

ALPHA, BANDWIDTH = 10e-6, 1e9


def two_parameter_cluster(world_size=2):
    """Devices that compute in no time, and a network that is only alpha and B (half of alpha on each of a route's two links)."""
    device = Accelerator(
        name="instant",
        peak_flops={"float32": 1e30, "float64": 1e30},
        memory=1e12,
        memory_bandwidth=1e30,
        launch_overhead=0.0,
    )
    node = Node(name="node", accelerators=(device,) * world_size, fabric=Link(bandwidth=BANDWIDTH, latency=ALPHA / 2))
    return Cluster(name="alpha-B", nodes=(node,))


def all_reduce_time(nbytes, world_size=2):
    return 2 * (world_size - 1) * (ALPHA + nbytes / world_size / BANDWIDTH)


def test_the_network_is_alpha_and_b():
    route = two_parameter_cluster().route(0, 1)
    assert (route.latency, route.bandwidth) == (ALPHA, BANDWIDTH)

    def program(rank, world_size):
        dist.all_reduce(np.zeros(1_000_000, np.float32))

    run = sd.run(program, world_size=2, cluster=two_parameter_cluster())
    assert run.time == pytest.approx(all_reduce_time(4_000_000), rel=1e-12)


SIZES = {"a": 250_000, "b": 500_000, "c": 1_000_000}
BACKWARD = {"a": 1e-3, "b": 2e-3, "c": 3e-3}


def hand_program(rank, world_size):
    """The same by hand: buckets issued as the layers' gradients come, waited for at the end."""
    works = []
    for name in "cba":
        sd.compute(seconds=BACKWARD[name], name=name)
        works.append(dist.all_reduce(np.zeros(SIZES[name], np.float32), async_op=True))
    for work in works:
        work.wait()


def exposed_by_hand():
    """The stream begins a bucket when it is issued and the one before is done."""
    now = end = 0.0
    for name in "cba":
        now += BACKWARD[name]
        end = max(now, end) + all_reduce_time(4 * SIZES[name])
    return now, end - now


def test_exposed_communication_of_three_buckets():
    run = sd.run(hand_program, world_size=2, cluster=two_parameter_cluster())
    computing, exposed = exposed_by_hand()
    assert run.time == pytest.approx(computing + exposed, rel=1e-12)
    for rank in range(2):
        spans = [s for s in run.trace.spans(rank=rank, stream="main") if s.kind == "communication"]
        assert sum(s.duration for s in spans) == pytest.approx(exposed, rel=1e-12)


def slow_gradient(parameter, name):
    """Charge the layer's backward time just before its gradient counts as ready."""
    parameter.register_hook(lambda grad: sd.compute(seconds=BACKWARD[name], name=name))


def ddp_program(rank, world_size, steps):
    model = nn.Module()
    parameters = {name: nn.Parameter(sd.zeros(size)) for name, size in SIZES.items()}
    for name, parameter in parameters.items():
        setattr(model, name, parameter)
        slow_gradient(parameter, name)
    model.forward = lambda x: ((x * parameters["a"].sum()) * parameters["b"].sum()) * parameters["c"].sum()
    ddp = DDP(model, bucket_cap_mb=0.5)
    ends = []
    for _ in range(steps):
        out = ddp(sd.ones(1, requires_grad=True)).sum()
        dist.barrier()  # both ranks start together
        start = sd.current_time()
        out.backward()
        ends.append((start, sd.current_time()))
        for parameter in parameters.values():
            parameter.grad = None
    return ends


def test_ddp_overlaps_from_the_second_iteration_on():
    """Iteration 0: one bucket, nothing overlaps. Iteration 1: three buckets, the exposed part as by hand."""
    run = sd.run(ddp_program, 2, world_size=2, cluster=two_parameter_cluster())
    computing, exposed = exposed_by_hand()
    total = all_reduce_time(4 * sum(SIZES.values()))
    for rank in range(2):
        (start0, end0), (start1, end1) = run.results[rank]
        assert end0 - start0 == pytest.approx(computing + total, rel=1e-9)
        assert end1 - start1 == pytest.approx(computing + exposed, rel=1e-9)
    assert exposed < 0.6 * total


def test_without_a_network_there_is_nothing_exposed():
    run = sd.run(ddp_program, 2, world_size=1, cluster=two_parameter_cluster(1))
    (start, end) = run.results[0][1]
    assert end - start == pytest.approx(sum(BACKWARD.values()), rel=1e-9)
