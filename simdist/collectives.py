"""Which algorithm is the best for this collective, on these machines, at this size?

``league`` plays every algorithm of a collective on a cluster and lists time, messages, bytes on the busiest link and the
distance from the lower bound. ``register`` adds a learner's own, which from then on stands beside the others:

    @sd.collectives.register("all_reduce", name="mine")
    def mine(rank, size):
        yield Step(send=..., recv=...)

An algorithm is accepted when a rehearsal on 1 to 9 ranks (``comm.rehearsal``) shows that it keeps the collective's promise;
otherwise the error says which chunk of which rank is wrong.

**Lower bound.** A rank sends one message at a time, over links of bandwidth b and latency a: no algorithm is faster than
a + moved / b, where *moved* is what some rank must send or receive at least: 2 (p - 1)/p n for an all-reduce, (p - 1)/p n for
a reduce-scatter, an all-gather, a gather, a scatter and an all-to-all, n for a broadcast or a reduce. Source: Chan,
Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and experience", 2007. Latency and
bandwidth are the best that any pair of the ranks has. (Textbooks have ceil(log2 p) a instead of a; they let a sender pay the
latency of each message. Here it is free when the last byte has left, as on a real link, so a star may have many empty
messages on their way.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from .cluster import Cluster
from .cluster.catalogue import resolve
from .comm.algorithm import ALGORITHMS, DEFAULT, Algorithm, per_rank
from .comm.call import Call, Members, Request
from .comm.choose import Chooser
from .comm.chunks import bounds
from .comm.layout import FLAT, Layout
from .comm.promise import keep, promise
from .comm.rehearsal import rehearse
from .comm.step import Step, Transfer
from .cost.closed_forms import CLOSED_FORMS
from .errors import UnknownNameError
from .tensor import MetaArray
from .units import format_bytes, format_time

__all__ = ["League", "Standing", "Step", "Transfer", "algorithms", "league", "lower_bound", "register", "unregister"]

_REHEARSED = range(1, 10)
"""The numbers of ranks on which a learner's algorithm is rehearsed."""

_LEAST_MOVED: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda p: 2 * (p - 1) / p,
    "reduce_scatter": lambda p: (p - 1) / p,
    "all_gather": lambda p: (p - 1) / p,
    "gather": lambda p: (p - 1) / p,
    "scatter": lambda p: (p - 1) / p,
    "all_to_all": lambda p: (p - 1) / p,
    "broadcast": lambda p: 1.0,
    "reduce": lambda p: 1.0,
    "barrier": lambda p: 0.0,
}
"""Collective -> the part of n that some rank must send or receive at least."""


def algorithms(collective: str | None = None) -> list[str]:
    """The names of the algorithms of a collective (None: of all).

    Raises:
        UnknownNameError: no such collective.
    """
    if collective is not None and collective not in DEFAULT:
        raise UnknownNameError("collective", collective, DEFAULT)
    return [name for name, row in ALGORITHMS.items() if collective in (None, row.collective)]


def register(
    collective: str, name: str | None = None, *, pieces: Callable[[int, Layout], int] = per_rank
) -> Callable[[Callable[..., Iterator[Step]]], Callable[..., Iterator[Step]]]:
    """A decorator that adds an algorithm to the table.

    Args:
        collective: what it performs: ``"all_reduce"``.
        name: what it is called; None: as the function.
        pieces: (size, layout) -> into how many chunks the buffer is cut; by default one for each rank.

    Raises:
        UnknownNameError: no such collective.
        ValueError: the name is taken by one of simdist's own.
        AlgorithmError: its steps do not fit together, or do not do what the collective promises.
    """
    if collective not in DEFAULT:
        raise UnknownNameError("collective", collective, DEFAULT)

    def add(steps: Callable[..., Iterator[Step]]) -> Callable[..., Iterator[Step]]:
        row = Algorithm(name or steps.__name__, collective, steps, pieces)
        if row.name in ALGORITHMS and row.name not in _learners:
            raise ValueError(f"there is an algorithm {row.name!r} already; give another name.")
        for size in _REHEARSED:
            for root in sorted({0, size - 1}):
                seen = rehearse(row, size, root)
                keep(row.name, seen, promise(collective, size, root, pieces(size, FLAT)))
        ALGORITHMS[row.name] = row
        _learners.add(row.name)
        return steps

    return add


def unregister(name: str) -> None:
    """Take a registered algorithm out of the table again.

    Raises:
        UnknownNameError: nobody registered it.
    """
    if name not in _learners:
        raise UnknownNameError("registered algorithm", name, _learners)
    _learners.remove(name)
    del ALGORITHMS[name]


_learners: set[str] = set()


def lower_bound(collective: str, num_ranks: int, nbytes: float, latency: float, bandwidth: float) -> float:
    """Seconds that no algorithm beats (see the head of the file).

    Args:
        collective: ``"all_reduce"`` ...
        num_ranks: p.
        nbytes: n, the whole buffer.
        latency: of the best link, seconds.
        bandwidth: of a rank's port, bytes per second.

    Raises:
        UnknownNameError: no such collective.
    """
    if collective not in _LEAST_MOVED:
        raise UnknownNameError("collective", collective, _LEAST_MOVED)
    return latency + _LEAST_MOVED[collective](num_ranks) * nbytes / bandwidth if num_ranks > 1 else 0.0


class _Printer(Protocol):
    """IPython's pretty printer: what it shows of a value at the end of a cell, where no HTML is shown."""

    def text(self, text: str) -> None: ...


