"""How do frames and payloads get through MPI?

A frame (with its payload, if that is small) is one message on the communicator for frames; a large payload is one message on
the communicator for data, straight from the sender's array into the receiver's. Both sides know its size from the frames before,
and MPI keeps the order between two ranks, so neither needs a tag. Everything is ``Isend``, ``Irecv`` and a matched probe; MPI is
called under the endpoint's mutex only, by one thread at a time.

Nothing in MPI wakes a sleeper: whoever waits looks again and again, and sleeps longer and longer in between, so that ranks that
share a core leave it to each other.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simdist.backends.process.frame import Frame, parse, payload_length
from simdist.backends.process.link import Lane, OnFrame, OnPayload, Sent
from simdist.backends.process.sink import Landing, Sink

__all__ = ["MpiLane", "MpiWires"]

_LOOKS = 20  # looks with nothing but a yield in between
_SHORTEST, _LONGEST = 20e-6, 1e-3  # seconds of sleep between two looks after that


class MpiLane:
    """The way to one peer.

    Args:
        peer: its rank.
        wires: what carries it.
    """

    def __init__(self, peer: int, wires: MpiWires) -> None:
        self.peer = peer
        self._wires = wires
        self._waiting: deque[bytearray] = deque()  # frames that came while a payload was under way
        self._coming: tuple[Frame, Sink, Any, Any] | None = None  # frame, sink, scratch, MPI request

    def send(self, parts: Sequence[Any], *, stable: bool, sent: Sent | None = None) -> None:
        """Give ``parts`` to MPI: one message; a payload with its own end (``sent``) is a message of its own."""
        if sent is None:
            self._wires.post(b"".join(parts), self.peer, None, payload=False)
            return
        head, payload = parts
        self._wires.post(bytes(head), self.peer, None, payload=False)
        self._wires.post(payload, self.peer, sent, payload=True)

    def take(self, raw: bytearray) -> None:
        """A frame has come: now, or after the payload before it."""
        if self._coming is not None:
            self._waiting.append(raw)
        else:
            self._open(raw)

    def look(self) -> bool:
        """Whether the payload under way has arrived; then what waited behind it is opened too."""
        if self._coming is None or not self._coming[3].Test():
            return False
        frame, sink, scratch, _ = self._coming
        self._coming = None
        self._wires.arrived(self.peer)
        if scratch is None:
            sink.took(frame.nbytes)
        else:
            _pour(scratch.data, sink)
        self._wires.on_payload(self, frame, sink)
        while self._waiting and self._coming is None:
            self._open(self._waiting.popleft())
        return True

    @property
    def busy(self) -> bool:
        """Whether a payload is under way."""
        return self._coming is not None

    def _open(self, raw: bytearray) -> None:
        parsed = parse(memoryview(raw), 0, len(raw))
        assert parsed is not None, "a frame arrives whole"
        frame, start = parsed
        sink = self._wires.on_frame(self, frame)
        if not payload_length(frame):
            return
        assert sink is not None, f"no place for the payload of {frame}"
        if start < len(raw):
            _pour(memoryview(raw)[start:], sink)
            self._wires.on_payload(self, frame, sink)
            return
        # Straight into the array; what is folded comes into a scratch array of the message's size first.
        scratch = None if isinstance(sink, Landing) else np.empty(frame.nbytes, np.uint8)
        request = self._wires.receive(sink.want() if scratch is None else scratch, self.peer)
        self._coming = frame, sink, scratch, request


def _pour(data: memoryview, sink: Sink) -> None:
    """Everything in ``data`` into the sink."""
    position, full = 0, False
    while not full:
        place = sink.want()
        count = min(len(place), len(data) - position)
        place[:count] = data[position : position + count]
        position, full = position + count, sink.took(count)


class MpiWires:
    """All lanes of one rank.

    Args:
        mpi: the module ``mpi4py.MPI``.
        frames: communicator of the frames.
        data: communicator of large payloads.
    """

    on_frame: OnFrame
    on_payload: OnPayload

    def __init__(self, mpi: Any, frames: Any, data: Any) -> None:
        self._mpi, self._frames, self._data = mpi, frames, data
        self._lanes: dict[int, MpiLane] = {}
        self._outgoing: list[tuple[Any, Any, Sent | None]] = []  # request, what it sends (kept alive), what to call
        self._sent = [0] * frames.size
        self._received = [0] * frames.size
        self._status = mpi.Status()
        self._kicked = False

    def connect(self, on_frame: OnFrame, on_payload: OnPayload) -> Mapping[int, Lane]:
        """A lane to every other rank."""
        self.on_frame, self.on_payload = on_frame, on_payload
        self._lanes = {peer: MpiLane(peer, self) for peer in range(self._frames.size) if peer != self._frames.rank}
        return self._lanes

    def post(self, buffer: Any, peer: int, sent: Sent | None, *, payload: bool) -> None:
        """Start to send one message (under the mutex)."""
        carrier = self._data if payload else self._frames
        self._sent[peer] += 1
        self._outgoing.append((carrier.Isend([buffer, self._mpi.BYTE], peer), buffer, sent))

    def receive(self, place: Any, peer: int) -> Any:
        """Start to receive a payload (under the mutex); returns MPI's request."""
        return self._data.Irecv([place, self._mpi.BYTE], peer)

    def arrived(self, peer: int) -> None:
        """One more message of that peer is here."""
        self._received[peer] += 1

    @property
    def traffic(self) -> tuple[list[int], list[int]]:
        """How many messages were sent to each rank, and how many have come from each."""
        return list(self._sent), list(self._received)

    def watch(self, lane: Lane) -> bool:
        """MPI has what is to be sent: nobody has to look anew."""
        return False

    @property
    def quiet(self) -> bool:
        """Whether nothing that this rank has sent or is receiving is still under way."""
        return not self._outgoing and not any(lane.busy for lane in self._lanes.values())

    def serve(self, timeout: float | None, mutex: threading.RLock) -> None:
        """Look until something has moved, or ``timeout`` seconds have passed."""
        deadline = None if timeout is None else time.perf_counter() + timeout
        looks, pause = 0, _SHORTEST
        while True:
            with mutex:
                if self._move() or self._kicked:
                    self._kicked = False
                    return
            left = _LONGEST if deadline is None else deadline - time.perf_counter()
            if left <= 0:
                return
            looks += 1
            if looks < _LOOKS:
                time.sleep(0)
            else:
                time.sleep(min(pause, left))
                pause = min(2 * pause, _LONGEST)

    def _move(self) -> bool:
        """Move everything that can be moved now; whether anything did."""
        moved = False
        while self._frames.Iprobe(self._mpi.ANY_SOURCE, 0, self._status):
            moved = True
            raw = bytearray(self._status.Get_count(self._mpi.BYTE))
            peer = self._status.Get_source()
            self._frames.Recv([raw, self._mpi.BYTE], peer)
            self.arrived(peer)
            self._lanes[peer].take(raw)
        for lane in self._lanes.values():
            moved = (lane.busy and lane.look()) or moved
        if self._outgoing:
            moved = self._settle() or moved
        return moved

    def _settle(self) -> bool:
        """Forget what has been sent, and tell whoever asked."""
        pending, self._outgoing = self._outgoing, []
        done: list[tuple[Any, Any, Sent | None]] = []
        for entry in pending:
            (done if entry[0].Test() else self._outgoing).append(entry)
        for _, _, sent in done:  # may send something more
            if sent is not None:
                sent()
        return any(sent is not None for _, _, sent in done)

    def kick(self) -> None:
        """End the sleep at the next look."""
        self._kicked = True

    def close(self) -> None:
        """Nothing is kept open: the communicators serve the next run."""
        self._lanes = {}
