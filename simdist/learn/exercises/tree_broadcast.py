"""Broadcast with a binary tree.

Every rank has a buffer ``x``; only ``root``'s has the right contents. Afterwards the ``x`` of every
rank holds what ``root``'s held. Write::

    tree_broadcast(x, root, rank, world_size) -> None        # x is changed in place

``x`` is a one-dimensional numpy array, of n bytes. ``world_size`` is any number, 1 too, and so is
``root``. Use ``send`` and ``recv`` (``isend``, ``irecv``) of ``simdist.distributed``; no ready-made
collective.

Every rank but ``root`` must be told once, and once is enough: exactly p-1 messages in all, of n bytes
each. If ``root`` tells everybody, it takes p-1 times n/B. But who has been told can tell others: the
time must be at most ⌈log2 p⌉ (α + n/B), a tenth of a per cent to spare, for 2, 3, 5, 8 and 16 ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simdist.learn.case import Case
from simdist.learn.classroom import ALPHA, BANDWIDTH, message_time
from simdist.learn.exercise import Exercise
from simdist.learn.rule import Rule
from simdist.units import MB

__all__ = ["EXERCISE", "STARTER", "given", "least", "program", "root_of", "rounds", "spec"]

STARTER = '''\
import simdist.distributed as dist


def tree_broadcast(x, root, rank, world_size):
    """Fill x, in place, with what root's x holds."""
    place = (rank - root) % world_size  # counted from the root: its own place is 0
    raise NotImplementedError  # your program: receive once, then send to fewer and fewer
'''

HINTS = (
    "After the first message two ranks know. How many can know after the second round, if everybody who knows tells one more? "
    "How many rounds for 8 ranks, how many for 5?",
    "Count places from the root, place = (rank - root) % world_size. In the rounds with distance d = ..., 4, 2, 1, every place "
    "that is divisible by 2d tells place + d, if there is one. So each place receives once: in the round of its lowest "
    "binary digit that is 1.",
    "Let d be 1. While d < world_size and place % (2 * d) == 0: d *= 2. Now d is the place's lowest 1 (for the root: at least "
    "world_size). If place > 0: dist.recv(x, (root + place - d) % world_size). Then, while d > 1: d //= 2, and if place + d < "
    "world_size: dist.send(x, (root + place + d) % world_size).",
)


def rounds(case: Case) -> int:
    """⌈log2 p⌉: how often the number of ranks that know must double."""
    return (case.world_size - 1).bit_length()


def least(case: Case) -> float:
    """Seconds that no right program beats: who knows can send one buffer in n/B, so the number doubles at most that often."""
    return ALPHA + rounds(case) * case.nbytes / BANDWIDTH if case.world_size > 1 else 0.0


def root_of(case: Case) -> int:
    """Who has the contents: rank 0 where it is drawn, others elsewhere."""
    return 0 if case == EXERCISE.cases[0] else case.seed % case.world_size


def given(case: Case, rank: int) -> Any:
    """The buffer of a rank: float64 (size,)."""
    return np.random.default_rng([case.seed, rank]).standard_normal(case.size)


def spec(case: Case) -> list[Any]:
    """What the root held, once for each rank."""
    return [given(case, root_of(case))] * case.world_size


def program(fn: Callable[..., Any], x: Any, case: Case, rank: int) -> Any:
    """Call the learner's function once; the result is what it left in the buffer."""
    fn(x, root_of(case), rank, case.world_size)
    return x


def _case(world_size: int, seed: int, size: int = int(MB / 8)) -> Case:
    return Case(world_size, size, seed, measured=True, nbytes=8 * size)


def _messages(case: Case) -> float:
    return case.world_size - 1


def _wire(case: Case) -> float:
    return float((case.world_size - 1) * case.nbytes)


EXERCISE = Exercise(
    name="tree_broadcast",
    title="broadcast with a binary tree",
    statement=__doc__ or "",
    starter=STARTER,
    hints=HINTS,
    cases=(
        _case(8, 44),
        _case(1, 45, 3),
        _case(2, 47, 9),
        _case(3, 50, 7),
        _case(5, 48),
        _case(16, 49, int(MB / 80)),
        _case(8, 43, 1),
    ),
    given=given,
    spec=spec,
    program=program,
    rules=(
        Rule("numbers", lambda _: 0.0, everywhere=True),
        Rule("collectives", lambda _: 0.0, everywhere=True),
        Rule("time", lambda case: 1.001 * rounds(case) * message_time(case.nbytes), least, formula="⌈log2 p⌉ (α + n/B)"),
        Rule("all_messages", _messages, _messages, formula="p-1"),
        Rule("wire", _wire, _wire, formula="(p-1) n"),
    ),
)  # fmt: skip
