"""How does a collective that runs message by message reach the network?

The simulator's implementation of the seam ``comm.transport``: messages of one group, posted at the clock of one task.
"""

from __future__ import annotations

from typing import Any

from simdist.comm.call import Members
from simdist.comm.transport import Tag

from .kernel import Task
from .message import Side
from .network import Network

__all__ = ["GroupTransport"]


class GroupTransport:
    """Messages inside one group, on the clock of one task.

    Attributes:
        waited: seconds for which the task has waited for partners to post.
    """

    __slots__ = ("_label", "_me", "_network", "_ranks", "_task", "rank", "size", "waited")

    def __init__(self, network: Network, task: Task, members: Members, label: str) -> None:
        self._network, self._task, self._ranks, self._label = network, task, members.ranks, label
        self._me = members.ranks[members.rank]
        self.rank, self.size = members.rank, len(members.ranks)
        self.waited = 0.0

    def isend(self, buf: Any, dst: int, tag: Tag) -> Side:
        """Post a send to group rank ``dst``."""
        side = self._network.send(self._task.now, self._me, self._ranks[dst], tag, buf, self._label)
        side.on_wait = self._count
        return side

    def irecv(self, buf: Any, src: int, tag: Tag, combine: Any = None) -> Side:
        """Post a receive from group rank ``src``."""
        lower = src < self.rank
        side = self._network.receive(self._task.now, self._ranks[src], self._me, tag, buf, combine, lower, self._label)
        side.on_wait = self._count
        return side

    def _count(self, began: float, side: Side) -> None:
        assert side.ready is not None and side.done is not None
        self.waited += max(0.0, min(side.ready, side.done) - began)
