"""Write an all-reduce for small buffers.

Every rank has a buffer ``x``. Afterwards the ``x`` of every rank holds the sum over all ranks, with
the same bits everywhere. Write::

    small_all_reduce(x, rank, world_size) -> None        # x is changed in place

``x`` is a one-dimensional numpy array of float64; ``world_size`` is a power of two, 1 too. Use
``isend`` and ``irecv`` (``send``, ``recv``) of ``simdist.distributed``; no ready-made collective.

With n = 1 kB on p = 64 ranks a message takes α, nearly whatever is in it. A ring has 2 (p-1) = 126
messages one after the other: 630 µs. Yours takes at most 31 µs, about log2 p messages' time.

No rank sends more than log2 p = 6 messages, and to none go more than 6. (On this network a rank could
send one to each of the 63 others within 3 µs, because α is the way and costs the sender nothing. Real
processors work for each message that they send or receive: hence the limit.)
"""

from __future__ import annotations

import math

from simdist.learn import summing
from simdist.learn.case import Case
from simdist.learn.classroom import least_all_reduce
from simdist.learn.exercise import Exercise
from simdist.learn.rule import Rule
from simdist.units import us

__all__ = ["EXERCISE", "STARTER"]

STARTER = '''\
import numpy as np
import simdist.distributed as dist


def small_all_reduce(x, rank, world_size):
    """Replace x, in place, by the sum over all ranks; world_size is a power of two."""
    received = np.empty_like(x)
    distance = 1
    while distance < world_size:
        raise NotImplementedError  # your program: with whom does this rank exchange what?
        distance *= 2
'''

HINTS = (
    "After one exchange in pairs, everybody can know the sum of two ranks. With whom must they exchange next, so that everybody "
    "knows the sum of four?",
    "Recursive doubling: in the round of distance d = 1, 2, 4, ... each rank exchanges *what it has so far* with the rank whose "
    "number differs in that one binary digit, and adds what it gets. After log2 p rounds everybody has everything. Both of a "
    "pair add the same two numbers, so they have the same bits.",
    "In each round: peer = rank ^ distance. incoming = dist.irecv(received, peer); outgoing = dist.isend(x, peer); wait for both "
    "(x must not change before it has left); x += received.",
)

LIMIT = 31 * us
"""Seconds: six messages of 1 kB one after the other take 30.24 µs."""


def _rounds(case: Case) -> float:
    return math.log2(case.world_size)


EXERCISE = Exercise(
    name="small_all_reduce",
    title="write an all-reduce for small buffers",
    statement=__doc__ or "",
    starter=STARTER,
    hints=HINTS,
    cases=(
        Case(64, 125, 51, measured=True, nbytes=1000),
        Case(1, 4, 52),
        Case(2, 5, 53),
        Case(4, 1, 54),
        Case(8, 33, 55),
    ),
    given=summing.given,
    spec=summing.spec,
    program=summing.program,
    rules=(
        *summing.RULES,
        Rule("time", lambda _: LIMIT, lambda case: least_all_reduce(case.world_size, case.nbytes)),
        Rule("messages", _rounds, lambda _: 1.0, formula="log2 p"),
        Rule("received", _rounds, lambda _: 1.0, formula="log2 p"),
        Rule("wire", lambda case: case.world_size * _rounds(case) * case.nbytes,
             lambda case: 2.0 * (case.world_size - 1) * case.nbytes, formula="2(p-1)n … p n log2 p"),
    ),
)  # fmt: skip
