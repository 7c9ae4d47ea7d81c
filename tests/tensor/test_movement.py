"""Views share memory, copies do not; indexing twice adds twice."""

from __future__ import annotations

import numpy as np
import pytest

from simdist.tensor import cat, stack, tensor
from simdist.tensor.movement import is_basic_index


def test_views_share_memory() -> None:
    t = tensor(np.arange(12.0))
    for view in (t.reshape(3, 4), t[2:5], t.reshape(3, 4).T, t.reshape(3, 4)[1], t.reshape(2, 6).split(3, 1)[1]):
        assert np.shares_memory(view.data, t.data)
    assert not np.shares_memory(t[np.array([1, 2])].data, t.data)
    assert not np.shares_memory(cat([t, t]).data, t.data)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (1, True),
        (slice(2), True),
        ((0, None, ...), True),
        (np.int64(3), True),
        ([0, 1], False),
        (np.array([True]), False),
    ],
)
def test_what_is_a_view(key: object, expected: bool) -> None:
    assert is_basic_index(key) == expected


def test_an_element_taken_twice_gets_both_gradients() -> None:
    t = tensor([1.0, 2.0, 3.0], requires_grad=True)
    (t[np.array([0, 2, 2])] * tensor([1.0, 10.0, 100.0])).sum().backward()
    assert t.grad is not None and t.grad.tolist() == [1.0, 0.0, 110.0]


def test_parts_put_together_again() -> None:
    t = tensor(np.arange(12.0).reshape(3, 4), requires_grad=True)
    again = cat(t.split([1, 3], dim=1), dim=1)
    assert np.array_equal(again.detach().data, t.data)
    (again * again).sum().backward()
    assert t.grad is not None and np.array_equal(t.grad.data, 2 * t.data)


def test_stack_makes_a_dimension() -> None:
    a, b = tensor([1.0, 2.0]), tensor([3.0, 4.0])
    assert stack([a, b]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert stack([a, b], dim=-1).tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_cat_of_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="cat"):
        cat([tensor([[1.0, 2.0]]), tensor([[1.0]])])
