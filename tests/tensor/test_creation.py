"""Which dtype a Python value becomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simdist.tensor import MetaArray
from simdist.tensor.creation import array_from, empty_array


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(1.5, "float32"), ([1.0, 2], "float32"), (1, "int64"), ([True], "bool"), (np.ones(2), "float64"), (np.float64(1), "float64"),
     (np.ones(2, np.float16), "float16")],
)  # fmt: skip
def test_dtypes(value: Any, dtype: str) -> None:
    assert array_from(value).dtype == np.dtype(dtype)


def test_arrays_are_shared() -> None:
    a = np.ones(3)
    assert array_from(a) is a
    assert array_from(a, np.float32).dtype == np.float32
    m = MetaArray((2,))
    assert array_from(m) is m and array_from(m, np.float64).dtype == np.float64


def test_without_data() -> None:
    assert isinstance(array_from([1.0], device="meta"), MetaArray)
    assert isinstance(array_from([1], device="meta"), np.ndarray)
    assert isinstance(empty_array((2, 3), device="meta"), MetaArray)
    assert empty_array((2,), np.int64, fill=7).tolist() == [7, 7]


def test_what_is_no_number() -> None:
    for value in ("abc", [object()], None):
        with pytest.raises(TypeError, match="a tensor holds numbers, got"):
            array_from(value)
