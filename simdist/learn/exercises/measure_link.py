"""Measure α and B of a link that you know nothing about.

Two ranks, a link between them. A message of n bytes takes α + n/B, and both numbers are hidden; they
are other ones in each of three trials: α between 1 µs and 100 µs, B between 1 GB/s and 100 GB/s.
Write::

    measure_link(rank, world_size) -> (alpha, bandwidth)

Both ranks call it; what rank 0 returns counts: seconds, and bytes per second, each within one per
cent. Send what you like with ``dist.send`` and ``dist.recv`` (``isend``, ``irecv``) of
``simdist.distributed``; ``sd.current_time()`` is the clock of the rank that asks, in seconds.

Rank 1 comes later than rank 0, and a message waits for who is to receive it. At most 100 messages and
64 MB in all: a link is not measured by filling it all day.

The same program measures a real link: the last row of the table runs it on two real processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simdist.clock import sleep
from simdist.cluster import Cluster
from simdist.learn.case import Case
from simdist.learn.classroom import classroom
from simdist.learn.exercise import Exercise
from simdist.learn.rule import Rule
from simdist.units import MB

__all__ = ["EXERCISE", "LATE", "STARTER", "given", "machines", "program", "spec"]

LATE = 300e-6
"""Seconds by which rank 1 comes later."""

STARTER = '''\
import numpy as np
import simdist as sd
import simdist.distributed as dist


def measure_link(rank, world_size):
    """Seconds of an empty message, and bytes per second."""
    alpha = bandwidth = 1.0
    raise NotImplementedError  # your program: send, receive, and look at sd.current_time()
    return alpha, bandwidth
'''

HINTS = (
    "There are two unknowns in t(n) = α + n/B. How many times do you need, of how many sizes? And how do you know that rank 1 "
    "was there already when you looked at the clock?",
    "Let rank 1 send everything back, and look at rank 0's clock only: there and back is 2 t(n). Do it once before you measure: "
    "then rank 1 is there. A small message shows α, the *difference* of a large and a small one shows B.",
    "def there_and_back(x): on rank 0, start = sd.current_time(), dist.send(x, 1), dist.recv(x, 1), return (sd.current_time() - "
    "start) / 2; on rank 1, dist.recv(x, 0), dist.send(x, 0). Call it with np.zeros(1) (forget the answer), with np.zeros(1) "
    "again: that is t, with np.zeros(10**6): that is T. bandwidth = (8e6 - 8) / (T - t), alpha = t - 8 / bandwidth.",
)


def given(case: Case, rank: int) -> Any:
    """The hidden numbers, float64 (2,): α from 1 µs to 100 µs, B from 1 GB/s to 100 GB/s, evenly in their logarithms."""
    return np.array([1e-6, 1e9]) * 100 ** np.random.default_rng(case.seed).random(2)


def spec(case: Case) -> list[Any]:
    """The hidden numbers, once for each rank."""
    return [given(case, rank) for rank in range(case.world_size)]


def machines(case: Case) -> Cluster:
    """Two ranks on a link with the hidden numbers."""
    alpha, bandwidth = map(float, given(case, 0))
    return classroom(case.world_size, 1, alpha, bandwidth)


def program(fn: Callable[..., Any], hidden: Any, case: Case, rank: int) -> Any:
    """Come late on rank 1, call the learner's function; the result is what it returned on rank 0."""
    if rank:
        sleep(LATE)
    found = fn(rank, case.world_size)
    return found if rank == 0 else None


EXERCISE = Exercise(
    name="measure_link",
    title="measure α and B of a link that you know nothing about",
    statement=__doc__ or "",
    starter=STARTER,
    hints=HINTS,
    cases=tuple(Case(2, 2, seed, measured=True) for seed in (61, 116, 176)),
    given=given,
    spec=spec,
    program=program,
    rules=(
        Rule("latency", lambda _: 0.01),
        Rule("bandwidth", lambda _: 0.01),
        Rule("all_messages", lambda _: 100.0, lambda _: 2.0),
        Rule("wire", lambda _: 64 * MB, lambda _: 1.0),
    ),
    machines=machines,
    about="α and B are hidden",
    is_timed=True,
)
