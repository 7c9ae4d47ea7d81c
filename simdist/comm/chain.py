"""Which contributions meet in which order, in a ring?

In a ring all ranks do the same, shifted: what happens to chunk c is what happens to chunk 0 with every rank c further. And
a chunk is folded along a chain: it starts at one rank, the next one combines its own, and so on. So the expressions of
all chunks are one list of ranks, however many ranks there are, where a rehearsal would have to look at p messages in each
of 2 (p - 1) rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .algorithm import Algorithm, plan
from .call import Call
from .promise import promise

__all__ = ["Chain", "chain", "evaluate_chain"]


class Chain(NamedTuple):
    """What becomes of chunk 0.

    Attributes:
        ranks: the group ranks whose contributions are combined, in order.
        divided: whether the complete reduction is marked as such (an average divides then).
    """

    ranks: tuple[int, ...]
    divided: bool


@lru_cache(maxsize=256)
def chain(algorithm: Algorithm, size: int) -> Chain | None:
    """The chain of chunk 0 in a ring algorithm, or None if its chunks are not folded along a chain."""
    steps = plan(algorithm, 0, size)
    first = {step.send.chunks for step in steps if step.send is not None}
    if any(len(chunks) != 1 for chunks in first):
        return None
    ranks: list[int] = []
    for step in steps:
        if step.send is None:
            continue
        src = -step.send.chunks[0] % size  # the rank that sends its chunk 0 in this step
        dst = (src + 1) % size
        if not step.combine:
            continue
        if not ranks:
            ranks.append(src)
        if ranks[-1] != src or dst in ranks:
            return None
        ranks.append(dst)
    if not ranks:
        ranks = [0]
    return Chain(tuple(ranks), any(step.finish for step in steps))


def evaluate_chain(calls: Sequence[Call], found: Chain) -> None:
    """Carry out the data's part of a ring collective for all ranks.

    Args:
        calls: one per group rank, in order; their chunks are slices of one buffer each.
        found: the algorithm's chain.
    """
    request, size = calls[0].request, len(calls)
    flats = [call.flat for call in calls]
    cuts = request.cuts or (0, flats[0].size)
    whole = np.empty_like(flats[0])
    divisor = request.divisor if found.divided else 0
    for chunk in range(size):
        lo, hi = cuts[chunk], cuts[chunk + 1]
        if lo < hi:
            ranks = [(rank + chunk) % size for rank in found.ranks]
            _fold(whole[lo:hi], [flat[lo:hi] for flat in flats], ranks, request.combine)
            if divisor:
                np.divide(whole[lo:hi], divisor, out=whole[lo:hi])
    promised = promise(request.algorithm.collective, size, request.root, size)
    if len(promised) == size * size:
        for flat in flats:
            flat[...] = whole
    else:
        for rank, chunk in promised:
            calls[rank].chunk(chunk)[...] = whole[cuts[chunk] : cuts[chunk + 1]]


def _fold(out: Any, contributions: list[Any], ranks: list[int], combine: np.ufunc | None) -> None:
    """Combine along the chain: what comes from the lower rank is the left operand."""
    value = contributions[ranks[0]]
    if len(ranks) == 1:
        out[...] = value
        return
    assert combine is not None
    for sender, receiver in pairwise(ranks):
        own = contributions[receiver]
        left, right = (value, own) if sender < receiver else (own, value)
        value = combine(left, right, out=out)
