"""What does one rank do in one round of a collective?

A collective algorithm is data: for each rank a sequence of ``Step``s. A step receives at most one message and sends at
most one message, both at once, and the next step begins when both are done. A message carries one chunk or several.
Nothing is executed here; ``comm.execute`` runs a rank's steps over a transport, ``sim.replay`` runs all ranks' steps
in one go, and a picture of the algorithm is a table of steps.

Peers are *group* ranks. Chunks are numbered; which elements a chunk holds is decided by who calls (``comm.chunks``).

Invariant of every algorithm here: the k-th message from rank a to rank b is sent in the k-th step of a that names b,
and received in the k-th step of b that names a. So no message needs a number.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["WHOLE", "Step", "Transfer", "ranges"]

WHOLE = (0,)
"""The chunks of a buffer that is not cut."""


class Transfer(NamedTuple):
    """One side of one message: the other rank, and the chunks that move, in the order in which they are packed."""

    peer: int
    chunks: tuple[int, ...]

    def __str__(self) -> str:
        return ranges(self.chunks)


class Step(NamedTuple):
    """Receive and send at the same time.

    Attributes:
        send: what goes where, or None.
        recv: what comes from where, or None.
        combine: each received chunk is combined with the own one (reduction) instead of replacing it.
        finish: these chunks are completely reduced on this rank now (the moment to divide for an average).
    """

    send: Transfer | None = None
    recv: Transfer | None = None
    combine: bool = False
    finish: tuple[int, ...] = ()

    def __str__(self) -> str:
        parts = []
        if self.recv is not None:
            parts.append(f"{'combine' if self.combine else 'recv'} {self.recv} from {self.recv.peer}")
        if self.send is not None:
            parts.append(f"send {self.send} to {self.send.peer}")
        if self.finish:
            parts.append(f"finish {ranges(self.finish)}")
        return ", ".join(parts) or "rest"


def ranges(chunks: tuple[int, ...]) -> str:
    """Chunk numbers for a person: ``3``, ``0-3``, ``0-1+6-7``."""
    texts, first = [], 0
    for end in range(1, len(chunks) + 1):
        if end == len(chunks) or chunks[end] != chunks[end - 1] + 1:
            texts.append(f"{chunks[first]}" if end - first == 1 else f"{chunks[first]}-{chunks[end - 1]}")
            first = end
    return "+".join(texts) or "nothing"
