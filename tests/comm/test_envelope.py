import numpy as np
import pytest

from simdist.comm.envelope import Envelope, crossed, misfit
from simdist.place import caller

TAG = (1, 0, 7)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0,)])
def test_it_survives_the_wire(shape):
    sent = Envelope(shape, np.dtype(np.float32), "t.py:3")
    assert Envelope.unpack(sent.pack()) == (shape, "float32", "t.py:3")


@pytest.mark.parametrize("note", [b"", b"barrier", b"collective 0\nx\ny", b"message of float32\n3"])
def test_other_notes_are_none(note):
    assert Envelope.unpack(note) is None


def test_a_place_is_told():
    here = caller()
    assert Envelope((1,), "int8", here).place.startswith("test_envelope.py:")
    assert Envelope((1,), "int8", None).place == "an unknown place"


def test_shapes_are_free_as_long_as_the_size_is_equal():
    sent = Envelope((4,), np.dtype("float32"), None)
    assert misfit(TAG, 0, sent, 1, sent) is None
    assert misfit(TAG, 0, sent, 1, sent._replace(shape=(2, 2))) is None


def test_dtype_and_size_must_be_equal():
    sent = Envelope((4,), np.dtype("float32"), "t.py:3")
    assert misfit(TAG, 0, sent, 1, Envelope((4,), np.dtype("int32"), "t.py:5")) == (
        "rank 0 sends (4,) float32 to rank 1 with tag 7 in group 1 (t.py:3), but rank 1 receives into (4,) int32 (t.py:5): "
        "the dtype must be equal on both sides. Receive into an array of (4,) float32, or convert before sending."
    )
    assert misfit(TAG, 0, sent, 1, sent._replace(shape=(2, 3), where="t.py:5")) == (
        "rank 0 sends (4,) float32 to rank 1 with tag 7 in group 1 (t.py:3), but rank 1 receives into (2, 3) float32 "
        "(t.py:5): the number of elements must be equal on both sides. Receive into an array of (4,) float32."
    )


def test_crossed_tags():
    one, other = Envelope((1,), "int8", "t.py:3"), Envelope((1,), "int8", "t.py:5")
    assert crossed(0, 1, (0, 0, 3), one, (2, 0, 4), other) == (
        "rank 0 sends to rank 1 with tag 3 (t.py:3), but rank 1 receives from rank 0 with tag 4 in group 2 (t.py:5): a message "
        "is taken only by a receive with its own tag and group."
    )
