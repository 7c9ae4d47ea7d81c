"""Layers: shapes, dropout's addresses, containers, losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simdist as sd
from simdist import nn
from simdist.tensor import checkpoint, ones, random, tensor

X = np.random.RandomState(0).standard_normal((2, 3, 8)).astype(np.float32)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [(nn.Linear(8, 5), (2, 3, 5)), (nn.LayerNorm(8), (2, 3, 8)), (nn.LayerNorm((3, 8)), (2, 3, 8)), (nn.ReLU(), (2, 3, 8)),
     (nn.GELU("tanh"), (2, 3, 8)), (nn.Tanh(), (2, 3, 8)), (nn.Dropout(0.1), (2, 3, 8)), (nn.Flatten(), (2, 24))],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_arrays_go_in_and_tensors_come_out(layer: nn.Module, shape: tuple[int, ...]) -> None:
    assert layer(X).shape == shape and layer(tensor(X)).shape == shape


def test_embedding_and_identity() -> None:
    assert nn.Embedding(7, 4)(np.array([[0, 6]])).shape == (1, 2, 4)
    assert nn.Identity()(X) is X


def test_texts() -> None:
    assert repr(nn.Linear(8, 5)) == "Linear(in_features=8, out_features=5, bias=True)"
    assert repr(nn.Embedding(7, 4)) == "Embedding(7, 4)" and repr(nn.Dropout(0.1)) == "Dropout(p=0.1)"
    assert repr(nn.LayerNorm(8)) == "LayerNorm((8,), eps=1e-05)" and repr(nn.GELU()) == "GELU(approximate='none')"


def masks(net: nn.Module, calls: int = 2) -> list[np.ndarray]:
    return [net(ones(64)).data != 0 for _ in range(calls)]


def test_masks_differ_between_calls_and_modules_and_not_between_runs() -> None:
    def build() -> nn.Sequential:
        return nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))

    a, b = build(), build()
    list(a.parameters()), list(b.parameters())
    first, second = masks(a[0])
    (inner,) = masks(a[1][0], 1)
    assert not np.array_equal(first, second) and not np.array_equal(first, inner)
    assert np.array_equal(first, masks(b[0])[0])


def test_dropout_keeps_the_mean_and_does_nothing_in_evaluation() -> None:
    drop = nn.Dropout(0.25)
    y = drop(ones(100_000)).data
    assert (y == 0).mean() == pytest.approx(0.25, abs=0.01) and set(np.unique(y)) == {0, np.float32(1 / 0.75)}
    assert y.mean() == pytest.approx(1, abs=0.01)
    assert drop.eval()(ones(5)).tolist() == [1.0] * 5


def test_dropout_of_everything_is_zero_and_so_is_its_gradient() -> None:
    x = ones(5, requires_grad=True)
    y = nn.Dropout(1)(x)
    y.sum().backward()
    assert y.tolist() == [0.0] * 5 and x.grad is not None and x.grad.tolist() == [0.0] * 5


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_dropout_of_no_probability(p: float) -> None:
    text = f"dropout: p is the probability that an element becomes 0, so it must be from 0 to 1, got {p!r}"
    for attempt in (lambda: nn.Dropout(p), lambda: nn.functional.dropout(ones(3), p)):
        with pytest.raises(ValueError, match=text):
            attempt()


def seeded_masks(rank: int, world_size: int) -> list[list[float]]:
    net = nn.Sequential(nn.Dropout(0.5), nn.Dropout(0.5))
    found = []
    for seed in (3, 4, 3):
        sd.manual_seed(seed)
        found += [net(ones(64)).tolist(), net(ones(64)).tolist(), nn.functional.dropout(ones(64)).tolist()]
        if rank == 0:  # what one rank draws does not disturb another
            net(ones(1))
    return found


def test_seeding_again_repeats_the_masks_on_every_backend() -> None:
    simulated = sd.run(seeded_masks, world_size=2).results
    for found in simulated:
        assert found[:3] == found[6:] and len({str(mask) for mask in found[:6]}) == 6
    assert simulated[0] == simulated[1]
    assert sd.run(seeded_masks, world_size=2, backend="process").results == simulated


def test_seeding_again_outside_a_run() -> None:
    net = nn.Dropout(0.5)
    before = random.current_seed()
    try:
        sd.manual_seed(7)
        first = masks(net)
        sd.manual_seed(7)
        again = masks(net)
    finally:
        sd.manual_seed(before)
    assert np.array_equal(first, again) and not np.array_equal(first[0], first[1])


def test_a_checkpoint_repeats_its_mask_whatever_was_seeded_meanwhile() -> None:
    def gradient(function: Any, wrap: Any) -> Any:
        x = ones(64, requires_grad=True)
        sd.manual_seed(5)
        y = wrap(function, x) if wrap else function(x)
        sd.manual_seed(6)
        y.sum().backward()
        assert x.grad is not None and np.array_equal(x.grad.data, y.data)
        return x.grad.data

    before = random.current_seed()
    try:
        for function in (nn.Dropout(0.5), lambda x: nn.functional.dropout(x * 1.0, 0.5)):
            assert np.array_equal(gradient(function, checkpoint), gradient(function, None))
    finally:
        sd.manual_seed(before)


def test_a_shards_mask_is_the_slice_of_the_whole() -> None:
    whole = nn.functional.dropout(ones(10, 4), 0.5, address="a").data
    part = nn.functional.dropout(ones(3, 4), 0.5, address="a", start=4 * 4).data
    assert np.array_equal(part, whole[4:7])


def test_containers() -> None:
    parts = nn.ModuleList([nn.Linear(2, 2), nn.ReLU()])
    assert len(parts.append(nn.Tanh())) == 3 and [type(p).__name__ for p in parts] == ["Linear", "ReLU", "Tanh"]
    assert isinstance(parts[1:], nn.ModuleList) and isinstance(parts[-1], nn.Tanh)
    chain = nn.Sequential(*parts)
    assert len(chain) == 3 and isinstance(chain[:2], nn.Sequential) and len(list(chain)) == 3
    assert [name for name, _ in chain.named_parameters()] == ["0.weight", "0.bias"]


def test_losses_are_modules_too() -> None:
    z, t = X[0], np.array([0, 1, 2])
    assert nn.CrossEntropyLoss()(z, t).item() == nn.functional.cross_entropy(z, t).item()
    assert nn.MSELoss("sum")(z, z + 1).item() == pytest.approx(24)
