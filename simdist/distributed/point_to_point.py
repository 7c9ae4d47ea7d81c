"""How do two ranks talk?

``send`` and ``recv`` block; ``isend`` and ``irecv`` return a ``Work``. A send is complete when the other side has
posted its receive (a rendezvous), even for a few bytes: two ranks that both send first wait for each other for ever.
Tags select; messages of one tag between the same two ranks arrive in order.
"""

from __future__ import annotations

from typing import Any

from simdist import place
from simdist.comm.execute import USER_CHANNEL
from simdist.comm.transport import tag_text
from simdist.errors import GroupError

from .buffer import array_of, flatten, writeable
from .group import NOT_A_MEMBER, ProcessGroup, get_global_rank
from .group import resolve as resolve_group
from .loan import Lender, Lent, Loan, lend, refuse_lent
from .work import Work

__all__ = ["irecv", "isend", "peer_of", "recv", "send"]


def peer_of(
    rank: int | None,
    group: ProcessGroup,
    group_rank: int | None,
    what: str,
    names: tuple[str, str],
    *,
    itself: bool = False,
) -> int:
    """The global rank of the other side, given as a global or as a group rank.

    Raises:
        GroupError: no such rank; both given or none; the own one, unless ``itself``; the caller is no member.
    """
    me = group.world.rank
    if group.members.rank == NOT_A_MEMBER:
        raise GroupError(f"rank {me} calls {what} on {group!r}, of which it is no member.")
    if (rank is None) == (group_rank is None):
        raise GroupError(
            f"{what}: give either {names[0]} (a global rank) or {names[1]} (a group rank), not both or none."
        )
    if group_rank is not None:
        rank = get_global_rank(group, group_rank)
    assert rank is not None
    if rank not in group.members.ranks:
        raise GroupError(f"rank {me}: {what}({names[0]}={rank}): there is no such rank in {group!r}.")
    if rank == me and not itself:
        raise GroupError(
            f"rank {me}: {what}({names[0]}={rank}) is a message to itself; nobody would take it. Copy the array instead."
        )
    return rank


def isend(
    tensor: Any, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0, group_dst: int | None = None
) -> Work:
    """Start to send ``tensor`` (its contents at this call) to rank ``dst``; leave it alone until ``wait()``.

    Args:
        tensor: array or Tensor of any shape.
        dst: global rank of the receiver.
        group: None for the world.
        tag: chooses which receive may take it.
        group_dst: the receiver as a group rank, instead of ``dst``.

    Raises:
        ValueError: no such rank, or the own one.
        TypeError: not an array.
        BufferInUseError: the array is the result of an operation that has not been waited for.
    """
    return _isend(tensor, dst, group, tag, group_dst, guarded=True)


def _isend(
    tensor: Any, dst: int | None, group: ProcessGroup | None, tag: int, group_dst: int | None, *, guarded: bool
) -> Work:
    found = resolve_group(group, "isend")
    peer = peer_of(dst, found, group_dst, "isend", ("dst", "group_dst"))
    array = array_of(tensor, "isend: tensor")
    flat, _ = flatten(array, copy=False)
    world = found.world
    tagged, where = (found.members.id, USER_CHANNEL, tag), place.caller()
    loan = _guard(
        Lender(world, lambda: f"{'isend' if guarded else 'send'} to rank {peer} ({tag_text(tagged)})", where),
        ((), (tensor,)),
        guarded,
    )
    inner = world.isend(flat.reshape(array.shape), peer, tagged, where)
    return Work(world, inner, None, found.timeout, loan=loan)


def _guard(lender: Lender, lent: Lent, guarded: bool) -> Loan | None:
    """Refuse arrays that belong to another operation; let this one own them, unless the caller waits for it at once."""
    if not lender.world.checked:
        return None
    refuse_lent(lender.world, lender.name, lent)
    return lend(lender, lent) if guarded else None


def irecv(
    tensor: Any, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0, group_src: int | None = None
) -> Work:
    """Start to receive into ``tensor`` from rank ``src``; its contents are there after ``wait()``.

    Without ``src`` and ``group_src`` it takes the message of whoever sends first: in simulation the earliest by the clock
    (of equally early ones that of the lowest rank), on a real backend whichever is there. ``Work.source_rank()`` tells
    whose it was. While such a receive is open, do not post one from a named rank with the same tag.

    Args:
        tensor: array or Tensor with the dtype and the number of elements of what is sent; overwritten.
        src: global rank of the sender; None: any member of the group.
        group: None for the world.
        tag: takes only messages sent with this tag.
        group_src: the sender as a group rank, instead of ``src``.

    Raises:
        ValueError, TypeError: as for ``isend``; a read-only array.
        MessageMismatchError: at ``wait()``, on both sides: another dtype or number of elements was sent.
    """
    return _irecv(tensor, src, group, tag, group_src, guarded=True)


def _irecv(
    tensor: Any, src: int | None, group: ProcessGroup | None, tag: int, group_src: int | None, *, guarded: bool
) -> Work:
    found = resolve_group(group, "irecv")
    source = _source(src, found, group_src)
    array = writeable(tensor, "irecv: tensor")
    flat, _ = flatten(array, copy=True)
    buffer = flat.reshape(array.shape)

    def finish() -> None:
        array[...] = buffer

    world, where, tagged = found.world, place.caller(), (found.members.id, USER_CHANNEL, tag)
    who = f"rank {source}" if isinstance(source, int) else "any rank"
    loan = _guard(
        Lender(world, lambda: f"{'irecv' if guarded else 'recv'} from {who} ({tag_text(tagged)})", where),
        ((tensor,), ()),
        guarded,
    )
    inner = world.irecv(buffer, source, tagged, where)
    return Work(world, inner, finish, found.timeout, (tensor,), receives=True, loan=loan)


def _source(src: int | None, group: ProcessGroup, group_src: int | None) -> int | tuple[int, ...]:
    """The rank to receive from, or all of whom the first one will do."""
    if src is not None or group_src is not None:
        return peer_of(src, group, group_src, "irecv", ("src", "group_src"))
    others = tuple([rank for rank in group.members.ranks if rank != group.world.rank])
    if group.members.rank == NOT_A_MEMBER or not others:
        raise GroupError(f"rank {group.world.rank}: irecv from any rank of {group!r}: there is nobody who could send.")
    return others


def send(
    tensor: Any, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0, group_dst: int | None = None
) -> None:
    """Send ``tensor`` to rank ``dst`` and return when that rank has posted its receive. Arguments as for ``isend``."""
    _isend(tensor, dst, group, tag, group_dst, guarded=False).wait()


def recv(
    tensor: Any, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0, group_src: int | None = None
) -> int:
    """Receive into ``tensor`` from rank ``src`` (None: from any) and return the sender's global rank; see ``irecv``."""
    work = _irecv(tensor, src, group, tag, group_src, guarded=False)
    work.wait()
    return work.source_rank()
