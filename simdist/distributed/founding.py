"""How do the ranks agree on a new group?

``new_group`` is a call of all ranks, members or not: they count the groups that they have seen, and a group's messages carry
its number. A rank that leaves one out, or names other ranks, would talk to the others under a wrong number from then on. So in
a checked run ``new_group`` has its place among the collectives of the world, and its list of ranks is compared like a shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from simdist import place
from simdist.comm.algorithm import DEFAULT
from simdist.comm.call import Call, Request

if TYPE_CHECKING:
    from .group import ProcessGroup

__all__ = ["agree", "local_number"]

_NOTHING = np.empty(0, dtype=np.uint8)
_LISTED = 16  # ranks that a text lists one by one
_FIRST_LOCAL = 1 << 32  # numbers of groups that only their members know; above all counts


def agree(world_group: ProcessGroup, ranks: Sequence[int]) -> None:
    """Return when every rank of the world has called ``new_group(ranks)``.

    Raises:
        CollectiveMismatchError: another rank named other ranks, or called something else.
        DeadlockError, DistTimeoutError: a rank does not come.
    """
    text = f"new_group({_listed(ranks)})"
    members, sequence = world_group.members, world_group.sequence
    world_group.sequence = sequence + 1
    signature: tuple[Any, ...] = (text, None, None, None, None)
    request = Request(text, members, DEFAULT["barrier"], 0, None, None, 0, signature, 0)
    world_group.world.agree(Call(request, sequence, _NOTHING.copy(), place.caller()))


def local_number(ranks: tuple[int, ...], made: int) -> int:
    """The number of a group that only its members know, equal on all of them.

    Args:
        ranks: its members.
        made: how many groups of these members there were before.
    """
    return _FIRST_LOCAL + (crc32(repr(ranks).encode()) << 10) + made


def _listed(ranks: Sequence[int]) -> str:
    """All ranks if they are few; else the first ones, how many there are, and a checksum that tells two long lists apart."""
    if len(ranks) <= _LISTED:
        return str(list(ranks))
    first = ", ".join(map(str, ranks[: _LISTED // 2]))
    return f"[{first}, ..., {ranks[-1]}]: {len(ranks)} ranks, checksum {crc32(repr(list(ranks)).encode()):08x}"
