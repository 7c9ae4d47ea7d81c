"""The surface: torch's names and promotions, in-place rules, texts."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simdist.errors import GradientError, ShapeError
from simdist.tensor import MetaArray, Tensor, arange, as_tensor, no_grad, tensor, zeros

A = np.arange(12, dtype=np.float32).reshape(3, 4)


def same(t: Tensor, array: Any) -> bool:
    return t.dtype == np.asarray(array).dtype and np.array_equal(t.detach().numpy(), array)


def test_what_it_tells_of_itself() -> None:
    t = tensor(A)
    assert (t.shape, t.ndim, t.dim(), t.numel(), t.nbytes, t.element_size()) == ((3, 4), 2, 2, 12, 48, 4)
    assert (t.size(), t.size(1), len(t), t.is_leaf, t.grad_fn, t.is_meta) == ((3, 4), 4, 3, True, None, False)
    assert t.tolist() == A.tolist()
    assert tensor(2.5).item() == 2.5 and float(tensor(2.5)) == 2.5 and int(tensor(3)) == 3
    assert [row.tolist() for row in t] == A.tolist()
    assert bool(tensor(1)) and ["a", "b"][tensor(1)] == "b"


def test_text() -> None:
    assert repr(tensor([1.0, 2.0])) == "tensor([1., 2.], dtype=float32)"
    assert repr(tensor([1.0], requires_grad=True)) == "tensor([1.], dtype=float32, requires_grad=True)"
    assert "grad_fn=<mul_scalar backward>" in repr(tensor([1.0], requires_grad=True) * 2)
    assert repr(Tensor(MetaArray((2,)))) == "tensor(MetaArray((2,), float32), dtype=float32)"


NUMPY: list[Callable[[Any], Any]] = [
    lambda a: a + 1, lambda a: 1 + a, lambda a: a - 1.5, lambda a: 1.5 - a, lambda a: a * 2, lambda a: a / 3,
    lambda a: 2 / (a + 1), lambda a: a**2, lambda a: -a, lambda a: a + a,
    lambda a: a - a[0], lambda a: a * a, lambda a: a / (a + 1),
    lambda a: a @ a.T, lambda a: a > 3, lambda a: a <= a[1], lambda a: a == 2,
    lambda a: a != 2, lambda a: a < 1, lambda a: a >= 7,
    lambda a: a[1:], lambda a: a[:, 2], lambda a: a[..., None], lambda a: a[np.array([0, 2])], lambda a: a.T, lambda a: a.sum(),
    lambda a: a.reshape(2, 6), lambda a: a.reshape((4, 3)), lambda a: a.mean(), lambda a: a.max(), lambda a: a[a > 3],
    lambda a: np.ones(4, np.float32) + a, lambda a: np.ones((2, 3), np.float32) @ a,
]  # fmt: skip


@pytest.mark.parametrize("index", range(len(NUMPY)))
def test_operators_agree_with_numpy(index: int) -> None:
    assert same(NUMPY[index](tensor(A)), NUMPY[index](A))


def test_torchs_own_methods() -> None:
    t = tensor(A)
    assert same(t.sum(1, keepdim=True), A.sum(1, keepdims=True))
    assert same(t.mean((0, 1)), A.mean())
    values, indices = t.max(1)
    assert same(values, A.max(1)) and indices.tolist() == [3, 3, 3]
    assert t.argmax().item() == 11
    assert same(t.view(12), A.reshape(12)) and same(t.flatten(), A.reshape(12))
    assert same(t.permute(1, 0), A.T) and same(t.transpose(0, -1), A.T) and same(t.mT, A.T)
    assert t.unsqueeze(1).shape == (3, 1, 4) and t.unsqueeze(-1).squeeze().shape == (3, 4)
    assert t.unsqueeze(0).squeeze(0).shape == (3, 4) and t.squeeze(0).shape == (3, 4)
    assert t.unsqueeze(0).expand(2, -1, -1).shape == (2, 3, 4)
    assert [p.shape for p in t.split(3, dim=1)] == [(3, 3), (3, 1)]
    assert [p.shape for p in t.split([1, 2])] == [(1, 4), (2, 4)]
    assert [p.shape for p in t.chunk(2)] == [(2, 4), (1, 4)]
    assert same(t.masked_fill(t > 5, -1.0), np.where(A > 5, np.float32(-1), A))
    assert same(t.clone(), A) and t.clone().data is not t.data
    assert t.T.contiguous().data.flags.c_contiguous and t.contiguous() is t and t.cpu() is t
    assert (~(t > 3)).data.sum() == 4
    assert same(t.add(1).sub(1).mul(2).div(2), A)
    assert same(t.matmul(t.T), A @ A.T)


def test_softmax_and_functions() -> None:
    t = tensor(A / 10)
    assert t.softmax(1).data.sum(axis=1) == pytest.approx(1)
    assert t.log_softmax(1).data == pytest.approx(np.log(t.softmax(1).data), abs=1e-6)
    for name in ("exp", "tanh", "sqrt"):
        assert same(getattr(t, name)(), getattr(np, name)(A / 10))
    assert same((t + 1).log(), np.log(A / 10 + 1))
    assert same((t - 0.5).relu(), np.maximum(A / 10 - np.float32(0.5), 0))


def test_promotion_is_torchs() -> None:
    whole, single, double = tensor([1, 2]), tensor([1.0, 2.0]), tensor(np.array([1.0, 2.0]))
    assert (whole + single).dtype == (single * whole).dtype == np.float32
    assert (whole * 0.5).dtype == (whole / 2).dtype == (whole / whole).dtype == (1 / whole).dtype == np.float32
    assert (single * np.float64(0.5)).dtype == (single - np.float64(1)).dtype == np.float32
    assert (single + double).dtype == (whole * double).dtype == np.float64
    assert (whole + 1).dtype == (whole * whole).dtype == np.int64
    assert (2**single).tolist() == [2.0, 4.0]


def test_dtypes() -> None:
    t = tensor([1.0], requires_grad=True)
    assert t.double().dtype == np.float64 and t.to("float32") is t and t.long().dtype == np.int64
    t.double().sum().backward()
    assert t.grad is not None and t.grad.dtype == np.float32
    assert tensor([1]).float().dtype == np.float32


def test_item_of_many() -> None:
    with pytest.raises(ShapeError, match=r"one element, got shape \(3, 4\)"):
        tensor(A).item()


def test_numpy_and_array() -> None:
    t = tensor(A, requires_grad=True)
    assert np.asarray(t).shape == (3, 4) and np.array(t, copy=True) is not t.data
    assert np.isnan(np.asarray(Tensor(MetaArray((2,))))).all()
    with pytest.raises(GradientError, match=r"t\.detach\(\)\.numpy\(\)"):
        t.numpy()
    assert t.detach().numpy() is t.data


def test_mean_of_integers() -> None:
    with pytest.raises(TypeError, match=r"t\.float\(\)\.mean\(\)"):
        tensor([1, 2]).mean()


@pytest.mark.parametrize("make", [lambda: tensor([1, 2], requires_grad=True), lambda: tensor([1]).requires_grad_(),
                                  lambda: zeros(2, dtype="int64", requires_grad=True)])  # fmt: skip
def test_a_gradient_of_integers(make: Callable[[], Tensor]) -> None:
    with pytest.raises(GradientError, match="a gradient was asked of a tensor of int64: only floating point"):
        make()


def test_in_place_off_the_tape() -> None:
    t = tensor([1.0, 2.0])
    assert t.add_(1).mul_(2).sub_(1).div_(3) is t and t.tolist() == [1.0, pytest.approx(5 / 3)]
    assert t.fill_(3).tolist() == [3.0, 3.0] and t.zero_().tolist() == [0.0, 0.0]
    assert t.copy_(tensor([4, 5])).tolist() == [4.0, 5.0]
    t[0] = 9
    t[tensor([1])] = tensor([8.0])
    assert t.tolist() == [9.0, 8.0]
    with pytest.raises(ShapeError, match="copy_"):
        t.copy_(tensor([1.0, 2.0, 3.0]))


def test_in_place_on_the_tape() -> None:
    t = tensor([1.0, 2.0], requires_grad=True)
    for name in ("zero_", "add_", "mul_", "div_", "fill_", "copy_"):
        with pytest.raises(GradientError, match="changes a leaf that requires a gradient in place"):
            getattr(t, name)(*([] if name == "zero_" else [1.0]))
    with pytest.raises(GradientError, match="changes a result that gradients flow through"):
        (t * 2).zero_()
    with pytest.raises(GradientError, match="assignment"):
        t[0] = 1
    with no_grad():
        assert t.add_(1).tolist() == [2.0, 3.0]


def test_augmented_assignment_makes_a_new_tensor() -> None:
    t = u = tensor([1.0], requires_grad=True)
    u += 1
    assert u is not t and t.tolist() == [1.0]


def test_split_sizes_must_sum() -> None:
    with pytest.raises(ShapeError, match=r"sizes \[1, 1\] sum to 2, but dimension 0 has size 3"):
        tensor(A).split([1, 1])


def test_detach_shares_and_leaves_the_tape() -> None:
    t = tensor([1.0], requires_grad=True)
    assert t.detach().data is t.data and not t.detach().requires_grad
    with pytest.raises(GradientError, match="use detach"):
        (t * 2).requires_grad_(False)
    assert not t.requires_grad_(False).requires_grad


def test_copies_and_pickles_keep_numbers_and_gradient_and_not_the_tape() -> None:
    t = tensor([2.0], requires_grad=True)
    y = t * 2
    y.backward()
    for again in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert (
            again.tolist() == [2.0]
            and again.requires_grad
            and again.grad.tolist() == [2.0]
            and again.data is not t.data
        )
    assert pickle.loads(pickle.dumps(y)).node is None


def test_as_tensor_shares() -> None:
    t = tensor(A)
    assert as_tensor(t) is t and as_tensor(A).data is A
    assert as_tensor([1.0]).dtype == np.float32


def test_indices_may_be_tensors() -> None:
    t = tensor(A)
    assert same(t[tensor([0, 2])], A[[0, 2]])
    assert same(t[arange(2), tensor([1, 3])], A[[0, 1], [1, 3]])


def test_tensors_are_keys_by_identity() -> None:
    a, b = tensor([1.0]), tensor([1.0])
    assert {a: 1, b: 2}[a] == 1


def test_a_gradient_of_integers_is_refused_however_it_is_asked_for() -> None:
    t = tensor([1, 2])
    with pytest.raises(
        GradientError, match="a gradient was asked of a tensor of int64: only floating point tensors have one"
    ):
        t.requires_grad = True
    assert not t.requires_grad
    t = tensor([1.0])
    t.requires_grad = True
    y = t * 2
    assert y.requires_grad
    with pytest.raises(GradientError, match="only a leaf can stop requiring a gradient"):
        y.requires_grad = False
    t.requires_grad = False
    assert not (t * 2).requires_grad


def test_the_truth_of_several_elements() -> None:
    for t, size in ((tensor([0, 1]), 2), (tensor(np.zeros(0)), 0)):
        with pytest.raises(
            ShapeError, match=rf"it has {size} elements: is one true \(\.any\(\)\) or are all \(\.all\(\)\)"
        ):
            bool(t)
    t = tensor([[0, 1], [1, 1]])
    assert t.any() and not t.all() and t.all(dim=1).tolist() == [False, True] and t.any(dim=0).tolist() == [True, True]
    assert (t == t).all() and Tensor(MetaArray((2, 3))).all(dim=1).shape == (2,)
