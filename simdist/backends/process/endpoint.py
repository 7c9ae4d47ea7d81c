"""How does one rank send to and receive from the others?

The endpoint is the rank's end of all its links: the protocol of `frame` above the matching of `mailbox`, moved by `progress`.
Ranks are global, tags are taken as they come: groups are made above.

Invariants:

* a message whose receive is posted goes directly from the socket into the receive's buffer;
* nothing larger than ``EAGER_BYTES`` (or the eager limit) is ever sent to a rank that has not posted its receive;
* every pending work is in exactly one table, so the end of a peer (``BYE``) fails exactly what can no longer happen.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from simdist.backends.process.accord import Accord
from simdist.backends.process.claim import Claim
from simdist.backends.process.frame import EAGER_BYTES, FREE, META, NOTE_LIMIT, Frame, Kind
from simdist.backends.process.ledger import Ledger
from simdist.backends.process.link import Lane
from simdist.backends.process.mailbox import ANYONE, Arrival
from simdist.backends.process.mismatch import Side, refusal, refused_late
from simdist.backends.process.patience import StrandedError, stranded
from simdist.backends.process.progress import Progress
from simdist.backends.process.sink import Parcel, Sink
from simdist.backends.process.wires import Wires
from simdist.backends.process.work import Label, Work
from simdist.comm.transport import Tag

__all__ = ["Endpoint"]

_CLOCK_SKEW = 60.0  # seconds: a common start further away than this is not from the same clock


class Endpoint:
    """One rank's end.

    Args:
        rank: this rank.
        world_size: number of ranks.
        wires: what connects it with the others.
        timeout: seconds one wait may last, None for ever.
        eager_limit: messages of at most so many bytes complete at the sender at once.
    """

    def __init__(
        self,
        rank: int,
        world_size: int,
        wires: Wires,
        timeout: float | None = 300.0,
        eager_limit: int = 0,
    ) -> None:
        self.rank, self.world_size = rank, world_size
        self._eager_limit = eager_limit
        self._progress = Progress(self, timeout, wires)
        self._mutex = self._progress.mutex
        self._ledger = Ledger()
        self._mail = self._ledger.mail
        self._accord = Accord(self.now, self._ledger, self._tell_all, self._progress.finish)
        self._number = 0
        self._filling: dict[int, Work | Arrival | None] = {}
        self._late: list[BaseException] = []
        self._returned = [False] * world_size
        self._leaving = self._said_bye = False
        self._epoch = time.perf_counter()
        self._handlers: dict[int, Callable[[Lane, Frame], Sink | None]] = {
            Kind.EAGER: self._on_eager,
            Kind.RTS: self._on_request,
            Kind.CTS: self._on_clear,
            Kind.DATA: self._on_data,
            Kind.ACK: self._on_acknowledged,
            Kind.NACK: self._on_refused,
            Kind.BYE: self._on_bye,
            Kind.SAY: self._on_said,
            Kind.ALARM: self._on_alarm,
        }
        self._links = wires.connect(self._on_frame, self._on_payload)

    # ---- what a rank calls -------------------------------------------------------------------------------------------

    def start(self, epoch: float) -> None:
        """Set the common start of all ranks (this machine's ``time.perf_counter``)."""
        now = time.perf_counter()
        self._epoch = epoch if 0.0 <= now - epoch < _CLOCK_SKEW else now

    def now(self) -> float:
        """Seconds since the common start."""
        return time.perf_counter() - self._epoch

    def isend(self, buf: Any, dst: int, tag: Tag, note: bytes = b"", *, owned: bool = False, label: Label = "") -> Work:
        """Start to send.

        Args:
            buf: contiguous array, bytes, or an object of shape, dtype and nbytes without data.
            dst: global rank.
            tag: three numbers.
            note: text whose first line is compared with the receive's (at most ``NOTE_LIMIT`` bytes).
            owned: the caller leaves the buffer alone until the work is done; saves the copy of a large one.
            label: what to call it in a report.

        Raises:
            ValueError: this rank itself, or a rank that does not exist; a note that is too long.
        """
        work = Work(self._progress, self.rank, dst, True, buf, tag, self._checked(dst, note), label)
        if work.view is not None and not owned and not self._eager(work):
            work.view = memoryview(bytes(work.view))
        with self._mutex:
            self._progress.began()
            self._accord.hear(tag, self.rank, note)
            if self._accord.fail(work):
                return work
            if self._returned[dst]:
                self._progress.finish(work, self._stranded(work))
            else:
                self._post_send(work)
        return work

    def _free(self, work: Work) -> bool:
        return 0 < self._eager_limit >= work.nbytes

    def _eager(self, work: Work) -> bool:
        return work.meta or work.nbytes <= EAGER_BYTES or self._free(work)

    def _post_send(self, work: Work) -> None:
        self._number += 1
        free, eager, link = self._free(work), self._eager(work), self._links[work.peer]
        flags = (FREE if free else 0) | (META if work.meta else 0)
        kind = Kind.EAGER if eager else Kind.RTS
        head = Frame(kind, self._number, work.tag, work.nbytes, flags, work.note).pack()
        if not eager:
            self._ledger.held[self._number] = work
            link.send([head], stable=True)
        else:
            if not free:
                self._ledger.unacknowledged[self._number] = work
            link.send([head, work.view] if work.view else [head], stable=False)
            if free:
                self._progress.finish(work)
        self._progress.watch(link)

    def irecv(self, buf: Any, src: int, tag: Tag, combine: Any = None, note: bytes = b"", *, label: Label = "") -> Work:
        """Start to receive.

        Args:
            buf: writeable contiguous array, or a shape without data.
            src: global rank, or ``ANYONE``.
            tag: three numbers.
            combine: None writes into ``buf``; else ``buf = combine(operand of the lower rank, operand of the higher)``.
            note: text whose first line is compared with the send's.
            label: what to call it in a report.

        Raises:
            ValueError: this rank itself, or a rank that does not exist; a note that is too long.
        """
        work = Work(self._progress, self.rank, src, False, buf, tag, self._checked(src, note), label, combine)
        with self._mutex:
            self._progress.began()
            self._accord.hear(tag, self.rank, note)
            if self._accord.fail(work):
                return work
            arrival = self._mail.post(work)
            if arrival is not None:
                self._claim(work, arrival)
            elif self._has_returned(src):
                for lost in self._mail.abandon(src):
                    self._progress.finish(lost, self._stranded(lost))
        return work

    def waiting_for(self) -> list[str]:
        """A line for each thread of this rank that waits."""
        return self._progress.waiting_for()

    def claims(self) -> list[Claim]:
        """What this rank has posted and nobody has taken, as far as it says what it is."""
        with self._mutex:
            works = self._ledger.unmet()
        awaited = self._progress.awaited()
        return [work.claim(awaited=work in awaited) for work in works]

    def say(self, work: Work) -> None:
        """Tell everybody in which collective this rank is: ``work`` keeps it waiting."""
        with self._mutex:
            self._accord.say(work)

    def leave(self) -> None:
        """This rank has returned: tell the others as soon as no posted receive is left; what was sent is still delivered."""
        with self._mutex:
            self._leaving = True
            self.after_progress()

    def close(self) -> None:
        """Close every link."""
        self._progress.close()

    # ---- called by progress ------------------------------------------------------------------------------------------

    def late_error(self) -> BaseException | None:
        """A refused message whose send had already completed (eager limit); reported by the next wait."""
        if not self._late:
            return None
        with self._mutex:
            return self._late.pop(0) if self._late else None

    def after_progress(self) -> None:
        """Say goodbye once nothing is awaited any more."""
        if self._leaving and not self._said_bye and not self._mail.waiting:
            self._said_bye = True
            self._tell_all(Frame(Kind.BYE, 0))

    # ---- frames ------------------------------------------------------------------------------------------------------

    def _on_frame(self, link: Lane, frame: Frame) -> Sink | None:
        return self._handlers[frame.kind](link, frame)

    def _on_payload(self, link: Lane, frame: Frame, sink: Sink) -> None:
        owner = self._filling.pop(link.peer, None)
        if isinstance(owner, Work):
            self._progress.finish(owner, sink.error)
        elif owner is not None:
            owner.complete = True
            if owner.claimed is not None:
                self._deliver(owner.claimed, owner)

    def _on_eager(self, link: Lane, frame: Frame) -> Sink | None:
        filled = frame.nbytes > 0 and not frame.flags & META
        if not self._accord.hear(frame.tag, link.peer, frame.note):
            return Parcel(frame.nbytes) if filled else None
        work = self._mail.match(link.peer, frame)
        if work is not None and self._accept(work, frame):
            self._answer(link, Kind.ACK, frame)
            if not filled:
                self._progress.finish(work)
                return None
            self._filling[link.peer] = work
            return work.sink()
        parcel = Parcel(frame.nbytes) if filled else None
        arrival = Arrival(frame, parcel) if work is None else None
        if arrival is not None:
            self._mail.keep(link.peer, arrival)
        if filled:
            self._filling[link.peer] = arrival
        return parcel

    def _on_request(self, link: Lane, frame: Frame) -> Sink | None:
        if not self._accord.hear(frame.tag, link.peer, frame.note):
            return None
        work = self._mail.match(link.peer, frame)
        if work is None:
            self._mail.keep(link.peer, Arrival(frame, None))
        elif self._accept(work, frame):
            self._ledger.expected[link.peer, frame.number] = work
            self._answer(link, Kind.CTS, frame)
        return None

    def _on_clear(self, link: Lane, frame: Frame) -> Sink | None:
        work = self._ledger.held.pop(frame.number, None)
        if work is None:  # its collective is broken: the receiver knows
            return None
        head = Frame(Kind.DATA, frame.number, work.tag, work.nbytes).pack()
        link.send([head, work.view], stable=True, sent=lambda: self._progress.finish(work))
        return None

    def _on_data(self, link: Lane, frame: Frame) -> Sink | None:
        work = self._ledger.expected.pop((link.peer, frame.number), None)
        if work is None:
            return Parcel(frame.nbytes)
        self._filling[link.peer] = work
        return work.sink()

    def _on_acknowledged(self, link: Lane, frame: Frame) -> Sink | None:
        work = self._ledger.unacknowledged.pop(frame.number, None)
        if work is not None:
            self._progress.finish(work)
        return None

    def _on_refused(self, link: Lane, frame: Frame) -> Sink | None:
        work = self._ledger.refused(frame.number)
        receiver = Side(link.peer, frame.nbytes, bool(frame.flags & META), frame.note)
        if work is not None:
            error = refusal(work.side(), receiver, frame.tag, at_sender=True)
            self._progress.finish(work, error)
        else:
            self._late.append(refused_late(receiver, self.rank, frame.tag))
        return None

    def _on_bye(self, link: Lane, frame: Frame) -> Sink | None:
        self._returned[link.peer] = True
        lost = self._ledger.abandon(link.peer)
        if self._has_returned(ANYONE):
            lost += self._mail.abandon(ANYONE)
        for work in lost:
            self._progress.finish(work, self._stranded(work))
        return None

    def _on_said(self, link: Lane, frame: Frame) -> Sink | None:
        self._accord.hear(frame.tag, link.peer, frame.note)
        return None

    def _on_alarm(self, link: Lane, frame: Frame) -> Sink | None:
        self._accord.break_up(frame.tag, frame.note.decode("utf-8", "replace"))
        return None

    # ---- matching ----------------------------------------------------------------------------------------------------

    def _claim(self, work: Work, arrival: Arrival) -> None:
        """A receive met a message that was already here."""
        link, frame = self._links[work.peer], arrival.frame
        if not self._accept(work, frame):
            return
        if frame.kind == Kind.RTS:
            self._ledger.expected[work.peer, frame.number] = work
            self._answer(link, Kind.CTS, frame)
            return
        self._answer(link, Kind.ACK, frame)
        if arrival.complete:
            self._deliver(work, arrival)
        else:
            arrival.claimed = work

    def _deliver(self, work: Work, arrival: Arrival) -> None:
        try:
            if arrival.parcel is not None:
                work.take(arrival.parcel.data)
        except Exception as error:
            self._progress.finish(work, error)
        else:
            self._progress.finish(work)

    def _accept(self, work: Work, frame: Frame) -> bool:
        """Whether message and receive fit; if not, both sides are told."""
        sender = Side(work.peer, frame.nbytes, bool(frame.flags & META), frame.note)
        error = refusal(sender, work.side(), frame.tag, at_sender=False)
        if error is None:
            return True
        if self._accord.refuse(work, frame):
            return False
        answer = Frame(Kind.NACK, frame.number, frame.tag, work.nbytes, META if work.meta else 0, work.note)
        self._tell(self._links[work.peer], answer)
        self._progress.finish(work, error)
        return False

    def _answer(self, link: Lane, kind: Kind, frame: Frame) -> None:
        if not (kind == Kind.ACK and frame.flags & FREE):
            self._tell(link, Frame(kind, frame.number))

    def _tell(self, link: Lane, frame: Frame) -> None:
        link.send([frame.pack()], stable=True)
        self._progress.watch(link)

    def _tell_all(self, frame: Frame) -> None:
        for link in self._links.values():
            self._tell(link, frame)

    def _has_returned(self, peer: int) -> bool:
        if peer == ANYONE:
            return all(gone for rank, gone in enumerate(self._returned) if rank != self.rank)
        return self._returned[peer]

    # ---- mistakes ----------------------------------------------------------------------------------------------------

    def _checked(self, peer: int, note: bytes) -> bytes:
        if peer == ANYONE:
            return note
        if peer == self.rank:
            raise ValueError(f"rank {self.rank} cannot send to or receive from itself")
        if not 0 <= peer < self.world_size:
            raise ValueError(f"there is no rank {peer}: the world has ranks 0 to {self.world_size - 1}")
        if len(note) > NOTE_LIMIT:
            raise ValueError(f"a note has at most {NOTE_LIMIT} bytes, this one has {len(note)}")
        return note

    def _stranded(self, work: Work) -> StrandedError:
        return stranded(self.rank, work.peer, work.describe(), (work.claim(awaited=True), *self.claims()))