class Standing(NamedTuple):
    """How one algorithm did.

    Attributes:
        algorithm: its name.
        seconds: simulated time, all ranks starting together, nothing else on the network.
        num_messages: how many messages it sends.
        busiest: the most bytes that cross one directed link.
        distance: seconds over the lower bound (1.0: nobody can do better).
        formula: its closed form on equal links, in the words of docs/algorithms.md; empty for a learner's own.
    """

    algorithm: str
    seconds: float
    num_messages: int
    busiest: int
    distance: float
    formula: str


@dataclass(frozen=True)
class League:
    """All algorithms of one collective, the fastest first.

    Attributes:
        collective: what they perform.
        cluster: the machines' name.
        world_size: number of ranks.
        nbytes: the whole buffer.
        bound: the lower bound, seconds.
        standings: the table.
        auto: the algorithm that ``sd.run(algorithms="auto")`` takes, by an estimate and without playing any.
    """

    collective: str
    cluster: str
    world_size: int
    nbytes: int
    bound: float
    standings: tuple[Standing, ...]
    auto: str

    @cached_property
    def _cells(self) -> list[tuple[str, ...]]:
        head: tuple[str, ...] = ("algorithm", "time", "messages", "busiest link", "x bound")
        rows: list[tuple[str, ...]] = [
            (s.algorithm, format_time(s.seconds), str(s.num_messages), format_bytes(s.busiest), f"{s.distance:.2f}")
            for s in self.standings
        ]
        return [head, *rows]

    @property
    def title(self) -> str:
        """What was played."""
        return (
            f"{self.collective} of {format_bytes(self.nbytes)} on {self.world_size} ranks of {self.cluster}; "
            f"lower bound {format_time(self.bound)}"
        )

    @property
    def remark(self) -> str:
        """Whom the chooser takes."""
        return f'algorithms="auto" takes {self.auto}'

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self._cells, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
            for row in self._cells
        ]
        return "\n".join([self.title, *lines, self.remark])

    def _repr_pretty_(self, printer: _Printer, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        head, *rows = self._cells
        cells = "".join(f"<th>{cell}</th>" for cell in head)
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<p>{self.title}</p><table><tr>{cells}</tr>{body}</table><p>{self.remark}</p>"


def league(
    collective: str,
    *,
    cluster: str | Path | Cluster = "dgx-a100",
    world_size: int = 8,
    nbytes: int = 1 << 20,
    root: int = 0,
) -> League:
    """Play every algorithm of a collective.

    Args:
        collective: ``"all_reduce"`` ...
        cluster: the machines: a name, a ``Cluster``, a TOML file.
        world_size: number of ranks.
        nbytes: the whole buffer, as the collective counts it (the gathered output, the full input of a scatter, of an
            all-to-all per rank); rounded down to whole blocks where there is one for each rank.
        root: of rooted collectives.

    Raises:
        UnknownNameError: no such collective or cluster.
        ClusterError: more ranks than devices.
    """
    names = algorithms(collective)
    machines = resolve(cluster, world_size)
    routes = [machines.route(a, b) for a in range(world_size) for b in range(min(world_size, 64)) if a != b]
    latency = min([route.latency for route in routes], default=0.0)
    bandwidth = max([route.bandwidth for route in routes], default=float("inf"))
    bound = lower_bound(collective, world_size, nbytes, latency, bandwidth)
    found = [_play(ALGORITHMS[name], machines, world_size, nbytes, root, bound) for name in names]
    found.sort(key=lambda standing: standing.seconds)
    auto, _ = Chooser(machines, {collective: None}).choose(collective, tuple(range(world_size)), nbytes)
    return League(collective, machines.name, world_size, nbytes, bound, tuple(found), auto.name)


def _play(row: Algorithm, cluster: Cluster, size: int, nbytes: int, root: int, bound: float) -> Standing:
    from .sim.timetable import timetable  # `import simdist` alone loads no simulator

    ranks = tuple(range(size))
    _, layout = Chooser(cluster, {row.collective: row}).choose(row.collective, ranks, nbytes)
    calls = [_call(row, layout, ranks, rank, nbytes, root) for rank in ranks]
    table = timetable(calls, cluster)
    seconds = max(table.finish([0.0] * size))
    crossing: Counter[int] = Counter()
    count = 0
    for src, dst, _, _, _, amount in table.messages([0.0] * size):
        count += 1
        for link in cluster.route(src, dst).links:
            crossing[link] += amount
    distance = seconds / bound if bound else 1.0
    formula = CLOSED_FORMS[row.name].text if row.name in CLOSED_FORMS else ""
    return Standing(row.name, seconds, count, max(crossing.values(), default=0), distance, formula)


def _call(row: Algorithm, layout: Layout, ranks: tuple[int, ...], rank: int, nbytes: int, root: int) -> Call:
    """What a rank asks for: bytes without contents."""
    size = len(ranks)
    members = Members(0, ranks, rank, "world")
    in_parts = row.collective in ("gather", "scatter", "all_to_all")
    flat = MetaArray((nbytes // size if in_parts else nbytes,), np.uint8)
    pieces = row.pieces(size, layout)
    cuts = bounds(nbytes, pieces) if pieces > 1 and not in_parts else None
    request = Request(row.collective, members, row, root, cuts, np.add, 0, (), nbytes, layout)
    return Call(request, 0, flat, None, {} if in_parts else None)
