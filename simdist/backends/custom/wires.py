"""How do frames and payloads get through a transport of bytes?

Each message of the endpoint becomes up to three of the transport: a header of fixed size (with a running number, so that one that
is lost or overtaken is seen at once), a note if there is one, and the payload, which has the tag of the user's message. For
each peer one thread sends and one receives; whoever waits (``progress``) is handed what has arrived, and acts on it.

A small payload comes into a place of its own; a large one comes when its receive is posted, straight into the array.
"""

from __future__ import annotations

import queue
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from simdist.backends.process.frame import HEADER, NOTE_LIMIT, Frame, Kind, parse, payload_length
from simdist.backends.process.link import Lane, OnFrame, OnPayload, Sent
from simdist.backends.process.sink import Landing, Sink
from simdist.comm.transport import Tag
from simdist.errors import DistBackendError

from .byte_transport import CONTROL, ByteTransport

__all__ = ["ByteWires"]

_NUMBER = struct.Struct("<q")
_HEAD = _NUMBER.size + HEADER.size
_LOOK = 0.5  # seconds of one wait in the transport; then a look whether the run is over
_GOODBYE = bytes(HEADER.size)  # a header of no kind: nothing more will come

_Outgoing = tuple[bytes, Any, Sent | None]  # header and note, payload or None, what to call when it has gone


class _ClosedError(Exception):
    """The run is over."""


class _ByteLane:
    """The way to one peer, and the two threads that serve it."""

    def __init__(self, peer: int, wires: ByteWires) -> None:
        self.peer = peer
        self._wires = wires
        self._outgoing: queue.SimpleQueue[_Outgoing] = queue.SimpleQueue()
        self._places: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.threads = [
            threading.Thread(target=self._guarded, args=(job,), name=f"simdist-{what}-{peer}", daemon=True)
            for what, job in (("send", self._send_all), ("receive", self._receive_all))
        ]

    def send(self, parts: Sequence[Any], *, stable: bool, sent: Sent | None = None) -> None:
        """Send ``parts`` (header with note, perhaps a payload); returns at once."""
        payload = parts[1] if len(parts) > 1 else None
        if payload is not None and not stable:
            payload = bytes(payload)
        self._outgoing.put((bytes(parts[0]), payload, sent))

    def goodbye(self) -> None:
        """Nothing more will be sent."""
        self._outgoing.put((_GOODBYE, None, None))

    def _guarded(self, job: Callable[[], None]) -> None:
        try:
            job()
        except _ClosedError:
            return
        except Exception as error:
            self._wires.fail(self.peer, error)

    # ---- the sending thread ------------------------------------------------------------------------------------------

    def _send_all(self) -> None:
        number = 0
        while True:
            head, payload, sent = self._outgoing.get()
            self._send(_NUMBER.pack(number) + head[: HEADER.size], CONTROL)
            number += 1
            if head == _GOODBYE:
                return
            frame, _ = parse(memoryview(head), 0, len(head)) or (Frame(0, 0), 0)
            if frame.note:
                self._send(frame.note, CONTROL)
            if payload is not None:
                self._send(payload, frame.tag)
            if sent is not None:
                self._wires.happened(self.peer, sent)

    def _send(self, data: Any, tag: Tag) -> None:
        buf = np.frombuffer(data, np.uint8)
        self._wires.finish(self._wires.transport.isend(buf, self.peer, tag))

    # ---- the receiving thread ----------------------------------------------------------------------------------------

    def _receive_all(self) -> None:
        number = 0
        while True:
            head = self._receive(_HEAD, CONTROL)
            (found,) = _NUMBER.unpack_from(head)
            raw = head[_NUMBER.size :]
            if found != number:
                raise DistBackendError(
                    f"message {found} from rank {self.peer} arrived when message {number} was due: one was lost, doubled or "
                    "overtaken by a later one"
                )
            number += 1
            if raw == _GOODBYE:
                return
            kind, _, length, *_ = HEADER.unpack(raw)
            if kind not in self._wires.kinds or length > NOTE_LIMIT:
                raise DistBackendError(f"what arrived from rank {self.peer} is not what rank {self.peer} sent")
            raw += self._receive(length, CONTROL) if length else b""
            frame, _ = parse(memoryview(raw), 0, len(raw)) or (Frame(0, 0), 0)
            self._take(frame)

    def _take(self, frame: Frame) -> None:
        """Hand over a frame, and the payload that follows it."""
        nbytes = payload_length(frame)
        if frame.kind != Kind.DATA:
            data = self._receive(nbytes, frame.tag) if nbytes else b""
            self._wires.happened(self.peer, lambda: self._hand_over(frame, data))
            return
        self._wires.happened(self.peer, lambda: self._make_place(frame))
        place = self._places.get()
        if place is None:
            raise _ClosedError
        sink, buffer = place
        self._receive_into(np.frombuffer(buffer, np.uint8)[:nbytes], frame.tag)
        self._wires.happened(self.peer, lambda: self._complete(frame, sink, buffer))

    def _receive(self, count: int, tag: Tag) -> bytes:
        place = np.empty(count, np.uint8)
        self._receive_into(place, tag)
        return place.tobytes()

    def _receive_into(self, place: Any, tag: Tag) -> None:
        self._wires.finish(self._wires.transport.irecv(place, self.peer, tag))

    # ---- under the mutex, called by the one who leads ----------------------------------------------------------------

    def _hand_over(self, frame: Frame, data: bytes) -> None:
        sink = self._wires.on_frame(self, frame)
        if data:
            assert sink is not None, f"no place for the payload of {frame}"
            _pour(memoryview(data), sink)
            self._wires.on_payload(self, frame, sink)

    def _make_place(self, frame: Frame) -> None:
        sink = self._wires.on_frame(self, frame)
        assert sink is not None, f"no place for the payload of {frame}"
        # Straight into the array; what is folded comes into an array of the message's size first.
        self._places.put((sink, sink.want() if isinstance(sink, Landing) else bytearray(frame.nbytes)))

    def _complete(self, frame: Frame, sink: Sink, buffer: Any) -> None:
        if isinstance(sink, Landing):
            sink.took(frame.nbytes)
        else:
            _pour(memoryview(buffer), sink)
        self._wires.on_payload(self, frame, sink)

    def release(self) -> None:
        """Nobody makes a place any more."""
        self._places.put(None)


