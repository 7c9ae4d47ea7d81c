"""GPT: stages equal the whole, tying, addresses, texts."""

from __future__ import annotations

import numpy as np
import pytest

from simdist.errors import ShapeError
from simdist.models import GPT, GPTConfig
from simdist.tensor import MetaArray, Tensor

TOKENS = np.random.RandomState(0).randint(0, 64, (3, 17))
SMALL = GPTConfig(n_layer=5, n_embd=16, n_head=2)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("tied", [False, True])
def test_the_stages_in_a_row_are_the_whole(n: int, tied: bool) -> None:
    model = GPT(n_layer=5, n_embd=16, n_head=2, tied=tied)
    parts = model.stages(n)
    assert len(parts) == n and max(len(p.h) for p in parts) - min(len(p.h) for p in parts) <= 1
    x = TOKENS[:, :-1]
    for part in parts:
        x = part(x)
    assert np.array_equal(x.detach().data, model(TOKENS[:, :-1]).detach().data)
    names = [name for part in parts for name, _ in part.named_parameters()]
    whole = [name for name, _ in model.named_parameters()]
    assert names == [*whole, *(["head.weight"] if tied and n > 1 else [])]


def test_a_stage_alone_has_the_first_values_of_the_whole() -> None:
    whole = {name: p.data for name, p in GPT(SMALL).named_parameters()}
    part = GPT(SMALL).stages(3)[1]
    assert next(name for name, _ in part.named_parameters()) == "h.2.ln1.weight"
    assert all(np.array_equal(p.data, whole[name]) for name, p in part.named_parameters())


def test_a_tied_head_is_the_embedding() -> None:
    model = GPT(tied=True)
    assert model.head.weight is model.wte.weight
    model.loss(TOKENS[:, :-1], TOKENS[:, 1:]).backward()
    assert "head.weight" not in dict(model.named_parameters()) and "head.weight" in model.state_dict()


def test_the_first_loss_is_finite_and_falls() -> None:
    from simdist import optim

    model = GPT(SMALL)
    opt = optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(12):
        loss = model.loss(TOKENS[:, :-1], TOKENS[:, 1:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_options_are_the_configs_fields() -> None:
    assert GPT(n_layer=1).config == GPTConfig(n_layer=1)
    assert GPT(SMALL).config is SMALL
    with pytest.raises(TypeError, match="n_layers"):
        GPT(n_layers=1)


def test_without_data() -> None:
    model = GPT(SMALL)
    for p in model.parameters():
        p.data = MetaArray(p.shape, p.dtype)
    loss = model.loss(TOKENS[:, :-1], TOKENS[:, 1:])
    loss.backward()
    assert loss.is_meta and all(isinstance(p.grad, Tensor) and p.grad.is_meta for p in model.parameters())


def test_what_is_refused() -> None:
    with pytest.raises(ShapeError, match="a sequence of 17 tokens, but the model has 16 positions"):
        GPT(SMALL)(TOKENS)
    for n in (0, 6):
        with pytest.raises(ValueError, match="a model of 5 blocks can be cut into 1 to 5 parts"):
            GPT(SMALL).stages(n)
