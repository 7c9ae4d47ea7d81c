"""Do two ranks agree on the size of the block between them?

In an all-to-all each rank says how much it sends to every other one and how much it expects. Nobody sees both sides but those
two; where the calls of both are known, they are compared before anything moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .call import Call

__all__ = ["Difference", "difference"]


class Difference(NamedTuple):
    """A pair that does not agree.

    Attributes:
        source: group rank of the sender.
        to: group rank of the receiver.
        sent: elements in the block.
        expected: elements for which the receiver has room.
    """

    source: int
    to: int
    sent: int
    expected: int


def difference(calls: Sequence[Call | None], newcomer: int) -> Difference | None:
    """The first pair that does not agree, among those of one rank with the others.

    Args:
        calls: one per group rank, in order; None for who has not come yet.
        newcomer: the group rank whose blocks are compared.
    """
    size = len(calls)
    mine = calls[newcomer]
    assert mine is not None
    for other, theirs in enumerate(calls):
        if theirs is None or other == newcomer:
            continue
        for source, to, sender, receiver in ((newcomer, other, mine, theirs), (other, newcomer, theirs, mine)):
            chunk = source * size + to
            sent, expected = (sender.parts or {}).get(chunk), (receiver.parts or {}).get(chunk)
            if sent is not None and expected is not None and sent.size != expected.size:
                return Difference(source, to, int(sent.size), int(expected.size))
    return None
