"""What does each collective promise, chunk by chunk?

``definitions`` says it for whole arrays; this says it for the chunks that an algorithm moves: which chunks of which rank
count when it is over, and what they must hold. All other chunks may hold anything (a ring leaves half-done sums behind).
The rehearsal of an algorithm is compared with it, so a wrong algorithm is found without any data.
"""

from __future__ import annotations

from collections.abc import Callable

from simdist.errors import AlgorithmError, UnknownNameError

from .rehearsal import Held, Rehearsal

__all__ = ["ALL", "PROMISES", "keep", "promise"]

ALL = -1
"""Stands for the reduction of what all ranks held in this chunk."""

Promise = dict[tuple[int, int], int]
"""(rank, chunk) -> the rank whose chunk it must hold, or ``ALL``."""


def _everywhere(size: int, root: int, pieces: int) -> Promise:
    return {(rank, chunk): ALL for rank in range(size) for chunk in range(pieces)}


def _own(size: int, root: int, pieces: int) -> Promise:
    return {(rank, rank): ALL for rank in range(size)}


def _gathered(size: int, root: int, pieces: int) -> Promise:
    return {(rank, chunk): chunk for rank in range(size) for chunk in range(size)}


def _from_root(size: int, root: int, pieces: int) -> Promise:
    return {(rank, chunk): root for rank in range(size) for chunk in range(pieces)}


def _on_root(size: int, root: int, pieces: int) -> Promise:
    return {(root, chunk): ALL for chunk in range(pieces)}


def _gathered_on_root(size: int, root: int, pieces: int) -> Promise:
    return {(root, chunk): chunk for chunk in range(size)}


def _scattered(size: int, root: int, pieces: int) -> Promise:
    return {(rank, rank): root for rank in range(size)}


def _exchanged(size: int, root: int, pieces: int) -> Promise:
    return {(dst, src * size + dst): src for dst in range(size) for src in range(size) if src != dst}


def _nothing(size: int, root: int, pieces: int) -> Promise:
    return {}


PROMISES: dict[str, Callable[[int, int, int], Promise]] = {
    "all_reduce": _everywhere,
    "reduce_scatter": _own,
    "all_gather": _gathered,
    "broadcast": _from_root,
    "reduce": _on_root,
    "gather": _gathered_on_root,
    "scatter": _scattered,
    "all_to_all": _exchanged,
    "barrier": _nothing,
}
"""Collective -> (size, root, number of chunks) -> what must hold at the end."""


def promise(collective: str, size: int, root: int, pieces: int) -> Promise:
    """What every chunk that counts must hold at the end.

    Args:
        collective: a key of ``PROMISES``.
        size: number of ranks.
        root: group rank of the root.
        pieces: number of chunks into which the buffer is cut.

    Raises:
        UnknownNameError: no such collective.
    """
    if collective not in PROMISES:
        raise UnknownNameError("collective", collective, PROMISES)
    return PROMISES[collective](size, root, pieces)


def keep(name: str, rehearsal: Rehearsal, promised: Promise) -> None:
    """Check that an algorithm keeps a promise.

    Args:
        name: the algorithm's, for the text.
        rehearsal: what it does.
        promised: what it should do.

    Raises:
        AlgorithmError: a chunk holds something else; the text says which, whose data it should hold, and whose it does.
    """
    for (rank, chunk), source in promised.items():
        value = rehearsal.final.get((rank, chunk))
        if source == ALL:
            found = [(owner, chunk) for owner in ([rank] if value is None else rehearsal.contributions(value))]
            wanted = [(owner, chunk) for owner in range(rehearsal.size)]
        else:
            held = None if value is None else rehearsal.values[value]
            inside = [] if value is None else rehearsal.contributions(value)
            found = (
                [(held.rank, held.chunk)] if isinstance(held, Held) else [(owner, chunk) for owner in inside or [rank]]
            )
            wanted = [(source, chunk)]
        if sorted(found) != wanted:
            raise AlgorithmError(
                f"{name} on {rehearsal.size} ranks: at the end chunk {chunk} of rank {rank} holds {_told(found)}, but it must "
                f"hold {_told(wanted)}{', each once' if source == ALL else ''}."
            )


def _told(parts: list[tuple[int, int]]) -> str:
    owners = sorted(owner for owner, _ in parts)
    if len(owners) == 1:
        owner, chunk = parts[0]
        return f"chunk {chunk} of rank {owner}"
    return f"the contributions of ranks {', '.join(map(str, owners))}"
