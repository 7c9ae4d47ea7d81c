"""Whether new tensors have numbers is the run's decision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from simdist import nn
from simdist.errors import SimdistError, UnknownNameError
from simdist.tensor import device, from_numpy, full, randn, tensor, zeros


@pytest.fixture
def meta() -> Iterator[None]:
    before = device._source[0]
    device.set_device_source(lambda: "meta")
    yield
    device.set_device_source(before)


def test_outside_a_run_tensors_have_numbers() -> None:
    assert device.current_device() == "real"
    assert not zeros(3).is_meta


def test_floating_point_tensors_become_shapes(meta: None) -> None:
    for made in (zeros(3), randn(3), tensor([1.0, 2.0]), from_numpy(np.ones(3)), zeros(3, dtype="int64")):
        assert made.is_meta


def test_integers_with_values_stay_numbers(meta: None) -> None:
    assert tensor([1, 2]).tolist() == [1, 2]


def test_one_tensor_can_say_it_itself(meta: None) -> None:
    assert not zeros(3, device="real").is_meta


def test_a_model_on_shapes_trains_unchanged(meta: None) -> None:
    model = nn.MLP([6, 5, 3])
    loss = nn.functional.cross_entropy(model(np.ones((4, 6), np.float32)), zeros(4, dtype="int64"))
    loss.backward()
    assert [p.grad.shape for p in model.parameters()] == [(5, 6), (5,), (3, 5), (3,)]
    assert np.isnan(loss.item())


@pytest.mark.parametrize(
    "make", [lambda d: zeros(3, device=d), lambda d: tensor([1, 2], device=d), lambda d: full((2,), 1, device=d)]
)
@pytest.mark.parametrize("name", ["cuda", "cuda:0", "", "gpu"])
def test_an_unknown_device_is_refused(make: Any, name: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        make(name)
    text = str(caught.value)
    assert text.startswith(f"there is no device named {name!r}.") and "Known: cpu, meta, real." in text
    assert text.endswith("Leave device= out: a rank's tensors are on its own accelerator by themselves.")


def test_torchs_name_for_numbers(meta: None) -> None:
    assert not zeros(3, device="cpu").is_meta and zeros(3, device="meta").is_meta and device.wants_meta(None)


def test_what_needs_numbers_is_refused_without_them(meta: None) -> None:
    t = zeros(1)
    assert np.isnan(t.item()) and np.isnan(float(t))
    questions: list[tuple[str, Any]] = [
        ("the truth of", bool),
        ("the whole number in", int),
        ("the whole number in", lambda t: [0][t]),
        ("a list of the elements of", lambda t: t.tolist()),
    ]
    for what, question in questions:
        with pytest.raises(
            SimdistError, match=rf"{what} a meta array \(1,\) float32 was asked for, but it has a shape and no values"
        ):
            question(t)
