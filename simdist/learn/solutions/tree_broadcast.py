"""How do all ranks hear of something as soon as possible?

By doubling: in every round everybody who knows tells one more. Places are counted from the root; in the round of
distance d, places divisible by 2d tell the place d further on. It is the binomial tree of every message-passing library.
"""

from __future__ import annotations

from typing import Any

import simdist.distributed as dist

__all__ = ["naive", "reference"]


def reference(x: Any, root: int, rank: int, world_size: int) -> None:
    """Be told in the round of the place's lowest 1, then tell in all later rounds."""
    place = (rank - root) % world_size
    distance = 1
    while distance < world_size and place % (2 * distance) == 0:
        distance *= 2
    if place:
        dist.recv(x, (root + place - distance) % world_size)
    while distance > 1:
        distance //= 2
        if place + distance < world_size:
            dist.send(x, (root + place + distance) % world_size)


def naive(x: Any, root: int, rank: int, world_size: int) -> None:
    """The root tells everybody: as few messages, but all through one port."""
    if rank == root:
        for other in range(world_size):
            if other != root:
                dist.send(x, other)
    else:
        dist.recv(x, root)
