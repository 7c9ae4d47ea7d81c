"""Exchange buffers between neighbours without deadlock.

The ranks form a ring. Every rank has a buffer ``x``, sends it to its right neighbour (rank + 1, the
last one's is rank 0), and returns what it received from its left one. Write::

    exchange(x, rank, world_size) -> array

``x`` is a numpy array (n bytes, the same shape and dtype on every rank). Use ``send``, ``recv``,
``isend``, ``irecv`` of ``simdist.distributed``. A send waits until its receiver is ready, however
small the message is.

It must finish for 2, 3 and 8 ranks, and take no longer than one message does: α + n/B, with one per
cent to spare. So all ranks must send at the same time. Each sends its n bytes once, in one message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simdist.learn.case import Case
from simdist.learn.classroom import message_time
from simdist.learn.exercise import Exercise
from simdist.learn.rule import Rule
from simdist.units import MB

__all__ = ["EXERCISE", "STARTER", "given", "program", "spec"]

STARTER = '''\
import numpy as np
import simdist.distributed as dist


def exchange(x, rank, world_size):
    """Send x to the right neighbour; return what the left one sent."""
    right = (rank + 1) % world_size
    left = (rank - 1) % world_size
    received = np.empty_like(x)
    raise NotImplementedError  # your program: four lines are enough
    return received
'''

HINTS = (
    "If every rank calls dist.send first, who is ready to receive? Draw the arrows of who waits for whom, for 2 ranks.",
    "A rank must be ready to receive while it sends. irecv says 'I am ready' and returns at once, with a "
    "Work; so does isend. (Even ranks send first, odd ones receive first: that cannot block for 2 ranks, but "
    "it takes two messages' time.)",
    "Post the receive: incoming = dist.irecv(received, src=left). Post the send: outgoing = dist.isend(x, "
    "dst=right). Then wait for both: outgoing.wait(); incoming.wait(). Only after that is `received` filled.",
)


def given(case: Case, rank: int) -> Any:
    """The buffer of a rank: float64 (size,)."""
    return np.random.default_rng([case.seed, rank]).standard_normal(case.size)


def spec(case: Case) -> list[Any]:
    """What each rank must return: the buffer of the rank to its left."""
    buffers = [given(case, rank) for rank in range(case.world_size)]
    return [buffers[(rank - 1) % case.world_size] for rank in range(case.world_size)]


def program(fn: Callable[..., Any], x: Any, case: Case, rank: int) -> Any:
    """Call the learner's function once."""
    return fn(x, rank, case.world_size)


def _case(world_size: int, size: int, seed: int) -> Case:
    return Case(world_size, size, seed, measured=True, nbytes=8 * size)


def _nbytes(case: Case) -> float:
    return case.nbytes


EXERCISE = Exercise(
    name="exchange",
    title="exchange buffers between neighbours without deadlock",
    statement=__doc__ or "",
    starter=STARTER,
    hints=HINTS,
    cases=(
        _case(3, int(MB / 8), 11),
        _case(2, int(MB / 8), 12),
        _case(8, int(MB / 8), 13),
        _case(3, 5, 14),
    ),
    given=given,
    spec=spec,
    program=program,
    rules=(
        Rule("numbers", lambda _: 0.0, everywhere=True),
        Rule(
            "time", lambda case: 1.01 * message_time(case.nbytes), lambda case: message_time(case.nbytes),
            formula="1.01 (α + n/B)",
        ),
        Rule("sent", _nbytes, _nbytes, formula="n"),
        Rule("messages", lambda _: 1.0, lambda _: 1.0),
    ),
)  # fmt: skip
