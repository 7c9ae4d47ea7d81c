"""Three tiny programs, as the rows of their traces. Their breakdowns and critical paths are worked out by hand.

All times are sums of powers of two, so every difference is exact.
"""

from __future__ import annotations

from simdist.trace import Trace

SUM = {
    "group": "world",
    "sequence": 0,
    "bytes": 8,
    "size": 2,
    "algorithm": "ring_all_reduce",
    "collective": "all_reduce",
}
LATE = {"op": "all_reduce #0", "group": "world", "for": [1]}


def straggler() -> Trace:
    """Rank 0 computes 1 s, rank 1 computes 3 s; then they all-reduce, which takes 0.5 s."""
    spans = [
        (0, "main", "compute", "short", 0.0, 1.0, None),
        (1, "main", "compute", "long", 0.0, 3.0, None),
        (0, "main", "wait", "all_reduce #0", 1.0, 3.0, LATE),
        (0, "comm:0", "wait", "all_reduce #0", 1.0, 3.0, LATE),
        *((r, s, "communication", "all_reduce #0", 3.0, 3.5, SUM) for r in (0, 1) for s in ("main", "comm:0")),
    ]
    flows = [(r, 1 - r, 3.0, 3.0, 3.25, 4, "all_reduce #0 of group 'world'") for r in (0, 1)]
    flows += [(r, 1 - r, 3.25, 3.25, 3.5, 4, "all_reduce #0 of group 'world'") for r in (0, 1)]
    return Trace(spans, flows, world_size=2, end=3.5, meta={"name": "straggler"})


def overlap() -> Trace:
    """Both ranks: forward 1 s, backward 2 s; a bucket, ready in the middle of backward, takes 1.5 s; update 0.25 s."""
    spans = []
    for rank in (0, 1):
        spans += [
            (rank, "main", "forward", "linear", 0.0, 1.0, None),
            (rank, "main", "backward", "linear", 1.0, 2.0, None),
            (rank, "comm:0", "communication", "all_reduce #0", 2.0, 3.5, SUM),
            (rank, "main", "backward", "linear", 2.0, 3.0, None),
            (rank, "main", "communication", "all_reduce #0", 3.0, 3.5, SUM),
            (rank, "main", "launch", "sgd", 3.5, 3.625, None),
            (rank, "main", "optimizer", "sgd", 3.625, 3.875, None),
        ]
    memory = [(0, 0.0, "parameters", 800), (0, 2.0, "buckets", 400), (1, 0.0, "parameters", 800)]
    return Trace(spans, [], memory, world_size=2, end=3.875, meta={"name": "overlap", "seed": 0, "rate": 0.1})


def chain() -> Trace:
    """Rank 0 computes 2 s, sends for 0.25 s and returns; rank 1 sleeps 1 s, receives, computes 1 s."""
    spans = [
        (0, "main", "compute", "make", 0.0, 2.0, None),
        (0, "main", "communication", "tag 0: send to rank 1", 2.0, 2.25, {"op": "tag 0: send to rank 1"}),
        (0, "main", "idle", "returned", 2.25, 3.25, None),
        (1, "main", "sleep", "sleep", 0.0, 1.0, None),
        (1, "main", "wait", "tag 0: recv from rank 0", 1.0, 2.0, {"for": [0], "op": "tag 0: recv from rank 0"}),
        (1, "main", "communication", "tag 0: recv from rank 0", 2.0, 2.25, {"op": "tag 0: recv from rank 0"}),
        (1, "main", "compute", "use", 2.25, 3.25, None),
    ]
    return Trace(spans, [(0, 1, 2.0, 2.0, 2.25, 1000, "tag 0")], world_size=2, end=3.25)


PROGRAMS = (straggler, overlap, chain)
