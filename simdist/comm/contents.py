"""What is in each chunk after each round?

A rehearsal gives messages and, at the end, an expression for each chunk. Here the rounds are followed one by one: after each,
for every rank and chunk, whose data are in it. A picture draws it; a learner who writes an algorithm sees where it goes wrong.

Not everything that a buffer holds at the start means something: before an all-gather only the own block does, before a
broadcast only the root's buffer. ``GIVEN`` says what counts; the rest is empty. A barrier has no data; here its chunk stands
for the ranks that have been heard of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from simdist.errors import UnknownNameError

from .rehearsal import Combined, Divided, Held, Rehearsal

__all__ = ["GIVEN", "Arrival", "Stage", "stages"]

GIVEN: dict[str, Callable[[int, int, int, int], bool]] = {
    "all_reduce": lambda rank, chunk, size, root: True,
    "reduce_scatter": lambda rank, chunk, size, root: True,
    "reduce": lambda rank, chunk, size, root: True,
    "barrier": lambda rank, chunk, size, root: True,
    "all_gather": lambda rank, chunk, size, root: chunk == rank,
    "gather": lambda rank, chunk, size, root: chunk == rank,
    "broadcast": lambda rank, chunk, size, root: rank == root,
    "scatter": lambda rank, chunk, size, root: rank == root,
    "all_to_all": lambda rank, chunk, size, root: chunk // size == rank,
}
"""Collective -> (rank, chunk, size, root) -> whether the chunk means something before the collective."""


class Arrival(NamedTuple):
    """A chunk that a message of this round brought.

    Attributes:
        src: group rank of the sender.
        chunk: what it was there.
        dst: group rank of the receiver.
        target: what it is there.
        combine: whether it was combined with what the receiver had.
    """

    src: int
    chunk: int
    dst: int
    target: int
    combine: bool


class Stage(NamedTuple):
    """The state after a round.

    Attributes:
        holds: (rank, chunk) -> whose data are in it, in the order in which they were combined; chunks without any are missing.
        arrivals: what the round's messages brought; nothing in the state before the first round.
    """

    holds: dict[tuple[int, int], tuple[Held, ...]]
    arrivals: tuple[Arrival, ...]


def stages(collective: str, rehearsal: Rehearsal, pieces: int, root: int = 0) -> list[Stage]:
    """The state before the first round, and after each.

    Args:
        collective: what is performed: ``"all_reduce"``.
        rehearsal: what the algorithm does.
        pieces: number of chunks into which the buffer is cut.
        root: group rank of the root.

    Raises:
        UnknownNameError: no such collective.
    """
    if collective not in GIVEN:
        raise UnknownNameError("collective", collective, GIVEN)
    size, given = rehearsal.size, GIVEN[collective]

    def inside(value: int) -> tuple[Held, ...]:
        return tuple([held for held in _held(rehearsal, value) if given(held.rank, held.chunk, size, root)])

    state = {
        (rank, chunk): (Held(rank, chunk),)
        for rank in range(size)
        for chunk in range(pieces)
        if given(rank, chunk, size, root)
    }
    found = [Stage(dict(state), ())]
    for exchanges in rehearsal.rounds:
        arrivals: list[Arrival] = []
        before = dict(state)
        for e in exchanges:
            for chunk, target, value in zip(e.chunks, e.targets, e.values, strict=True):
                mine = before.get((e.dst, target), ())
                if collective == "barrier":
                    brought = tuple(dict.fromkeys((*mine, *before[e.src, chunk])))
                else:
                    brought = inside(value)
                    if e.combine:
                        brought = brought + mine if e.src < e.dst else mine + brought
                if brought:
                    state[e.dst, target] = brought
                else:
                    state.pop((e.dst, target), None)
                arrivals.append(Arrival(e.src, chunk, e.dst, target, e.combine))
        found.append(Stage(dict(state), tuple(arrivals)))
    return found


def _held(rehearsal: Rehearsal, value: int) -> list[Held]:
    """What was combined into a value, from left to right."""
    found: list[Held] = []
    open_values = [value]
    while open_values:
        match rehearsal.values[open_values.pop()]:
            case Held() as held:
                found.append(held)
            case Combined(left, right):
                open_values += [right, left]
            case Divided(part):
                open_values.append(part)
    return found
