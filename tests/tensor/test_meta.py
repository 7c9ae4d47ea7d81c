"""Arrays without data: numpy decides what shapes and dtypes must be."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simdist.errors import ShapeError, SimdistError
from simdist.tensor import MetaArray
from simdist.tensor.meta import boxed


def shadow(a: Any) -> Any:
    return MetaArray(a.shape, a.dtype) if isinstance(a, np.ndarray) else a


F = np.ones((3, 4), np.float32)
I = np.ones((3, 4), np.int64)
B = np.ones((3, 4), np.bool_)
CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda a: a + 1, (F,)), (lambda a: 1.5 - a, (F,)), (lambda a: a * 2.5, (I,)), (lambda a: a / 2, (I,)),
    (lambda a, b: a + b, (F, I)), (lambda a, b: a @ b, (F, F.T)), (lambda a, b: a > b, (F, I)), (lambda a: ~a, (B,)),
    (lambda a: a**2, (F,)), (lambda a: -a, (F,)), (lambda a: np.exp(a), (F,)), (lambda a: np.abs(a), (F,)),
    (lambda a: a.sum(), (F,)), (lambda a: a.sum(axis=0, keepdims=True), (F,)), (lambda a: a.sum(axis=(0, 1)), (B,)),
    (lambda a: np.add.reduce(a, axis=0), (F,)), (lambda a: np.maximum.reduce(a, axis=1, keepdims=True), (F,)),
    (lambda a: a.mean(axis=1), (F,)), (lambda a: a.mean(), (I,)), (lambda a: a.max(axis=-1), (F,)), (lambda a: a.min(), (F,)),
    (lambda a: a.argmax(axis=1), (F,)), (lambda a: a.all(), (B,)), (lambda a: a.any(axis=0), (B,)),
    (lambda a: a.reshape(2, -1), (F,)), (lambda a: a.reshape((12,)), (F,)), (lambda a: a.T, (F,)), (lambda a: a.ravel(), (F,)),
    (lambda a: a.transpose(1, 0), (F,)), (lambda a: a.transpose((1, 0)), (F,)), (lambda a: a.swapaxes(-1, -2), (F,)),
    (lambda a: a.astype(np.float64), (F,)), (lambda a: a.copy(), (F,)), (lambda a: a[1:], (F,)), (lambda a: a[1], (F,)),
    (lambda a: a[..., None, ::2], (F,)), (lambda a: a[np.array([0, 2, 2])], (F,)), (lambda a: a[:, 1:3], (F,)),
    (lambda a: a.reshape(-1)[2:7], (F,)), (lambda a: a.reshape(3, 1, 4).squeeze(), (F,)), (lambda a: a.squeeze(), (F[:1],)),
    (lambda a: np.empty_like(a), (F,)), (lambda a: np.zeros_like(a, dtype=np.int64), (F,)), (lambda a: np.full_like(a, 3), (F,)),
    (lambda a, b: np.concatenate([a, b], axis=1), (F, F)), (lambda a, b: np.stack([a, b], axis=-1), (F, F)),
    (lambda a, b: np.where(a > 0, a, b), (F, F)), (lambda a: np.expand_dims(a, 1), (F,)), (lambda a: np.ravel(a), (F,)),
    (lambda a: np.broadcast_to(a, (2, 3, 4)), (F,)), (lambda a: np.transpose(a), (F,)), (lambda a: np.sum(a, axis=0), (F,)),
    (lambda a: np.mean(a), (F,)), (lambda a: np.max(a, axis=1), (F,)), (lambda a: np.argmax(a, axis=0), (F,)),
    (lambda a: np.reshape(a, (4, 3)), (F,)), (lambda a: np.swapaxes(a, 0, 1), (F,)), (lambda a: np.copy(a), (F,)),
    (lambda a: np.matmul(a, np.ones((2, 4, 5), np.float32)), (F,)), (lambda a: np.matmul(a, np.ones(4, np.float32)), (F,)),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(CASES)))
def test_shapes_and_dtypes_are_numpys(case: int) -> None:
    fn, arguments = CASES[case]
    real, meta = boxed(fn(*arguments)), fn(*[shadow(a) for a in arguments])
    assert isinstance(meta, MetaArray)
    assert (meta.shape, meta.dtype) == (real.shape, real.dtype)
    assert (meta.ndim, meta.size, meta.nbytes, meta.itemsize) == (real.ndim, real.size, real.nbytes, real.itemsize)


def test_a_real_operand_may_take_part() -> None:
    assert (MetaArray((3, 1)) + np.ones((2, 3, 4), np.float32)).shape == (2, 3, 4)
    assert (np.ones((3, 4)) @ MetaArray((4, 2))).dtype == np.float64


def test_in_place_operators_keep_the_object() -> None:
    a = b = MetaArray((3, 4))
    a += 1
    a *= MetaArray((4,))
    a /= 2
    assert a is b
    assert np.add(a, 1, out=a) is a
    with pytest.raises(ShapeError, match=r"out= of \(3,\)"):
        np.add(MetaArray((3, 4)), 1, out=MetaArray((3,)))


def test_assignment_checks_shapes_only() -> None:
    a = MetaArray((3, 4))
    a[...] = 0
    a[1:] = np.ones((2, 4))
    a[0] = MetaArray((4,))
    a.fill(3)
    with pytest.raises(ShapeError):
        a[1:] = np.ones((3, 4))


def test_copyto_and_at_do_nothing() -> None:
    real = np.zeros(3)
    np.copyto(real, MetaArray((3,), np.float64))
    np.copyto(MetaArray((3,)), real)
    np.add.at(MetaArray((3,)), np.array([0]), 1.0)
    assert real.tolist() == [0, 0, 0]


def test_there_are_no_numbers_in_it() -> None:
    assert math.isnan(MetaArray(()).item())
    assert math.isnan(float(MetaArray(())))
    with pytest.raises(
        SimdistError, match=r"a list of the elements of a meta array \(2, 1\) float32 was asked for, but it has"
    ):
        MetaArray((2, 1)).tolist()
    with pytest.raises(ShapeError, match=r"item\(\) needs an array of one element, got a meta array of shape \(2, 1\)"):
        MetaArray((2, 1)).item()
    assert repr(MetaArray((2, 3))) == "MetaArray((2, 3), float32)"
    with pytest.raises(TypeError, match="no length"):
        len(MetaArray(()))
    assert len(MetaArray((5, 2))) == 5


def test_branching_on_it_is_refused() -> None:
    with pytest.raises(SimdistError, match="cannot branch on numbers with device='meta'"):
        bool(MetaArray((3,)) > 0)


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"shapes \(3,\) and \(4,\) do not fit"):
        MetaArray((3,)) + MetaArray((4,))
    with pytest.raises(ShapeError, match="last dimension of the left side is 4"):
        MetaArray((3, 4)) @ MetaArray((3, 4))
    with pytest.raises(ShapeError, match="12 elements"):
        MetaArray((3, 4)).reshape(5, -1)


def test_an_unknown_function_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"numpy\.fliplr has no rule"):
        np.fliplr(MetaArray((3, 4)))
    with pytest.raises(TypeError):
        np.add.accumulate(MetaArray((3,)))


def test_it_can_be_sent_and_used_as_a_key() -> None:
    a = MetaArray((2, 3), np.int64)
    b = pickle.loads(pickle.dumps(a))
    assert (b.shape, b.dtype, b.size) == ((2, 3), np.int64, 6)
    assert {a: 1}[a] == 1


def test_boxed_wraps_numpy_scalars_only() -> None:
    assert boxed(np.float32(1)).shape == ()
    a = MetaArray(())
    assert boxed(a) is a
