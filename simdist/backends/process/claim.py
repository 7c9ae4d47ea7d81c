"""What do ranks that wait in vain say about each other?

Every rank tells what it has posted and nobody has taken. Put side by side, two kinds of mistake show: two ranks at one place in
the order of a group's collectives that called different things, and a send and a receive of one pair with different tags.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from simdist.comm.envelope import Envelope, crossed
from simdist.comm.execute import COLLECTIVE_CHANNEL, USER_CHANNEL
from simdist.comm.transport import Tag

__all__ = ["Claim", "crossings", "dispute"]

_TOLD = 4  # crossings that a text tells
_LISTED = 8  # ranks that a text lists one by one


class Claim(NamedTuple):
    """One side of a message that has not met its other side.

    Attributes:
        rank: whose.
        peer: the other rank.
        sends: whether it is a send.
        tag: the message's tag.
        note: what the rank says that it is doing.
    """

    rank: int
    peer: int
    sends: bool
    tag: Tag
    note: bytes


def dispute(claims: Iterable[Claim]) -> str | None:
    """Where the ranks disagree about what they are doing together: the first such collective, or None."""
    calls: dict[Tag, dict[int, bytes]] = {}
    for claim in sorted(claims):
        if claim.tag[1] == COLLECTIVE_CHANNEL and claim.note:
            calls.setdefault(claim.tag, {}).setdefault(claim.rank, claim.note)
    for tag in sorted(calls):
        told: dict[str, tuple[str, list[int]]] = {}
        for rank, note in calls[tag].items():
            what, _, where = note.decode("utf-8", "replace").partition("\n")
            told.setdefault(what, (where, []))[1].append(rank)
        if len(told) > 1:
            return _lesson(told)
    return None


def _lesson(told: dict[str, tuple[str, list[int]]]) -> str:
    """``told``: what was called -> where, and by which ranks."""
    which = next(iter(told)).partition(": ")[0]
    parts = []
    for what, (where, ranks) in told.items():
        named = ", ".join(map(str, ranks[:_LISTED])) + (", ..." if len(ranks) > _LISTED else "")
        parts.append(f"rank {named} called {what.partition(': ')[2]} ({where})")
    return (
        f"{which} is not the same on all ranks: {', but '.join(parts)}. Every rank of a group must make the same calls in the "
        "same order, with equal shapes and dtypes."
    )


def crossings(claims: Iterable[Claim]) -> list[str]:
    """A sentence for each pair of ranks between which a send and a receive wait with different tags."""
    sends: dict[tuple[int, int], tuple[Tag, Envelope]] = {}
    recvs: dict[tuple[int, int], tuple[Tag, Envelope]] = {}
    for claim in sorted(claims):
        envelope = Envelope.unpack(claim.note) if claim.tag[1] == USER_CHANNEL else None
        if envelope is not None:
            table, pair = (sends, (claim.rank, claim.peer)) if claim.sends else (recvs, (claim.peer, claim.rank))
            table.setdefault(pair, (claim.tag, envelope))
    both = [pair for pair in sends if pair in recvs and sends[pair][0] != recvs[pair][0]]
    return [crossed(*pair, *sends[pair], *recvs[pair]) for pair in both][:_TOLD]
