"""Data parallel training equals training on one rank, simulated and real; and the twin that must not."""

import numpy as np
import pytest

import simdist as sd
from simdist import nn, optim
from simdist.comm.algorithm import ALGORITHMS, DEFAULT, Algorithm
from simdist.comm.step import Step, Transfer
from simdist.models import GPT, GPTConfig
from simdist.nn.parallel import DistributedDataParallel as DDP

ROWS = 48


def mlp_loss(model, step, rows):
    random = np.random.default_rng([1, step])
    x, y = random.standard_normal((ROWS, 12)), random.integers(0, 5, ROWS)
    return nn.functional.cross_entropy(model(sd.tensor(x[rows])), sd.tensor(y[rows]))


def gpt_loss(model, step, rows):
    tokens = np.random.default_rng([2, step]).integers(0, 64, (ROWS, 9))[rows]
    logits = model(sd.tensor(tokens[:, :-1]))
    return nn.functional.cross_entropy(logits.reshape(-1, 64), sd.tensor(tokens[:, 1:].reshape(-1)))


MODELS = {
    "mlp": (lambda: nn.MLP([12, 24, 20, 5]), mlp_loss),
    "gpt": (lambda: GPT(GPTConfig(block_size=8, n_layer=1)), gpt_loss),
    "gpt tied": (lambda: GPT(GPTConfig(block_size=8, n_layer=1, tied=True)), gpt_loss),
}
OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "adamw": lambda p: optim.AdamW(p, lr=1e-2),
}


def program(rank, world_size, name, optimizer_name, dtype, steps=5, cap=None):
    make, loss_of = MODELS[name]
    inner = make().to(np.dtype(dtype))
    model = DDP(inner, bucket_cap_mb=cap)
    optimizer = OPTIMIZERS[optimizer_name](model.parameters())
    rows = slice(rank * ROWS // world_size, (rank + 1) * ROWS // world_size)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, step, rows)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses} | {key: value.detach().numpy().copy() for key, value in inner.state_dict().items()}


def alone(name, optimizer_name, dtype, steps=5):
    """The same without ranks: plain training on the whole batch."""
    make, loss_of = MODELS[name]
    model = make().to(np.dtype(dtype))
    optimizer = OPTIMIZERS[optimizer_name](model.parameters())
    for step in range(steps):
        optimizer.zero_grad()
        loss_of(model, step, slice(0, ROWS)).backward()
        optimizer.step()
    return {key: value.detach().numpy().copy() for key, value in model.state_dict().items()}


def worst(got, want):
    return max(np.abs(got[k] - want[k]).max() / np.abs(want[k]).max() for k in want)


@pytest.mark.parametrize("world_size", [1, 2, 3, 4, 8])
@pytest.mark.parametrize(("name", "optimizer"), [("mlp", "sgd"), ("mlp", "adamw"), ("gpt", "sgd"), ("gpt tied", "sgd")])
def test_equals_training_on_one_rank(name, optimizer, world_size):
    want = alone(name, optimizer, "float64")
    run = sd.run(program, name, optimizer, "float64", world_size=world_size, cluster="dgx-a100")
    for got in run.results:
        assert worst(got, want) <= 1e-12
        assert all(got[k].tobytes() == run.results[0][k].tobytes() for k in want), "replicas must have the same bits"


def test_equals_training_on_one_rank_in_float32():
    want = alone("mlp", "sgd", "float32")
    for got in sd.run(program, "mlp", "sgd", "float32", world_size=4).results:
        assert worst(got, want) <= 1e-5


@pytest.mark.parametrize("world_size", [2, 4])
@pytest.mark.parametrize("name", ["mlp", "gpt"])
@pytest.mark.parametrize("cap", [None, 0.002])
def test_simulated_and_real_runs_agree_bit_for_bit(name, world_size, cap):
    arguments = (name, "adamw", "float32", 3, cap)
    simulated = sd.run(program, *arguments, world_size=world_size, cluster="dgx-a100")
    real = sd.run(program, *arguments, world_size=world_size, backend="process", cluster="dgx-a100")
    comparison = sd.compare(simulated, real)
    assert comparison.identical, str(comparison)
    assert comparison.count >= 9 * world_size


def mirrored_ring(rank, size, root=0):
    """The ring all-reduce the other way round: the same sums, added in the reverse order."""
    right, left = (rank - 1) % size, (rank + 1) % size
    for k in range(size - 1):
        yield Step(Transfer(right, ((rank + k + 1) % size,)), Transfer(left, ((rank + k + 2) % size,)), combine=True)
    yield Step(finish=(rank,))
    for k in range(size - 1):
        yield Step(Transfer(right, ((rank + k) % size,)), Transfer(left, ((rank + k + 1) % size,)))


def test_the_twin_with_its_additions_reversed_is_told_apart(monkeypatch):
    """An honest check of the check: if the order of additions differs, the bits differ and the comparison says so."""
    arguments = ("mlp", "sgd", "float32", 3)
    real = sd.run(program, *arguments, world_size=4, backend="process")
    monkeypatch.setitem(DEFAULT, "all_reduce", Algorithm("mirrored", "all_reduce", mirrored_ring, symmetric=True))
    twin = sd.run(program, *arguments, world_size=4)
    monkeypatch.setitem(DEFAULT, "all_reduce", ALGORITHMS["ring_all_reduce"])
    comparison = sd.compare(twin, real)
    assert not comparison.identical
    assert any("elements differ, by at most" in d.what for d in comparison.differences)
    assert worst(twin.results[0], {k: v for k, v in real.results[0].items() if k != "losses"}) < 1e-4
    assert sd.compare(sd.run(program, *arguments, world_size=4), real).identical


@pytest.mark.parametrize("backend", ["sim", "process"])
def test_batches_of_different_sizes(backend):
    """Case 01: the plain average is the mean of means; a weight of world * n_local / n_global gives the global mean."""

    def one_weight(rank, world_size, weighted):
        model = nn.Module()
        model.w = nn.Parameter(sd.tensor(np.ones(1)))
        model.forward = lambda x: model.w * x
        ddp = DDP(model)
        x = sd.tensor(np.array([[1.0, 2.0, 3.0], [4.0]][rank]))
        loss = (ddp(x) ** 2).mean() * 0.5
        if weighted:
            loss = loss * (world_size * x.numel() / 4)
        loss.backward()
        return float(model.w.grad.numpy()[0])

    plain = sd.run(one_weight, False, world_size=2, backend=backend).results
    assert plain == pytest.approx([10.333333333333332] * 2, rel=1e-14)
    weighted = sd.run(one_weight, True, world_size=2, backend=backend).results
    assert weighted == pytest.approx([7.5] * 2, rel=1e-14)
