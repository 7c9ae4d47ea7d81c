"""On which worlds is a learner's function tried?

A case is one world: how many ranks, how much data, which seed. Every exercise has a few that are measured and a few
that only have to give the right numbers (odd world sizes, a length that p does not divide, other seeds).
"""

from __future__ import annotations

from dataclasses import dataclass

from simdist.units import format_bytes

__all__ = ["Case"]


@dataclass(frozen=True)
class Case:
    """One world on which the learner's function is tried.

    Attributes:
        world_size: number of ranks, p.
        size: the exercise's own measure: elements of a buffer, rows of a batch.
        seed: of the inputs.
        measured: rules of time and bytes hold here (and not only those of the numbers).
        scale: the network is so many times slower and the buffer so many times smaller than the case says; every time stays
            the same, and bytes are shown as if they had been moved at full size.
        nbytes: bytes of the buffer at full size, n.
        steps: how often the learner's function is called.
        per_node: ranks of one machine; 0 if all are on one switch.
        is_meta: buffers have a shape and no numbers: only times, bytes and messages are looked at.
    """

    world_size: int
    size: int
    seed: int
    measured: bool = False
    scale: int = 1
    nbytes: int = 0
    steps: int = 1
    per_node: int = 0
    is_meta: bool = False

    def __str__(self) -> str:
        nodes = f" in nodes of {self.per_node}" if self.per_node else ""
        return f"p = {self.world_size}{nodes}" + (f", n = {format_bytes(self.nbytes)}" if self.nbytes else "")
