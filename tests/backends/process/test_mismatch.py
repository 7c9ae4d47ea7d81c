from __future__ import annotations

import pickle

from simdist.backends.process.mismatch import MessageMismatchError, Side, refusal, told
from simdist.comm.envelope import Envelope
from simdist.errors import CollectiveMismatchError

TAG = (0, 1, 7)


def test_equal_sides_fit() -> None:
    assert refusal(Side(0, 8, False, b"x"), Side(1, 8, False, b"x"), TAG, at_sender=True) is None


def test_an_empty_note_fits_every_note() -> None:
    assert refusal(Side(0, 8, False, b""), Side(1, 8, False, b"x"), TAG, at_sender=True) is None


def test_different_notes() -> None:
    sides = Side(0, 8, False, b"all_reduce (2,)"), Side(3, 4, False, b"all_gather (1,)")
    at_sender = refusal(*sides, TAG, at_sender=True)
    at_receiver = refusal(*sides, TAG, at_sender=False)
    assert at_sender is not None
    assert at_receiver is not None
    assert (
        str(at_sender)
        == str(at_receiver)
        == (
            "rank 0 is at all_reduce (2,), but rank 3 is at all_gather (1,). Every rank must make the same calls in the "
            "same order. The message was matched by its tag (0, 1, 7)."
        )
    )
    assert (at_sender.mine, at_sender.theirs) == (b"all_reduce (2,)", b"all_gather (1,)")
    assert (at_receiver.mine, at_receiver.theirs) == (b"all_gather (1,)", b"all_reduce (2,)")
    assert isinstance(at_sender, CollectiveMismatchError)


def test_the_second_line_of_a_note_is_told_and_not_compared() -> None:
    one, other = Side(0, 8, False, b"barrier\ntrain.py:3"), Side(1, 8, False, b"barrier\ntrain.py:9")
    assert refusal(one, other, TAG, at_sender=True) is None
    error = refusal(one, other._replace(note=b"reduce\ntrain.py:9"), TAG, at_sender=True)
    assert "rank 0 is at barrier (train.py:3), but rank 1 is at reduce (train.py:9). Every rank" in str(error)


def test_different_sizes() -> None:
    error = refusal(Side(2, 64, False, b""), Side(1, 32, False, b""), TAG, at_sender=False)
    assert str(error) == (
        "rank 2 sends 64 bytes to rank 1, but rank 1 receives into a buffer of 32 bytes: shape and dtype must be equal "
        "on both sides. The message was matched by its tag (0, 1, 7)."
    )


def test_envelopes_are_compared_by_dtype_and_size() -> None:
    sent = Side(0, 16, False, Envelope((4,), "float32", "t.py:3").pack())
    assert refusal(sent, Side(1, 16, False, Envelope((2, 2), "float32", "t.py:5").pack()), TAG, at_sender=True) is None
    wanted = Side(1, 16, False, Envelope((4,), "int32", "t.py:5").pack())
    error = refusal(sent, wanted, (0, 0, 7), at_sender=True)
    assert str(error) == (
        "rank 0 sends (4,) float32 to rank 1 with tag 7 (t.py:3), but rank 1 receives into (4,) int32 (t.py:5): the dtype "
        "must be equal on both sides. Receive into an array of (4,) float32, or convert before sending."
    )
    assert told(wanted.note) == "recv of (4,) int32 (t.py:5)"


def test_data_meets_a_shape() -> None:
    for sender, hollow, solid in ((True, 0, 1), (False, 1, 0)):
        error = refusal(Side(0, 8, sender, b""), Side(1, 8, not sender, b""), TAG, at_sender=True)
        assert f"rank {hollow} has a shape without data (device='meta') and rank {solid} has data" in str(error)


def test_the_notes_travel_with_the_error() -> None:
    error = refusal(Side(0, 8, False, b"a"), Side(1, 8, False, b"b"), TAG, at_sender=True)
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, MessageMismatchError)
    assert (copy.mine, copy.theirs, str(copy)) == (b"a", b"b", str(error))
