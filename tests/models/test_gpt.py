"""GPT: stages equal the whole, tying, addresses, texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simdist.errors import ShapeError
from simdist.models import GPT, GPTConfig
from simdist.models.gpt import GPTOptionError
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
    with pytest.raises(TypeError, match=r"there is no option of GPT named 'n_layers'\. Did you mean 'n_layer'"):
        GPT(n_layers=1)
    with pytest.raises(
        GPTOptionError, match=r"'n_heads'\. Did you mean 'n_head'.* Known: block_size, checkpoint, dropout"
    ):
        GPT(n_heads=3)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"n_embd": 32, "n_head": 3}, "n_embd=32 cannot be shared among n_head=3.*Choose n_head=2 or 4 or 1, or a multiple of 3"),
    ({"n_head": 0}, r"GPT: n_head must be a whole number of at least 1, got 0\."),
    ({"block_size": 0}, "GPT: block_size must be a whole number of at least 1, got 0"),
    ({"vocab_size": 2.0}, r"GPT: vocab_size must be a whole number of at least 1, got 2\.0"),
    ({"n_layer": -1}, "GPT: n_layer must be a whole number of at least 0, got -1"),
    ({"dropout": 1.5}, r"GPT: dropout is a probability, so it must be from 0 to 1, got 1\.5"),
    ({"gelu": "erf"}, "there is no approximation of gelu named 'erf'"),
    ({"dtype": "int64"}, "GPT: parameters are floating point numbers, got dtype='int64'"),
    ({"config": 3}, r"GPT: the first argument is a GPTConfig, got 3"),
    ({"config": SMALL, "n_layer": 3}, "GPT: got a config and also n_layer: which one counts"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(BAD)))
def test_a_misconfiguration_is_explained(case: int) -> None:
    options, text = BAD[case]
    with pytest.raises(ValueError, match=text):
        GPT(**options)


def test_tokens_and_targets_that_do_not_fit() -> None:
    model = GPT(SMALL)
    with pytest.raises(
        IndexError, match=r"GPT: a token is not in the vocabulary \(vocab_size=64.* index 64 at position \(0, 1\)"
    ):
        model([[0, 64]])
    with pytest.raises(IndexError, match="but the logits have 64 classes"):
        model.loss(np.array([[0, 1]]), np.array([[0, 64]]))
    with pytest.raises(
        ShapeError, match=r"tokens \(3, 16\) and targets \(3, 17\): of one text, tokens are text\[:, :-1\]"
    ):
        model.loss(TOKENS[:, :-1], TOKENS)
    with pytest.raises(
        ShapeError, match=r"\(sequences, positions\), got shape \(5,\): for one sequence say tokens.reshape\(1, -1\)"
    ):
        model(np.arange(5))


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
