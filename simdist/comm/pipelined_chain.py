"""How does a long buffer get through many ranks in little more than the time of one message?

The ranks stand in a chain that begins at the root. The buffer is cut into pieces; while a rank receives piece i from the one
before it, it sends piece i - 1 to the one behind. The first piece needs p - 1 hops, then one piece arrives in each step: with
m pieces (p - 2 + m)(alpha + n / m beta). The best m is about sqrt((p - 2) n beta / alpha). Reduce is the same chain walked
backwards, each rank combining its own part.

Source: van de Geijn, "On global combine operations", JPDC 1994; Traeff, Ripke, Siebert et al., 2008 for the choice of m.
"""

from __future__ import annotations

from collections.abc import Iterator

from .layout import FLAT, Layout
from .step import Step, Transfer

__all__ = ["as_laid_out", "chain_broadcast", "chain_reduce"]


def as_laid_out(size: int, layout: Layout) -> int:
    """As many pieces as the layout says."""
    return layout.pieces


def chain_broadcast(rank: int, size: int, root: int = 0, layout: Layout = FLAT) -> Iterator[Step]:
    """Pass each piece on while the next one comes."""
    position = (rank - root) % size
    before = (rank - 1) % size if position else None
    behind = (rank + 1) % size if position < size - 1 else None
    yield from _pass_on(before, behind, layout.pieces, combine=False)


def chain_reduce(rank: int, size: int, root: int = 0, layout: Layout = FLAT) -> Iterator[Step]:
    """The same towards the root: what comes from behind is combined, then passed on."""
    position = (rank - root) % size
    behind = (rank + 1) % size if position < size - 1 else None
    before = (rank - 1) % size if position else None
    yield from _pass_on(behind, before, layout.pieces, combine=True)
    if not position:
        yield Step(finish=tuple(range(layout.pieces)))


def _pass_on(source: int | None, target: int | None, pieces: int, *, combine: bool) -> Iterator[Step]:
    if source is None and target is None:
        return
    late = (
        0 if source is None else 1
    )  # a rank sends a piece one step after it came; the end of the chain has it already
    for step in range(pieces + late):
        recv = Transfer(source, (step,)) if source is not None and step < pieces else None
        send = Transfer(target, (step - late,)) if target is not None and step >= late else None
        if send is not None or recv is not None:
            yield Step(send, recv, combine=combine and recv is not None)
