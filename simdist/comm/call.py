"""What exactly does one rank ask for when it enters a collective?

A ``Request`` says what is asked, as a value: which group, which algorithm, which shape and reduction. Calls alike
share one. A ``Call`` is one entry: the request, its place in the order of the group's collectives, and the buffer. A
backend executes calls, the simulator compares those of different ranks, the trace names them. Two calls match when
their requests' ``signature`` is equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from simdist.place import Place

from .algorithm import Algorithm, plan
from .layout import FLAT, Layout
from .step import Step

__all__ = ["Call", "Members", "Request", "describe"]


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

    @property
    def rising(self) -> bool:
        """Whether the group's order is that of the global ranks."""
        return all(a < b for a, b in pairwise(self.ranks))


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What is asked of a group.

    Attributes:
        name: torch's name of the collective: ``"all_reduce"``.
        members: the group.
        algorithm: how it is done.
        root: group rank of the root (0 where there is none).
        cuts: chunk i of a call's buffer is ``flat[cuts[i]:cuts[i + 1]]``; None if the buffer is one chunk, or not cut.
        combine: how to combine two contributions, or None.
        divisor: what a complete chunk is divided by (AVG), or 0.
        signature: what must be equal on all ranks: (operation, shape, dtype, reduction, global root).
        nbytes: size of the payload as the collective's own definition counts it.
        layout: what the algorithm knows of where the ranks are.
    """

    name: str
    members: Members
    algorithm: Algorithm
    root: int
    cuts: tuple[int, ...] | None
    combine: np.ufunc | None
    divisor: int
    signature: tuple[Any, ...]
    nbytes: int
    layout: Layout = FLAT

    def steps(self) -> tuple[Step, ...]:
        """What this rank does, step by step."""
        return plan(self.algorithm, self.members.rank, len(self.members.ranks), self.root, self.layout)

    def label(self, sequence: int) -> str:
        """A short name for traces: ``all_reduce #3``."""
        return f"{self.name} #{sequence}"

    def full_label(self, sequence: int) -> str:
        """The name with its group: ``all_reduce #3 of group 'world'``."""
        return f"{self.label(sequence)} of group {self.members.name!r}"

    def details(self, sequence: int) -> dict[str, Any]:
        """What a trace tells about the ``sequence``-th collective of the group.

        ``root`` is a group rank, where there is one; ``ranks`` are told where the group's order is not that of the global ranks.
        """
        told = {
            "group": self.members.name, "sequence": sequence, "bytes": self.nbytes, "size": self.members.size,
            "algorithm": self.algorithm.name, "collective": self.name,
        }  # fmt: skip
        if self.signature and self.signature[-1] is not None:
            told["root"] = self.root
        if not self.members.rising:
            told["ranks"] = list(self.members.ranks)
        return told

    def describe(self) -> str:
        """The request for an error text: ``all_reduce of (4, 8) float32, SUM``."""
        return describe(self.signature)


class Call:
    """One rank's entry into one collective.

    Attributes:
        request: what is asked.
        sequence: 0 for the first collective of the group, and so on: calls match by it and by nothing else.
        flat: the contiguous one-dimensional work buffer.
        where: the user's line, or None.
        parts: chunk number -> one-dimensional array, where chunks are not slices of one buffer (gather, scatter,
            all-to-all). Chunks that only pass through this rank are added as they come; they are as large as its own.
    """

    __slots__ = ("flat", "parts", "request", "sequence", "where")

    def __init__(
        self,
        request: Request,
        sequence: int,
        flat: Any,
        where: Place | None = None,
        parts: dict[int, Any] | None = None,
    ) -> None:
        self.request = request
        self.sequence = sequence
        self.flat = flat
        self.where = where
        self.parts = parts

    @property
    def members(self) -> Members:
        """The group."""
        return self.request.members

    def chunk(self, index: int) -> Any:
        """The array that is chunk ``index`` on this rank (a view: writing to it writes to the buffer)."""
        if self.parts is not None:
            found = self.parts.get(index)
            if found is None:
                found = self.parts[index] = np.empty_like(self.flat)
            return found
        cuts = self.request.cuts
        return self.flat if cuts is None else self.flat[cuts[index] : cuts[index + 1]]

    def view(self, chunks: tuple[int, ...]) -> Any | None:
        """The slice of the buffer that is these chunks, or None if they are no slice."""
        first = chunks[0]
        if len(chunks) == 1:
            return self.chunk(first)
        cuts = self.request.cuts
        if self.parts is not None or cuts is None or chunks != tuple(range(first, first + len(chunks))):
            return None
        return self.flat[cuts[first] : cuts[first + len(chunks)]]

    @property
    def label(self) -> str:
        """A short name for traces: ``all_reduce #3``."""
        return self.request.label(self.sequence)

    @property
    def full_label(self) -> str:
        """The name with its group: ``all_reduce #3 of group 'world'``."""
        return self.request.full_label(self.sequence)

    @property
    def details(self) -> dict[str, Any]:
        """What a trace tells about it."""
        return self.request.details(self.sequence)


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
