"""Write one all-reduce that is good everywhere.

Every rank has a buffer ``x``. Afterwards the ``x`` of every rank holds the sum over all ranks, with
the same bits everywhere. Write::

    adaptive_all_reduce(x, rank, world_size) -> None        # x is changed in place

``x`` is a one-dimensional numpy array of float64, of 1 kB, or 1 GB, or anything between; its length
need not be divisible by anything. ``world_size`` is a power of two, 1 too. Use ``isend`` and
``irecv`` (``send``, ``recv``) of ``simdist.distributed``; no ready-made collective.

On p = 8 and on p = 64 ranks, at each of five sizes, the time is at most 2.8 times the lower bound
max(2 (p-1) n / (p B), α log2 p); up to 16 kB and from 4 MB on, at most 1.25 times. No single one of
the usual algorithms is that good. A ring takes 21 times the bound for 1 kB on 64 ranks; recursive
doubling takes 3 times the bound for 1 GB. No rank sends more than 2 log2 p messages, and to none go
more.

Large buffers are tried as arrays without numbers: they have shape, dtype, slices and arithmetic, but
nothing can be read from them. (1 GB on 64 ranks would need 64 GB.) ``x.nbytes`` is known as always.
"""

from __future__ import annotations

import math

from simdist.learn import summing
from simdist.learn.case import Case
from simdist.learn.classroom import all_reduce_bound, least_all_reduce
from simdist.learn.exercise import Exercise
from simdist.learn.rule import Rule

__all__ = ["EXERCISE", "SIZES", "STARTER", "factor"]

SIZES = (2**10, 2**14, 2**18, 2**22, 2**30)
"""Bytes of the measured buffers, n."""

LARGE = 2**16
"""Bytes above which a measured buffer has no numbers."""

STARTER = '''\
import numpy as np
import simdist.distributed as dist


def adaptive_all_reduce(x, rank, world_size):
    """Replace x, in place, by the sum over all ranks; world_size is a power of two."""
    if x.nbytes < 1:  # your number: below which size is which algorithm faster?
        raise NotImplementedError  # few messages: recursive doubling, as in small_all_reduce
    else:
        raise NotImplementedError  # few bytes, and not too many messages either
'''

HINTS = (
    "Recursive doubling has log2 p messages of n bytes, a ring 2 (p-1) of n/p. Which is faster for 1 kB, which for 1 GB? Is "
    "there something that has few messages and few bytes?",
    "Recursive halving and doubling (Rabenseifner): first exchange *halves* with the rank that is furthest away, keep the sum of "
    "one, then quarters of what is left with the next, ... After log2 p exchanges each rank has a p-th of the sum; then the same "
    "exchanges backwards, copying. That is 2 log2 p messages and as few bytes as a ring. For which n is recursive doubling "
    "faster? Write down both times.",
    "lo, hi = 0, len(x). For distance = p/2, p/4, ..., 1: mid = (lo + hi) // 2; if rank & distance, keep x[mid:hi] and give "
    "x[lo:mid], else the other way round; exchange with peer = rank ^ distance (irecv into a buffer as long as what you keep, "
    "isend what you give, wait for both), add, note the two slices and the peer, and go on with what you keep. Then go through "
    "the notes backwards: send what you kept, receive what you gave into its place. Recursive doubling is faster as long as "
    "log2 p (α + n/B) < 2 α log2 p + 2 n/B: up to some 100 kB.",
)


def factor(case: Case) -> float:
    """How often the lower bound is allowed: at both ends one of its two terms decides, between them both count."""
    return 2.8 if 2**14 < case.nbytes < 2**22 else 1.25


def _measured(world_size: int, nbytes: int, seed: int) -> Case:
    return Case(world_size, nbytes // 8, seed, measured=True, nbytes=nbytes, is_meta=nbytes > LARGE)


def _messages(case: Case) -> float:
    return 2 * math.log2(case.world_size)


EXERCISE = Exercise(
    name="adaptive_all_reduce",
    title="write one all-reduce that is good everywhere, from 1 kB to 1 GB",
    statement=__doc__ or "",
    starter=STARTER,
    hints=HINTS,
    cases=(
        *(_measured(8, nbytes, 100 + i) for i, nbytes in enumerate(SIZES)),
        *(_measured(64, nbytes, 200 + i) for i, nbytes in enumerate(SIZES)),
        Case(1, 5, 71),
        Case(2, 9, 72),
        Case(4, 3, 73),
        Case(8, 70_001, 74),
        Case(16, 1_003, 75),
        Case(4, 600_011, 76),
    ),
    given=summing.given,
    spec=summing.spec,
    program=summing.program,
    rules=(
        *summing.RULES,
        Rule(
            "time", lambda case: factor(case) * all_reduce_bound(case.world_size, case.nbytes),
            lambda case: least_all_reduce(case.world_size, case.nbytes), formula="1.25 or 2.8 of the bound",
        ),
        Rule("messages", _messages, lambda _: 1.0, formula="2 log2 p"),
        Rule("received", _messages, lambda _: 1.0, formula="2 log2 p"),
        Rule("wire", lambda case: case.world_size * math.log2(case.world_size) * case.nbytes,
             lambda case: 2.0 * (case.world_size - 1) * case.nbytes, formula="2(p-1)n … p n log2 p"),
    ),
)  # fmt: skip
