"""Broadcasting, its inverse, and the texts for shapes that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from simdist.errors import ShapeError
from simdist.tensor import shape, zeros


@given(mutually_broadcastable_shapes(num_shapes=3, max_dims=4, max_side=4))
def test_broadcast_is_numpys(shapes: object) -> None:
    assert shape.broadcast(*shapes.input_shapes) == np.broadcast_shapes(*shapes.input_shapes)  # type: ignore[attr-defined]


@given(mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3))
def test_unbroadcast_counts_repetitions(shapes: object) -> None:
    small, _ = shapes.input_shapes  # type: ignore[attr-defined]
    full = shapes.result_shape  # type: ignore[attr-defined]
    summed = np.asarray(shape.unbroadcast(np.ones(full), small))
    assert summed.shape == small
    assert summed.sum() == np.prod(full)


def test_the_lesson_names_shapes_dimension_and_remedy() -> None:
    with pytest.raises(ShapeError) as caught:
        zeros(4, 5) + zeros(4)
    text = str(caught.value)
    for part in ("add", "(4, 5)", "(4,)", "dimension -1 is 5 on the left and 4 on the right", "unsqueeze"):
        assert part in text


def test_shape_errors_are_runtime_and_value_errors() -> None:
    for kind in (RuntimeError, ValueError):
        with pytest.raises(kind):
            zeros(3) * zeros(2)


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        ((3, 4), (3, 4), "last dimension of the left side is 4"),
        ((), (3,), "at least one dimension on both sides"),
        ((2, 3, 4), (3, 4, 5), "batch dimensions"),
    ],
)
def test_matrix_products_that_are_not_defined(a: tuple[int, ...], b: tuple[int, ...], text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        zeros(a) @ zeros(b)


def test_a_dimension_that_is_not_there() -> None:
    with pytest.raises(ShapeError, match="there is no dimension 2 in a tensor of 2 dimensions: give -2 to 1"):
        zeros(3, 4).sum(2)
    with pytest.raises(ShapeError, match="name one dimension twice"):
        zeros(3, 4).sum((0, -2))
    assert shape.normalize_axes(None, 3) == (0, 1, 2)
    assert shape.normalize_axes(-1, 3) == (2,)
    assert shape.normalize_axes(0, 0) == ()


def test_a_reshape_that_loses_elements() -> None:
    with pytest.raises(ShapeError, match=r"shape \(3, 4\) has 12 elements and cannot get the shape \(5, 2\)"):
        zeros(3, 4).reshape(5, 2)
    for new in ((-1, -1), (5, -1), (0, -1)):
        with pytest.raises(ShapeError):
            zeros(3, 4).reshape(*new)
    assert shape.reshaped(12, (3, 4), (2, -1)) == (2, 6)
