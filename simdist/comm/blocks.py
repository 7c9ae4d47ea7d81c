"""Do two ranks agree on the size of the block between them?

In an all-to-all each rank says how much it sends to every other one and how much it expects. Nobody sees both sides but those
two; where all calls are known at once, they are compared before anything moves.
"""

from __future__ import annotations

from collections.abc import Sequence

from simdist.errors import CollectiveMismatchError

from .call import Call

__all__ = ["compare"]


def compare(calls: Sequence[Call]) -> None:
    """Compare the blocks of all pairs.

    Args:
        calls: one per group rank, in order.

    Raises:
        CollectiveMismatchError: a pair does not agree; the text names the first one.
    """
    size = len(calls)
    ranks = calls[0].members.ranks
    for source, call in enumerate(calls):
        for chunk, sent in (call.parts or {}).items():
            if chunk // size != source:
                continue
            to = chunk % size
            expected = calls[to].chunk(chunk)
            if sent.size != expected.size:
                raise CollectiveMismatchError(
                    f"{call.full_label}: {ranks[source]}->{ranks[to]}: sent {sent.size}, expected {expected.size} elements. The "
                    f"output split that rank {ranks[to]} gives for rank {ranks[source]} must be the input split that rank "
                    f"{ranks[source]} gives for rank {ranks[to]}."
                )
