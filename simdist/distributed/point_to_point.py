"""How do two ranks talk?

``send`` and ``recv`` block; ``isend`` and ``irecv`` return a ``Work``. A send is complete when the other side has
posted its receive (a rendezvous), even for a few bytes: two ranks that both send first wait for each other for ever.
Tags select; messages of one tag between the same two ranks arrive in order.
"""

from __future__ import annotations

from typing import Any

from simdist import place
from simdist.comm.execute import USER_CHANNEL

from .buffer import array_of, flatten, writeable
from .group import ProcessGroup, get_global_rank
from .group import resolve as resolve_group
from .work import Work

__all__ = ["irecv", "isend", "recv", "send"]


def _peer(rank: int | None, group: ProcessGroup, group_rank: int | None, what: str, names: tuple[str, str]) -> int:
    """The global rank of the other side."""
    if (rank is None) == (group_rank is None):
        raise ValueError(
            f"{what}: give either {names[0]} (a global rank) or {names[1]} (a group rank), not both or none."
        )
    if group_rank is not None:
        rank = get_global_rank(group, group_rank)
    me = group.world.rank
    assert rank is not None
    if rank not in group.members.ranks:
        raise ValueError(f"rank {me}: {what}({names[0]}={rank}): there is no such rank in {group!r}.")
    if rank == me:
        raise ValueError(
            f"rank {me}: {what}({names[0]}={rank}) is a message to itself; nobody would take it. Copy the array instead."
        )
    return rank


def isend(
    tensor: Any, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0, group_dst: int | None = None
) -> Work:
    """Start to send ``tensor`` (its contents at this call) to rank ``dst``.

    Args:
        tensor: array or Tensor of any shape.
        dst: global rank of the receiver.
        group: None for the world.
        tag: chooses which receive may take it.
        group_dst: the receiver as a group rank, instead of ``dst``.

    Raises:
        ValueError: no such rank, or the own one.
        TypeError: not an array.
    """
    found = resolve_group(group, "isend")
    peer = _peer(dst, found, group_dst, "isend", ("dst", "group_dst"))
    array = array_of(tensor, "isend: tensor")
    flat, _ = flatten(array, copy=False)
    world = found.world
    return Work(
        world, world.isend(flat.reshape(array.shape), peer, (found.members.id, USER_CHANNEL, tag), place.caller())
    )


def irecv(
    tensor: Any, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0, group_src: int | None = None
) -> Work:
    """Start to receive into ``tensor`` from rank ``src``; its contents change at ``wait()``.

    Args:
        tensor: array or Tensor with the dtype and the number of elements of what is sent; overwritten.
        src: global rank of the sender.
        group: None for the world.
        tag: takes only messages sent with this tag.
        group_src: the sender as a group rank, instead of ``src``.

    Raises:
        ValueError, TypeError: as for ``isend``; a read-only array.
        MessageMismatchError: at ``wait()``, on both sides: another dtype or number of elements was sent.
    """
    found = resolve_group(group, "irecv")
    peer = _peer(src, found, group_src, "irecv", ("src", "group_src"))
    array = writeable(tensor, "irecv: tensor")
    flat, _ = flatten(array, copy=True)
    buffer = flat.reshape(array.shape)

    def finish() -> None:
        array[...] = buffer

    world = found.world
    return Work(world, world.irecv(buffer, peer, (found.members.id, USER_CHANNEL, tag), place.caller()), finish)


def send(
    tensor: Any, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0, group_dst: int | None = None
) -> None:
    """Send ``tensor`` to rank ``dst`` and return when that rank has posted its receive. Arguments as for ``isend``."""
    isend(tensor, dst, group, tag, group_dst).wait()


def recv(
    tensor: Any, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0, group_src: int | None = None
) -> int:
    """Receive into ``tensor`` from rank ``src`` and return the sender's global rank. Arguments as for ``irecv``."""
    found = resolve_group(group, "recv")
    irecv(tensor, src, group, tag, group_src).wait()
    if src is not None:
        return src
    assert group_src is not None
    return get_global_rank(found, group_src)