def _pour(data: memoryview, sink: Sink) -> None:
    """Everything in ``data`` into the sink."""
    position, full = 0, False
    while not full:
        place = sink.want()
        count = min(len(place), len(data) - position)
        place[:count] = data[position : position + count]
        position, full = position + count, sink.took(count)


class ByteWires:
    """All lanes of one rank.

    Args:
        name: of the backend, for texts.
        transport: the rank's end.

    Attributes:
        error: what the transport has done wrong, or None.
        kinds: the frames that exist.
    """

    on_frame: OnFrame
    on_payload: OnPayload

    def __init__(self, name: str, transport: ByteTransport) -> None:
        self.transport = transport
        self.error: DistBackendError | None = None
        self.kinds = frozenset(int(kind) for kind in Kind)
        self._name = name
        self._lanes: dict[int, _ByteLane] = {}
        self._happened: queue.SimpleQueue[tuple[int, Callable[[], None]]] = queue.SimpleQueue()
        self._closed = False

    def connect(self, on_frame: OnFrame, on_payload: OnPayload) -> Mapping[int, Lane]:
        """A lane to every other rank."""
        self.on_frame, self.on_payload = on_frame, on_payload
        peers = [peer for peer in range(self.transport.size) if peer != self.transport.rank]
        self._lanes = {peer: _ByteLane(peer, self) for peer in peers}
        for lane in self._lanes.values():
            for thread in lane.threads:
                thread.start()
        return self._lanes

    def watch(self, lane: Lane) -> bool:
        """A thread has what is to be sent: nobody has to look anew."""
        return False

    def happened(self, peer: int, what: Callable[[], None]) -> None:
        """From the lanes' threads: to be acted on by the one who leads."""
        self._happened.put((peer, what))

    def finish(self, work: Any) -> None:
        """Wait for a work of the transport."""
        while True:
            try:
                work.wait(_LOOK)
                return
            except TimeoutError:
                if self._closed:
                    raise _ClosedError from None

    def fail(self, peer: int, error: Exception) -> None:
        """The transport has done something wrong: every wait of this rank ends with it."""
        if self.error is None and not self._closed:
            told = error if isinstance(error, DistBackendError) else f"{type(error).__name__}: {error}"
            self.error = DistBackendError(
                f"rank {self.transport.rank}: the transport of backend {self._name!r} has failed between this rank and rank "
                f"{peer}: {told}. simdist.conformance.check_transport(factory) tries its rules one by one."
            )
            self.error.__cause__ = error
        self.kick()

    def serve(self, timeout: float | None, mutex: threading.RLock) -> None:
        """Sleep until something has happened, at most ``timeout`` seconds, and act on it under the mutex."""
        try:
            peer, what = self._happened.get(timeout=timeout)
        except queue.Empty:
            return
        with mutex:
            while True:
                try:
                    what()
                except Exception as error:  # an answer to a question that nobody has asked, say
                    self.fail(peer, error)
                try:
                    peer, what = self._happened.get_nowait()
                except queue.Empty:
                    return

    def kick(self) -> None:
        """Wake the sleeper."""
        self._happened.put((self.transport.rank, _nothing))

    def goodbye(self) -> None:
        """Tell every peer that nothing more will come. Every rank says so before it closes."""
        for lane in self._lanes.values():
            lane.goodbye()

    def close(self) -> None:
        """Let the threads end: those that still wait see it at their next look."""
        self._closed = True
        for lane in self._lanes.values():
            lane.release()

    def join(self, seconds: float) -> list[str]:
        """Wait for the threads to end, at most so long altogether; the names of those that did not."""
        left = []
        for lane in self._lanes.values():
            for thread in lane.threads:
                thread.join(seconds)
                if thread.is_alive():
                    left.append(thread.name)
                    seconds = 0.0
        return left


def _nothing() -> None:
    return
