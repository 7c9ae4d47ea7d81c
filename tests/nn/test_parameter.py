"""Addresses: equal structure and seed, equal first values, whatever the order."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator

import numpy as np
import pytest

from simdist import nn
from simdist.nn.parameter import DRAWS, Parameter
from simdist.tensor import manual_seed, random


@pytest.fixture(autouse=True)
def seed() -> Iterator[None]:
    manual_seed(0)
    yield
    manual_seed(0)


class Forwards(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)


class Backwards(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.b, self.a = nn.Linear(4, 4), nn.Linear(4, 4)


class Wrapper(nn.Module):
    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module
        list(module.parameters())  # as DistributedDataParallel does


def values(module: nn.Module) -> dict[str, np.ndarray]:
    return {name: p.detach().numpy() for name, p in module.named_parameters()}


def equal(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_the_order_of_construction_does_not_matter() -> None:
    assert equal(values(Forwards()), values(Backwards()))


def test_the_seed_of_the_moment_of_construction_counts() -> None:
    first = values(Forwards())
    late = Forwards()
    manual_seed(1)
    assert equal(first, values(late)) and not np.array_equal(first["a.weight"], values(Forwards())["a.weight"])


def test_parameters_of_one_shape_differ() -> None:
    model = Forwards()
    assert not np.array_equal(model.a.weight.data, model.b.weight.data)


def test_a_wrapper_changes_nothing() -> None:
    wrapped = Wrapper(Forwards())
    assert list(values(wrapped)) == ["module.a.weight", "module.a.bias", "module.b.weight", "module.b.bias"]
    assert equal(values(wrapped.module), values(Forwards()))


def test_touching_a_parameter_early_gives_the_same_numbers() -> None:
    early = Forwards()
    touched = early.b.weight.data.copy()
    assert np.array_equal(touched, values(Forwards())["b.weight"])
    assert equal(values(early), values(Forwards()))


def test_values_are_addressed_by_name_and_index() -> None:
    model = Forwards()
    drawn = (random.uniform(0, "a.weight", 4, 4) * 2 - 1) * 0.5  # row 1 of a.weight; the bound is 1 / sqrt(4)
    assert np.array_equal(model.a.weight.data[1], drawn.astype(np.float32))


def test_distributions() -> None:
    assert set(DRAWS) == {"uniform", "normal", "constant"}
    weight = nn.Linear(100, 200).weight.data
    assert np.abs(weight).max() <= 0.1 and weight.std() == pytest.approx(0.1 / np.sqrt(3), rel=0.02)
    assert nn.Embedding(100, 50).weight.data.std() == pytest.approx(1, rel=0.05)
    assert nn.LayerNorm(3).weight.tolist() == [1, 1, 1] and nn.LayerNorm(3).bias.tolist() == [0, 0, 0]


def test_a_parameter_is_a_leaf_that_wants_a_gradient() -> None:
    p = Parameter([1.0, 2.0])
    assert p.requires_grad and p.is_leaf and p.dtype == np.float32
    assert not Parameter([1.0], requires_grad=False).requires_grad
    assert repr(p).startswith("Parameter containing:\ntensor([1., 2.]")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = p.nothing


def test_copies_and_pickles_are_parameters() -> None:
    model = Forwards()
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert equal(values(again), values(Forwards()))
        assert isinstance(again.a.weight, Parameter) and again.a.weight is not model.a.weight
        assert type(again.a.weight) is Parameter


def test_values_are_drawn_when_they_are_first_touched() -> None:
    weight = Forwards().a.weight
    assert not weight.is_fixed
    with pytest.raises(AttributeError, match="'Parameter' object has no attribute 'nothing'"):
        _ = weight.nothing
    assert not weight.is_fixed, "another attribute draws nothing"
    assert weight.shape == (4, 4) and weight.is_fixed
    assert type(weight) is Parameter
