import numpy as np
import pytest

import simdist as sd
from simdist.distributed.buffer import array_of, flatten, writeable
from simdist.errors import GradientError
from simdist.tensor import MetaArray


def test_contiguous_arrays_are_used_in_place():
    x = np.arange(6.0).reshape(2, 3)
    flat, shared = flatten(x, copy=False)
    assert shared
    assert np.shares_memory(flat, x)
    flat, shared = flatten(x, copy=True)
    assert not shared
    assert not np.shares_memory(flat, x)


def test_views_are_copied_in_row_major_order():
    x = np.arange(6.0).reshape(2, 3).T
    flat, shared = flatten(x, copy=False)
    assert not shared
    assert flat.tolist() == [0, 3, 1, 4, 2, 5]


def test_scalars_and_shapes():
    assert flatten(np.array(3.0), copy=False)[0].shape == (1,)
    flat, shared = flatten(MetaArray((2, 3), np.dtype("float32")), copy=True)
    assert shared
    assert flat.shape == (6,)


def test_what_is_taken():
    tensor = sd.ones(3)
    assert array_of(tensor, "x") is tensor.data
    leaf = sd.ones(3, requires_grad=True)
    assert writeable(leaf, "x") is leaf.data
    with pytest.raises(GradientError, match=r"x is a result that gradients flow through.*detach"):
        writeable(leaf * 2, "x")
    with pytest.raises(TypeError, match="x must be a numpy array or a simdist Tensor, got float"):
        array_of(3.0, "x")
    with pytest.raises(TypeError, match="dtype object"):
        array_of(np.array([None]), "x")
