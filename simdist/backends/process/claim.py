"""What do ranks that wait in vain say about each other?

Every rank tells what it has posted and nobody has taken. Put side by side, two kinds of mistake show: two ranks at one place in
the order of a group's collectives that called different things, and a send and a receive of one pair with different tags.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from simdist.comm.cycle import find_cycle
from simdist.comm.entry import LESSON, Entry
from simdist.comm.envelope import Envelope, crossed
from simdist.comm.execute import COLLECTIVE_CHANNEL, USER_CHANNEL
from simdist.comm.transport import Tag

__all__ = ["Claim", "circle", "crossings", "dispute"]

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
        awaited: whether the rank waits for it.
    """

    rank: int
    peer: int
    sends: bool
    tag: Tag
    note: bytes
    awaited: bool = False


def dispute(claims: Iterable[Claim]) -> str | None:
    """Where the ranks disagree about what they are doing together: the first such collective, or None."""
    calls: dict[Tag, dict[int, Entry]] = {}
    for claim in sorted(claims):
        entry = Entry.unpack(claim.rank, claim.note) if claim.tag[1] == COLLECTIVE_CHANNEL else None
        if entry is not None:
            calls.setdefault(claim.tag, {}).setdefault(claim.rank, entry)
    for tag in sorted(calls):
        told: dict[str, list[Entry]] = {}
        for entry in calls[tag].values():
            told.setdefault(entry.what, []).append(entry)
        if len(told) > 1:
            return _lesson(list(told.values()))
    return None


def _lesson(told: list[list[Entry]]) -> str:
    """``told``: those who called the same, together."""
    parts = []
    for entries in told:
        ranks = [entry.rank for entry in entries]
        named = ", ".join(map(str, ranks[:_LISTED])) + (", ..." if len(ranks) > _LISTED else "")
        parts.append(f"rank {named} called {entries[0].what} ({entries[0].where})")
    return f"{told[0][0].which} is not the same on all ranks: {', but '.join(parts)}. {LESSON}"


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


def circle(claims: Iterable[Claim]) -> list[int]:
    """Ranks that wait for each other in a circle, as [a, b, ..., a]; empty if there is none."""
    waits: dict[int, set[int]] = {}
    for claim in claims:
        if claim.awaited and claim.peer >= 0:
            waits.setdefault(claim.rank, set()).add(claim.peer)
    return find_cycle({rank: sorted(waits[rank]) for rank in sorted(waits)})
