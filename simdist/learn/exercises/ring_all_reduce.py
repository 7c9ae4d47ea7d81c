"""Write the ring all-reduce.

Every rank has a buffer ``x``. Afterwards the ``x`` of every rank holds the sum over all ranks,
element by element, with the same bits everywhere. Write::

    ring_all_reduce(x, rank, world_size) -> None        # x is changed in place

``x`` is a one-dimensional numpy array of float64; its length need not be divisible by
``world_size``, and ``world_size`` may be 1. Use ``isend`` and ``irecv`` (``send``, ``recv``) of
``simdist.distributed``; no ready-made collective.

With n = 64 MB on p = 8 ranks: each rank sends exactly 2 (p-1) n/p bytes, in at most 2 (p-1)
messages, and the time is at most 1.05 of the lower bound max(2 (p-1) n / (p B), α log2 p); here the
bytes decide. (Bytes: Patarasuk and Yuan, J. Parallel Distrib. Comput. 69(2), 2009.)

The check runs n = 64 kB on a network of a thousandth of the bandwidth: every time is the same as at
full size, and bytes are shown at full size.
"""

from __future__ import annotations

from simdist.learn import summing
from simdist.learn.case import Case
from simdist.learn.classroom import all_reduce_bound
from simdist.learn.exercise import Exercise
from simdist.learn.rule import Rule
from simdist.units import MB

__all__ = ["EXERCISE", "STARTER", "bound"]

STARTER = '''\
import numpy as np
import simdist.distributed as dist


def ring_all_reduce(x, rank, world_size):
    """Replace x, in place, by the sum over all ranks."""
    right = (rank + 1) % world_size
    left = (rank - 1) % world_size
    cuts = [i * len(x) // world_size for i in range(world_size + 1)]  # chunk i is x[cuts[i]:cuts[i + 1]]
    raise NotImplementedError  # your program: two loops of world_size - 1 steps
'''

HINTS = (
    "If everybody sends all of x to everybody, how often does each byte cross a port? What if rank r were "
    "responsible for the sum of one p-th of the buffer only?",
    "Cut x into p chunks. First p-1 steps in which every rank sends one chunk to the right, receives another "
    "from the left and adds it to its own: after them, each rank has one chunk's complete sum. Then p-1 steps"
    " in which the complete chunks go round once more and are copied. In every step all ports are busy.",
    "In step k = 0 .. p-2 of the first half, send chunk (rank - k) % p and add what arrives to chunk (rank - "
    "k - 1) % p. Rank r then has the complete chunk (r + 1) % p. In step k of the second half, send chunk "
    "(rank + 1 - k) % p and overwrite chunk (rank - k) % p. Each time: irecv into a buffer of the right "
    "length, isend, wait for both.",
)


def bound(case: Case) -> float:
    """Seconds of the lower bound: each rank must send 2 (p-1)/p of the buffer, and the news must reach p ranks."""
    return all_reduce_bound(case.world_size, case.nbytes)


def _share(case: Case) -> float:
    """Bytes that each rank sends: 2 (p-1) n/p."""
    return 2 * (case.world_size - 1) * case.nbytes / case.world_size


EXERCISE = Exercise(
    name="ring_all_reduce",
    title="write the ring all-reduce from isend and irecv",
    statement=__doc__ or "",
    starter=STARTER,
    hints=HINTS,
    cases=(
        Case(8, int(64 * MB / 8 / 1000), 21, measured=True, scale=1000, nbytes=int(64 * MB)),
        Case(1, 6, 22),
        Case(2, 9, 23),
        Case(3, 10, 24),
        Case(5, 3, 25),
        Case(8, 8, 26),
    ),
    given=summing.given,
    spec=summing.spec,
    program=summing.program,
    rules=(
        *summing.RULES,
        Rule("time", lambda case: 1.05 * bound(case), bound, formula="1.05 of the bound"),
        Rule("sent", _share, _share, formula="2(p-1)n/p"),
        Rule("messages", lambda case: 2.0 * (case.world_size - 1), formula="2(p-1)"),
    ),
)
