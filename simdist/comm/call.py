"""What exactly does one rank ask for when it enters a collective?

A ``Call`` says everything about it as data: which group, the how-manieth collective of that group, which algorithm, which
buffer in which chunks. A backend executes it, the simulator compares the calls of the ranks with each other, the trace names
it. Two calls match when their ``signature`` is equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .algorithm import Algorithm, plan
from .step import Step

__all__ = ["Call", "Members"]


@dataclass(frozen=True, slots=True)
class Members:
    """The ranks of one process group, as one of them sees it.

    Attributes:
        id: the same number on every rank: the how-manieth group of the job (0 is the whole world).
        ranks: global ranks in order of their group rank.
        rank: the own group rank.
        name: for texts: ``"world"``.
    """

    id: int
    ranks: tuple[int, ...]
    rank: int
    name: str

    @property
    def size(self) -> int:
        """Number of ranks in the group."""
        return len(self.ranks)


@dataclass(slots=True)
class Call:
    """One rank's part in one collective.

    Attributes:
        name: torch's name of the collective: ``"all_reduce"``.
        members: the group.
        sequence: 0 for the first collective of the group, and so on: calls match by it and by nothing else.
        algorithm: how it is done.
        root: group rank of the root (0 where there is none).
        flat: the contiguous one-dimensional work buffer; chunk i is ``flat[cuts[i]:cuts[i + 1]]``.
        cuts: chunk boundaries; None if ``parts`` is given.
        parts: chunk number -> array, where chunks are not slices of one buffer (gather, scatter).
        combine: how to combine two contributions, or None.
        divisor: what a complete chunk is divided by (AVG), or 0.
        signature: what must be equal on all ranks: (operation, shape, dtype, reduction, root).
        nbytes: size of the payload as the collective's own definition counts it.
        where: code position of the user's call (see ``backends.place``), or None.
    """

    name: str
    members: Members
    sequence: int
    algorithm: Algorithm
    root: int
    flat: Any
    cuts: tuple[int, ...] | None
    combine: np.ufunc | None
    divisor: int
    signature: tuple[Any, ...]
    nbytes: int
    where: Any = None
    parts: dict[int, Any] | None = field(default=None)

    def steps(self) -> tuple[Step, ...]:
        """What this rank does, step by step."""
        return plan(self.algorithm, self.members.rank, len(self.members.ranks), self.root)

    def chunk(self, index: int) -> Any:
        """The array that is chunk ``index`` on this rank (a view: writing to it writes to the buffer)."""
        if self.parts is not None:
            return self.parts[index]
        if self.algorithm.whole:
            return self.flat
        assert self.cuts is not None
        return self.flat[self.cuts[index] : self.cuts[index + 1]]

    def chunk_nbytes(self, index: int) -> int:
        """The size in bytes of a chunk."""
        return int(self.chunk(index).nbytes)

    @property
    def label(self) -> str:
        """A short name for traces: ``all_reduce #3``."""
        return f"{self.name} #{self.sequence}"

    def describe(self) -> str:
        """The call for an error text: ``all_reduce of (4, 8) float32, SUM``."""
        return describe(self.signature)


def describe(signature: tuple[Any, ...]) -> str:
    """A signature (operation, shape, dtype, reduction, root) as words."""
    operation, shape, dtype, reduction, root = signature
    text = str(operation)
    if shape is not None:
        text += f" of {tuple(shape)} {dtype}"
    if reduction is not None:
        text += f", {reduction}"
    if root is not None:
        text += f", root {root}"
    return text
