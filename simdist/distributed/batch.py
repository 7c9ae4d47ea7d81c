"""How does a rank post several messages at once?

``P2POp`` describes one send or receive without starting it; ``batch_isend_irecv`` starts all of a list. Since nothing blocks
before everything is posted, the order of sends and receives in the list does not matter; messages in one direction between
the same two ranks still match in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .group import ProcessGroup, resolve
from .point_to_point import irecv, isend, peer_of
from .work import Work

__all__ = ["P2POp", "batch_isend_irecv"]


class P2POp:
    """A send or a receive that has not begun.

    Args:
        op: ``isend`` or ``irecv``.
        tensor: what is sent, or received into.
        peer: global rank of the other side.
        group: None for the world.
        tag: as for ``isend``.
        group_peer: the other side as a group rank, instead of ``peer``.

    Raises:
        ValueError: ``op`` is something else; not exactly one of ``peer`` and ``group_peer``.
    """

    def __init__(
        self,
        op: Callable[..., Work],
        tensor: Any,
        peer: int | None = None,
        group: ProcessGroup | None = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(f"P2POp: op must be isend or irecv, got {getattr(op, '__name__', op)!r}.")
        self.op, self.tensor, self.tag = op, tensor, tag
        self.group = resolve(group, "P2POp")
        self.peer = peer_of(peer, self.group, group_peer, "P2POp", ("peer", "group_peer"), itself=True)

    def __repr__(self) -> str:
        return f"P2POp({self.op.__name__}, rank {self.peer}, tag {self.tag}, {self.group!r})"


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Work]:
    """Start all operations of the list, and return a Work for each, in order.

    Args:
        p2p_op_list: what to start.

    Raises:
        IndexError: the list is empty.
        ValueError: an element is no P2POp, or names another group than the first; a message to itself.
    """
    if not p2p_op_list:
        raise IndexError("batch_isend_irecv: the list is empty; leave the call out on ranks that have nothing to send.")
    for i, op in enumerate(p2p_op_list):
        if not isinstance(op, P2POp):
            raise ValueError(f"batch_isend_irecv: element {i} must be a P2POp, got {type(op).__name__}.")
        if op.group is not p2p_op_list[0].group:
            raise ValueError(f"batch_isend_irecv: element {i} belongs to {op.group!r}, element 0 to another group.")
    return [op.op(op.tensor, op.peer, op.group, op.tag) for op in p2p_op_list]
