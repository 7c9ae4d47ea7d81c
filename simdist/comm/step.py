"""What does one rank do in one round of a collective?

A collective algorithm is data: for each rank a sequence of ``Step``s. A step receives at most one chunk and sends at
most one chunk, both at once, and the next step begins when both are done. Nothing is executed here; ``comm.execute``
runs a rank's steps over a transport, ``sim.replay`` runs all ranks' steps in one go, and a picture of the algorithm
is a table of steps.

Peers are *group* ranks. Chunks are numbered; which elements a chunk holds is decided by who calls (``comm.chunks``).

Invariant of every algorithm here: the k-th message from rank a to rank b is sent in the k-th step of a that names b,
and received in the k-th step of b that names a. So no message needs a number.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Step", "Transfer"]


class Transfer(NamedTuple):
    """One side of one message: the other rank, and the chunk that moves."""

    peer: int
    chunk: int


class Step(NamedTuple):
    """Receive and send at the same time.

    Attributes:
        send: where a chunk goes, or None.
        recv: where a chunk comes from, or None.
        combine: the received chunk is combined with the own one (reduction) instead of replacing it.
        finish: this chunk is completely reduced on this rank now (the moment to divide for an average), or None.
    """

    send: Transfer | None = None
    recv: Transfer | None = None
    combine: bool = False
    finish: int | None = None

    def __str__(self) -> str:
        parts = []
        if self.recv is not None:
            parts.append(f"{'combine' if self.combine else 'recv'} {self.recv.chunk} from {self.recv.peer}")
        if self.send is not None:
            parts.append(f"send {self.send.chunk} to {self.send.peer}")
        if self.finish is not None:
            parts.append(f"finish {self.finish}")
        return ", ".join(parts) or "rest"
