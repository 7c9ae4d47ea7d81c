import numpy as np

import simdist as sd
from simdist import nn
from simdist.nn.parallel import DistributedDataParallel as DDP


def program(rank, world_size, steps=3):
    model = DDP(nn.MLP([64, 256, 256, 10]), bucket_cap_mb=0.1)
    counts = []
    for _ in range(steps):
        model(sd.ones(4, 64)).sum().backward()
        counts.append(len(model.reducer.buckets))
    return counts, model.reducer.has_rebuilt_buckets, model.reducer.num_iterations


def test_buckets_are_rebuilt_once_and_launched_in_order():
    run = sd.run(program, world_size=2, cluster="dgx-a100")
    assert run.results == [([1, 2, 2], True, 3)] * 2
    spans = [s for s in run.trace.spans(rank=0, stream="comm:0") if s.kind == "communication"]
    reductions = [s for s in spans if s.name.startswith("all_reduce")]
    assert [s.details["sequence"] for s in reductions] == sorted(s.details["sequence"] for s in reductions)
    assert len(reductions) == 1 + 2 + 2
    assert sum(s.name.startswith("broadcast") for s in spans) == 2


def test_buckets_hold_memory_and_copying_costs_time():
    run = sd.run(program, world_size=2, cluster="dgx-a100")
    parameters = (64 * 256 + 256) + (256 * 256 + 256) + (256 * 10 + 10)
    assert run.memory[0].peaks["buckets"] == 4 * parameters
    names = [s.name for s in run.trace.main_spans(0) if s.kind == "backward"]
    assert names.count("copy to bucket") == 3 * 6
    assert names.count("copy from bucket") == 1 + 2 + 2


def test_gradients_are_divided_before_they_are_summed():
    """float16-like range: the sum of undivided gradients would overflow, the sum of divided ones does not."""

    def big(rank, world_size):
        inner = nn.Module()
        inner.w = nn.Parameter(sd.tensor(np.ones(1, np.float32)))
        inner.forward = lambda x: inner.w * x
        model = DDP(inner)
        model(sd.tensor(np.full(1, 3e38, np.float32))).sum().backward()
        return float(inner.w.grad.numpy()[0])

    assert sd.run(big, world_size=4).results == [float(np.float32(3e38))] * 4
