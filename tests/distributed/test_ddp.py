"""The wrapper's own rules: start, no_sync, buffers, errors."""

import numpy as np
import pytest

import simdist as sd
from simdist import nn
from simdist.nn.parallel import DistributedDataParallel as DDP


def run(fn, *args, world_size=2, **options):
    return sd.run(fn, *args, world_size=world_size, cluster="dgx-a100", **options)


def test_rank_zeros_parameters_and_buffers_are_sent_to_all():
    def program(rank, world_size, init_sync):
        inner = nn.Linear(3, 2)
        inner.register_buffer("count", sd.tensor(np.full(2, float(rank))))
        with sd.no_grad():
            inner.weight.fill_(float(rank))
        DDP(inner, init_sync=init_sync)
        return inner.weight.detach().numpy().max(), inner.count.numpy().max()

    assert run(program, True).results == [(0.0, 0.0)] * 2
    assert run(program, False).results == [(0.0, 0.0), (1.0, 1.0)]


def test_buffers_follow_rank_zero_in_each_synchronised_forward():
    def program(rank, world_size, broadcast_buffers):
        inner = nn.Linear(3, 2)
        inner.register_buffer("count", sd.tensor(np.zeros(2)))
        model = DDP(inner, broadcast_buffers=broadcast_buffers)
        seen = []
        for step in range(2):
            with sd.no_grad():
                inner.count.fill_(10.0 * step + rank)
            model(sd.ones(1, 3)).sum().backward()
            seen.append(float(inner.count.numpy()[0]))
        with model.no_sync():
            inner.count.fill_(5.0 + rank)
            model(sd.ones(1, 3))
        return [*seen, float(inner.count.numpy()[0])]

    assert run(program, True).results == [[0, 10, 5], [0, 10, 6]]
    assert run(program, False).results == [[0, 10, 5], [1, 11, 6]]


def test_accumulation_costs_one_reduction():
    def program(rank, world_size, k):
        model = DDP(nn.Linear(8, 8))
        for _ in range(2):
            for micro in range(k):
                if micro < k - 1:
                    with model.no_sync():
                        model(sd.ones(1, 8)).sum().backward()
                else:
                    model(sd.ones(1, 8)).sum().backward()

    def reductions(k):
        spans = run(program, k).trace.spans(rank=0, stream="comm:0", kind="communication")
        return sum(s.name.startswith("all_reduce") for s in spans)

    assert reductions(1) == reductions(4) == 2


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(2, 1), nn.Linear(2, 1), nn.Linear(2, 1)

    def forward(self, x, both):
        return self.a(x) + self.b(x) if both else self.a(x)


def test_unused_parameters_are_an_error_at_the_next_forward_on_every_rank():
    """Case 11 without detection: iteration 1 returns, iteration 2 raises on both ranks and names the parameters."""

    def program(rank, world_size):
        model = DDP(Branch())
        model(sd.ones(1, 2), rank == 0).sum().backward()
        try:
            model(sd.ones(1, 2), rank == 0)
        except RuntimeError as error:
            return str(error)
        return "no error"

    for rank, text in enumerate(run(program).results):
        assert "expected to have finished the reduction of the last iteration" in text
        assert "'c.weight'" in text
        assert ("'b.weight'" in text) == (rank == 1)


def test_a_gradient_that_comes_twice():
    def program(rank, world_size):
        inner = nn.Linear(2, 1)
        model = DDP(nn.Sequential(inner, nn.Linear(1, 1)))
        out = inner(sd.ones(1, 2)).sum()
        model(sd.ones(1, 2))
        out.backward(retain_graph=True)
        out.backward()

    with pytest.raises(sd.distributed.DistError, match="came twice in one backward pass"):
        run(program)


def test_modules_without_gradients_or_with_other_shapes():
    def frozen(rank, world_size):
        DDP(nn.Linear(2, 1).requires_grad_(False))

    with pytest.raises(RuntimeError, match="at least one parameter that requires a gradient; Linear has none"):
        run(frozen)

    def other_shape(rank, world_size):
        DDP(nn.Linear(2 + rank, 1))

    with pytest.raises(
        RuntimeError, match=r"parameter 'weight' is \(1, \d\) here, but has 2 dimensions and \d elements"
    ):
        run(other_shape)

    def other_count(rank, world_size):
        DDP(nn.MLP([2, 3, 1] if rank else [2, 1]))

    with pytest.raises(RuntimeError, match=r"the ranks have \[2, 4\] parameters"):
        run(other_count)

    def bad_cap(rank, world_size):
        DDP(nn.Linear(2, 1), bucket_cap_mb=0)

    with pytest.raises(ValueError, match="bucket_cap_mb must be a positive number"):
        run(bad_cap)


def test_frozen_parameters_take_no_part():
    def program(rank, world_size):
        inner = nn.MLP([2, 3, 1])
        first = next(iter(inner.parameters()))
        first.requires_grad_(False)
        model = DDP(inner)
        model(sd.ones(1, 2)).sum().backward()
        return len(model.reducer.names), first.grad is None

    assert run(program).results == [(3, True)] * 2


def test_outside_a_run():
    with pytest.raises(sd.distributed.DistError, match="DistributedDataParallel was called outside a run"):
        DDP(nn.Linear(1, 1))


def test_forward_without_gradients_changes_nothing():
    def program(rank, world_size):
        model = DDP(nn.Linear(2, 1))
        with sd.no_grad():
            model(sd.ones(1, 2))
        model(sd.ones(1, 2)).sum().backward()
        return model.reducer.num_iterations

    assert run(program).results == [1, 1]
