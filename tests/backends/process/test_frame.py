from __future__ import annotations

import pytest

from simdist.backends.process.frame import FREE, HEADER, META, Frame, Kind, parse, payload_length


def _parse(data: bytes) -> object:
    return parse(memoryview(data), 0, len(data))


@pytest.mark.parametrize(
    "frame",
    [
        Frame(Kind.BYE, 0),
        Frame(Kind.EAGER, 7, (1, 0, 5), 12, FREE, b"a note"),
        Frame(Kind.RTS, 2**60, (2**40, 1, -3), 2**40, 0, b""),
        Frame(Kind.NACK, 1, (0, 0, 0), 0, META, b"x" * 2048),
    ],
)
def test_a_frame_reads_back(frame: Frame) -> None:
    data = frame.pack()
    assert _parse(data) == (frame, len(data))


def test_an_incomplete_header_or_note_is_not_a_frame_yet() -> None:
    data = Frame(Kind.ACK, 3, note=b"abc").pack()
    assert all(_parse(data[:cut]) is None for cut in range(len(data)))


def test_frames_follow_each_other() -> None:
    first, second = Frame(Kind.ACK, 1, note=b"n"), Frame(Kind.CTS, 2)
    data = memoryview(b"??" + first.pack() + second.pack())
    parsed = parse(data, 2, len(data))
    assert parsed is not None
    assert parsed[0] == first
    assert parse(data, parsed[1], len(data)) == (second, len(data))


def test_only_eager_and_data_frames_carry_bytes() -> None:
    lengths = {kind: payload_length(Frame(kind, 1, nbytes=10)) for kind in Kind}
    assert {kind for kind, length in lengths.items() if length} == {Kind.EAGER, Kind.DATA}
    assert payload_length(Frame(Kind.EAGER, 1, nbytes=10, flags=META)) == 0


def test_the_header_has_a_fixed_size() -> None:
    assert HEADER.size == 44
