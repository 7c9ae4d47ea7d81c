"""What may an algorithm know about where its ranks are?

Most algorithms need to know nothing: they see ranks 0 to p - 1. A hierarchical one needs to know who lives in the same
node, a pipelined one into how many pieces the buffer is cut, a torus its rows. A ``Layout`` tells that, in group ranks
and as a value, so that all ranks of a group can agree on it and plans can be kept.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FLAT", "Layout"]


class Layout(NamedTuple):
    """Where the ranks of one group are.

    Attributes:
        nodes: the group ranks of each node, in ascending order; empty if nothing is known or all share one node.
        pieces: into how many pieces a pipelined algorithm cuts the buffer.
    """

    nodes: tuple[tuple[int, ...], ...] = ()
    pieces: int = 1

    def rows(self, size: int) -> tuple[tuple[int, ...], ...]:
        """The ranks in rows of equal length: the nodes if they are alike, else the most square arrangement in rank order.

        Nodes of one rank each are no rows: they would make a single column of all.
        """
        lengths = {len(node) for node in self.nodes}
        if len(lengths) == 1 and lengths != {1}:
            return self.nodes
        columns = next(c for c in range(int(size**0.5), 0, -1) if size % c == 0)
        columns = size // columns
        return tuple(tuple(range(first, first + columns)) for first in range(0, size, columns))


FLAT = Layout()
"""Nothing is known."""
