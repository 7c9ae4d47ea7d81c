from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from simdist.backends.process.mismatch import Side
from simdist.backends.process.sink import Folding, Landing
from simdist.backends.process.work import Label, Work, raw_bytes


def _work(buf: Any, sends: bool = False, label: Label = "", combine: Any = None) -> Work:
    return Work(cast(Any, None), 0, 1, sends, buf, (0, 0, 5), b"n", label, combine)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", "u2", "c16", "?", "M8[s]", [("a", "i4"), ("b", "f8")]])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3)])
def test_every_dtype_and_shape_is_bytes(dtype: Any, shape: tuple[int, ...]) -> None:
    array = np.zeros(shape, dtype=dtype)
    view = raw_bytes(array, writeable=True)
    assert view is not None
    assert len(view) == array.nbytes
    if array.nbytes:
        view[:] = bytes([1]) * array.nbytes
        assert array.tobytes() == bytes([1]) * array.nbytes


def test_bytes_and_shapes() -> None:
    assert bytes(raw_bytes(b"abc", writeable=False) or b"") == b"abc"
    assert raw_bytes(b"", writeable=False) == b""
    assert raw_bytes(SimpleNamespace(nbytes=12, shape=(3,), dtype="float32"), writeable=True) is None


@pytest.mark.parametrize(
    ("buf", "error", "text"),
    [
        (np.zeros((4, 4))[:, 1], ValueError, r"needs contiguous memory, this array \(4,\) has strides"),
        (np.array([None]), TypeError, "array of Python objects"),
        (np.broadcast_to(np.zeros(1), (1,)), ValueError, r"read-only array \(1,\) float64"),
        (b"abc", ValueError, "read-only bytes"),
        ("text", TypeError, "an array, bytes, or an object with nbytes; got str"),
        (3, TypeError, "got int"),
    ],
)
def test_what_cannot_be_a_buffer_is_refused(buf: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        raw_bytes(buf, writeable=True)


def test_descriptions() -> None:
    assert (
        _work(np.zeros((4, 8), dtype=np.float32)).describe() == "receive of (4, 8) float32 from rank 1, tag (0, 0, 5)"
    )
    assert _work(b"1234", sends=True).describe() == "send of 4 bytes to rank 1, tag (0, 0, 5)"
    assert _work(np.zeros(2), label="barrier 3").describe().startswith("barrier 3: receive of (2,)")


def test_a_label_is_made_only_when_asked_for() -> None:
    asked: list[int] = []

    def label() -> str:
        asked.append(1)
        return "all_reduce 7"

    work = _work(np.zeros(1), label=label)
    assert asked == []
    assert work.describe().startswith("all_reduce 7: ")
    assert asked == [1]


def test_the_side_tells_size_and_kind() -> None:
    assert _work(np.zeros(3)).side() == Side(0, 24, False, b"n")
    assert _work(SimpleNamespace(nbytes=np.int64(12))).side() == Side(0, 12, True, b"n")


def test_sinks() -> None:
    assert isinstance(_work(np.zeros(3)).sink(), Landing)
    assert isinstance(_work(np.zeros(3), combine=np.add).sink(), Folding)


def test_taking_bytes_that_came_early() -> None:
    target = np.array([[1.0], [2.0]])
    _work(target).take(np.array([5.0, 6.0]).view(np.uint8))
    assert target.tolist() == [[5.0], [6.0]]
    _work(target, combine=np.subtract).take(np.array([1.0, 1.0]).view(np.uint8))
    assert target.tolist() == [[4.0], [5.0]]
    empty = np.zeros(0)
    _work(empty, combine=np.add).take(np.zeros(0, dtype=np.uint8))
