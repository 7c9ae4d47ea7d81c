"""How can a tree of few rounds use every link in both directions all the time?

In one binary tree, cut into pieces and pipelined, the leaves (half of the ranks) only receive and the inner ranks send twice
what they receive. Two trees mend that: half of the buffer goes through each, and the leaves of one are the inner ranks of the
other. So every rank sends and receives one piece in every round.

* **The trees.** The root stands outside; the other ranks have positions 1 to p - 1, seen from the root. In the first tree they
  stand in order (left subtree, rank, right subtree), so the odd positions are its leaves. The second tree is the mirror image
  if p is odd, where mirroring swaps odd and even, and else the first one shifted by one position. The root sends to the top of
  each tree.
* **The rounds.** A rank may send one piece and receive one piece in a round. The edges get two colours such that nobody has two
  outgoing or two incoming edges of one colour; edges of one colour are used in even rounds, the others in odd ones. Such
  colours exist: nobody has more than two edges of a kind, so edges that share a sender or a receiver form paths and even cycles.

Piece k of a tree follows piece 0 by 2 k rounds. With m pieces for each tree a broadcast has 2 m - 2 + d rounds of a message of
n / (2 m), where piece 0 arrives everywhere after d rounds: d = 2 ceil(log2 p), less one unless p is a power of two or p mod 4
is 3. So (2 m - 2 + d)(alpha + n / (2 m) beta), which comes close to n beta for long buffers; a few latencies less where a rank
has only to send. The best m is about sqrt((d - 2) n beta / (4 alpha)). Reduce is the same in the opposite order, all-reduce one
after the other.

Source: Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing
35 (12), 2009. NCCL's trees are a relative (Jeaugey, "Massively scale your deep learning training with NCCL 2.4", 2019).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, product, repeat
from typing import NamedTuple

from .layout import FLAT, Layout
from .step import Step, Transfer

__all__ = ["double_tree_all_reduce", "double_tree_broadcast", "double_tree_reduce", "edges_of", "in_two_trees"]

_Trees = tuple[dict[int, int], dict[int, int]]
"""Child -> parent in each of the two trees."""


def in_two_trees(size: int, layout: Layout) -> int:
    """As many pieces as the layout says, for each of the two trees."""
    return 2 * layout.pieces


def double_tree_broadcast(rank: int, size: int, root: int = 0, layout: Layout = FLAT) -> Iterator[Step]:
    """Hand each piece down its tree."""
    rounds = _rounds(rank, size, root, layout.pieces)
    for number in sorted(rounds):
        down, up = rounds[number]
        yield Step(send=down, recv=up)


def double_tree_reduce(rank: int, size: int, root: int = 0, layout: Layout = FLAT) -> Iterator[Step]:
    """The same backwards: combine what the children bring, hand it up."""
    rounds = _rounds(rank, size, root, layout.pieces)
    for number in sorted(rounds, reverse=True):
        down, up = rounds[number]
        yield Step(send=up, recv=down, combine=down is not None)
    if rank == root:
        yield Step(finish=tuple(range(2 * layout.pieces)))


def double_tree_all_reduce(rank: int, size: int, root: int = 0, layout: Layout = FLAT) -> Iterator[Step]:
    """Up both trees to rank 0, and down again."""
    yield from double_tree_reduce(rank, size, 0, layout)
    yield from double_tree_broadcast(rank, size, 0, layout)


def edges_of(size: int, colour: int) -> list[tuple[int, int]]:
    """(parent, child) of the edges that are used in even rounds (``colour`` 0) or in odd ones (1), for the root 0."""
    schedule = _schedule(size)
    return [
        (edge.parent, edge.child)
        for position in range(size)
        for edge in schedule[position]
        if edge.parent == position and edge.first % 2 == colour
    ]


class _Edge(NamedTuple):
    """``first``: the round in which piece 0 of tree ``tree`` goes from position ``parent`` down to position ``child``."""

    first: int
    tree: int
    parent: int
    child: int


def _rounds(rank: int, size: int, root: int, pieces: int) -> dict[int, list[Transfer | None]]:
    """Round of a broadcast -> [what this rank hands down, what it gets from above]."""
    position = (rank - root) % size
    found: dict[int, list[Transfer | None]] = {}
    for first, tree, parent, child in _schedule(size)[position]:
        peer = ((child if position == parent else parent) + root) % size
        for piece in range(pieces):
            pair = found.setdefault(first + 2 * piece, [None, None])
            pair[position == child] = Transfer(peer, (tree * pieces + piece,))
    return found


@lru_cache(maxsize=64)
def _schedule(size: int) -> tuple[tuple[_Edge, ...], ...]:
    """The edges of each position, in the colours with which piece 0 arrives everywhere first."""
    trees = _trees(size)
    edges = min((_coloured(trees, starts) for starts in product((0, 1), repeat=2)), key=_depth)
    found: list[list[_Edge]] = [[] for _ in range(size)]
    for edge in edges:
        found[edge.parent].append(edge)
        found[edge.child].append(edge)
    return tuple(map(tuple, found))


def _depth(edges: list[_Edge]) -> int:
    """After how many rounds piece 0 of both trees has arrived everywhere."""
    return max([edge.first + 1 for edge in edges], default=0)


def _coloured(trees: _Trees, starts: tuple[int, ...]) -> list[_Edge]:
    """All edges; the walks along edges that must differ in colour begin with the colours ``starts``."""
    colours = _colours(trees, starts)
    edges = []
    for tree, parents in enumerate(trees):
        arrival = {0: 0}  # position -> the round from which it has piece 0; parents come first
        for child, parent in parents.items():
            first = arrival[parent] + (arrival[parent] + colours[tree, child]) % 2
            arrival[child] = first + 1
            edges.append(_Edge(first, tree, parent, child))
    return edges


def _trees(size: int) -> _Trees:
    """Both trees; parents are listed before their children, and 0 is above the top."""
    last = size - 1
    first: dict[int, int] = {}
    open_ranges = [(1, last, 0)]
    while open_ranges:
        low, high, parent = open_ranges.pop()
        if low <= high:
            top = low - 1 + (1 << ((high - low + 1).bit_length() - 1))
            first[top] = parent
            open_ranges += [(low, top - 1, top), (top + 1, high, top)]

    def other(position: int) -> int:
        if not position:
            return 0
        return position % last + 1 if last % 2 else size - position

    return first, {other(child): other(parent) for child, parent in first.items()}


def _colours(trees: _Trees, starts: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """(tree, child) -> 0 or 1, by walking along edges that share a receiver (in the other tree) or a sender."""
    below: dict[int, list[tuple[int, int]]] = {}
    for tree, parents in enumerate(trees):
        for child, parent in parents.items():
            below.setdefault(parent, []).append((tree, child))
    colours: dict[tuple[int, int], int] = {}
    colour_of_walk = chain(starts, repeat(0))
    for start in [(tree, child) for tree, parents in enumerate(trees) for child in parents]:
        if start in colours:
            continue
        open_edges = [(start, next(colour_of_walk))]
        while open_edges:
            edge, colour = open_edges.pop()
            if edge in colours:
                continue
            colours[edge] = colour
            tree, receiver = edge
            siblings = [other for other in below[trees[tree][receiver]] if other != edge]
            open_edges += [(other, 1 - colour) for other in [(1 - tree, receiver), *siblings]]
    return colours
