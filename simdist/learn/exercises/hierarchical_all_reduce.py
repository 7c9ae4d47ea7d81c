"""Write a hierarchical all-reduce.

The ranks sit in machines, ``per_node`` of them in each, numbered machine by machine. Inside a machine
a message takes 1 µs + n/(250 GB/s); between machines 5 µs + n/(25 GB/s), and for these every rank has
a network card of its own. Afterwards the ``x`` of every rank holds the sum over all ranks, with the
same bits everywhere. Write::

    hierarchical_all_reduce(x, rank, world_size, per_node) -> None        # x is changed in place

``x`` is a one-dimensional numpy array of float64 of any length; ``world_size`` is a multiple of
``per_node``, and either may be 1. Use ``isend`` and ``irecv`` (``send``, ``recv``) of
``simdist.distributed``; no ready-made collective.

With n = 64 MB on 8 machines of 8 ranks: through no card go more than 2 (7/8) n/8 bytes each way, one
per cent to spare, which is as little as there can be; and the time is at most half of what the bytes
of a ring of all ranks take, 2 (p-1) n / (p B). (In that ring a single card of each machine carries
everything that leaves it, while seven are idle.)

The check runs n = 64 kB on a network of a thousandth of the bandwidth: every time is the same as at
full size, and bytes are shown at full size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simdist.cluster import Cluster
from simdist.learn import summing
from simdist.learn.case import Case
from simdist.learn.classroom import ALPHA, BANDWIDTH, FABRIC, NEAR, about, two_levels
from simdist.learn.exercise import Exercise
from simdist.learn.rule import Rule
from simdist.units import MB, format_bytes, format_time

__all__ = ["EXERCISE", "STARTER", "card", "flat_ring", "machines", "program"]

STARTER = '''\
import numpy as np
import simdist.distributed as dist


def hierarchical_all_reduce(x, rank, world_size, per_node):
    """Replace x, in place, by the sum over all ranks."""
    first = rank - rank % per_node
    inside = list(range(first, first + per_node))  # the ranks of my machine
    across = list(range(rank % per_node, world_size, per_node))  # one of each machine: those with my place
    raise NotImplementedError  # your program: inside, then across, then inside again
'''

HINTS = (
    "What leaves a machine need not leave it eight times: it can be added up inside first. And if a single rank of the machine "
    "has the sum, how many of its cards work?",
    "Three phases. Inside each machine a reduce-scatter: every rank ends with a per_node-th of the machine's sum. Across the "
    "machines an all-reduce of that part only, among the ranks with the same place: all cards work at once, each for its own "
    "part. Inside again an all-gather. The two halves of ring_all_reduce are the first and the last phase.",
    "Write ring_all_reduce's halves for a list of ranks: reduce_scatter(x, ranks, me) and all_gather(x, ranks, me), with "
    "me = ranks.index(rank), p = len(ranks), and neighbours ranks[(me + 1) % p], ranks[me - 1]; after the first, me has the "
    "complete chunk (me + 1) % p. Then: reduce_scatter(x, inside, me); part = x[cuts[i]:cuts[i + 1]] with i = (me + 1) % "
    "per_node; reduce_scatter(part, across, ...), all_gather(part, across, ...); all_gather(x, inside, me).",
)


def card(case: Case) -> float:
    """Bytes through each card if all share the load: a machine must send 2 (m-1)/m n to the others, m machines in all."""
    nodes = case.world_size // case.per_node
    return 2 * (nodes - 1) / nodes * case.nbytes / case.per_node


def flat_ring(case: Case) -> float:
    """Seconds that a ring of all ranks needs for its bytes alone: a card of each machine has 2 (p-1) n/p to send."""
    return 2 * (case.world_size - 1) / case.world_size * case.nbytes / BANDWIDTH


def machines(case: Case) -> Cluster:
    """The machines of a case."""
    return two_levels(case.world_size // case.per_node, case.per_node, case.scale)


def program(fn: Callable[..., Any], x: Any, case: Case, rank: int) -> Any:
    """Call the learner's function once; the result is what it left in the buffer."""
    fn(x, rank, case.world_size, case.per_node)
    return x


def _all_cards(case: Case) -> float:
    return card(case) * case.world_size


EXERCISE = Exercise(
    name="hierarchical_all_reduce",
    title="write an all-reduce for machines with several accelerators",
    statement=__doc__ or "",
    starter=STARTER,
    hints=HINTS,
    cases=(
        Case(64, int(64 * MB / 8 / 1000), 81, measured=True, scale=1000, nbytes=int(64 * MB), per_node=8),
        Case(1, 3, 82, per_node=1),
        Case(2, 7, 83, per_node=2),
        Case(3, 11, 84, per_node=1),
        Case(6, 13, 85, per_node=2),
        Case(6, 4, 86, per_node=3),
        Case(8, 101, 87, per_node=8),
    ),
    given=summing.given,
    spec=summing.spec,
    program=program,
    rules=(
        *summing.RULES,
        Rule(
            "time",
            lambda case: flat_ring(case) / 2,
            lambda case: ALPHA + card(case) / BANDWIDTH,
            formula="(p-1) n / (p B)",
        ),
        Rule("card", lambda case: 1.01 * card(case), formula="1.01 of 2 (7/8) n/8"),
        Rule("between", lambda case: 1.01 * _all_cards(case), _all_cards, formula="64 cards"),
    ),
    machines=machines,
    about=f"inside α = {format_time(NEAR)}, B = {format_bytes(FABRIC)}/s, between {about()}",
)
