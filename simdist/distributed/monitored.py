"""Which rank does not come to the barrier?

A barrier that rank 0 of the group watches: the others report to it and wait for its answer, which says who has not reported
within the timeout. It is slow (rank 0 talks to everybody) and meant for finding a hang.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np

from simdist import place
from simdist.errors import DistTimeoutError

from .group import ProcessGroup
from .issue import enter
from .work import seconds_of

__all__ = ["monitored_barrier"]

_CHANNEL = 2
DEFAULT_SECONDS = 1800.0
"""The limit if neither the call nor the group names one: torch's half an hour."""


def monitored_barrier(
    group: ProcessGroup | None = None, timeout: float | timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """Return when every rank of the group has called it, or name who has not.

    Args:
        group: None for the world.
        timeout: seconds of the backend's clock, or a ``timedelta``, that rank 0 waits for the others.
        wait_all_ranks: rank 0 names all missing ranks, not only the first one.

    Raises:
        DistTimeoutError: on rank 0 and on the ranks that came; the text names the missing ones.
    """
    found = enter(group, "monitored_barrier")
    if found is None:
        return
    limit = seconds_of(timeout) or found.timeout or DEFAULT_SECONDS
    number, found.sequence = found.sequence, found.sequence + 1
    tag = (found.members.id, _CHANNEL, number)
    if found.members.rank == 0:
        _watch(found, tag, limit, wait_all_ranks)
    else:
        _report(found, tag, limit)


def _watch(group: ProcessGroup, tag: tuple[int, int, int], limit: float, wait_all_ranks: bool) -> None:
    world, here = group.world, place.caller()
    others = group.members.ranks[1:]
    end = world.now() + limit
    works = {rank: world.irecv(np.zeros(1, np.uint8), rank, tag, here) for rank in others}
    missing: list[int] = []
    for rank, work in works.items():
        if missing and not wait_all_ranks:
            break
        try:
            work.wait(max(0.0, end - world.now()))
        except DistTimeoutError:
            missing.append(rank)
    answer = np.array([rank in missing for rank in group.members.ranks], np.uint8)
    for rank in others:
        if rank not in missing:
            _answer(world, answer, rank, tag, here, limit if not missing else 0.0)
    if missing:
        raise _nobody(group, missing, limit)


def _nobody(group: ProcessGroup, missing: list[int], limit: float) -> DistTimeoutError:
    who, they = ", ".join(map(str, missing)), "it does" if len(missing) == 1 else "they do"
    return DistTimeoutError(
        f"rank {group.world.rank}: monitored_barrier of {group!r}: rank {who} did not come within {limit:g} s. Look at what "
        f"{they} instead."
    )


def _answer(world: Any, answer: Any, rank: int, tag: tuple[int, int, int], here: Any, limit: float) -> None:
    work = world.isend(answer, rank, tag, here)
    if limit:
        work.wait(limit)
        return
    try:  # it may be one of those that were not waited for
        work.wait(1e-3)
    except DistTimeoutError:
        return


def _report(group: ProcessGroup, tag: tuple[int, int, int], limit: float) -> None:
    world, here = group.world, place.caller()
    first = group.members.ranks[0]
    answer = np.zeros(group.size(), np.uint8)
    try:
        world.isend(np.zeros(1, np.uint8), first, tag, here).wait(2 * limit)
        world.irecv(answer, first, tag, here).wait(2 * limit)
    except DistTimeoutError as error:
        raise DistTimeoutError(
            f"rank {world.rank}: monitored_barrier of {group!r}: rank {first}, which watches it, did not come within "
            f"{2 * limit:g} s."
        ) from error
    missing = [rank for rank, absent in zip(group.members.ranks, answer, strict=True) if absent]
    if missing:
        raise _nobody(group, missing, limit)
