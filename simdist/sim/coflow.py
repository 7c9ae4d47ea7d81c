"""How long does a collective take that shares its links with others?

A *coflow* is a collective seen as one flow (Chowdhury and Stoica, "Coflow: a networking abstraction for cluster
applications", HotNets 2012). Its size is the *chain*: the bytes of the largest message of each round, added up. For every
byte of the chain it uses a link as often as its algorithm carries bytes there: (bytes over the link) / (bytes of the
chain). So the rate of the flow is the rate of one of its messages, and max-min fairness between coflows is the fairness
between their messages. Alone it does not exceed the rate at which its rounds, one after the other, are carried.

All members start with the last one. Alone on its links a coflow ends when the algorithm's rounds say
(``sim.timetable``), and all levels agree. If it has to share, its flow ends later than alone, by a *delay*. When the
collective then ends depends on what the latencies of its rounds do meanwhile; two bounds:

* ``"sync"``: rounds wait for each other, nobody uses the pauses. The delay is added to the time alone.
* ``"fluid"``: while one collective waits for a latency, others move bytes, so latencies cost nothing as long as links are
  busy. The collective ends with its flow, but not before its time alone.

Collectives that keep step are exact under ``"sync"``. Messages of collectives that do not keep step can fall out of phase
and take a little longer than that (measured in the tests: 0.2 %). It costs two computations of rates per collective, whatever the
number of ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from simdist.cluster import Cluster
from simdist.comm.call import Call
from simdist.errors import UnknownNameError

from .link_classes import LinkClasses
from .network import Network
from .timetable import Course, Timetable

__all__ = ["BOUNDS", "Coflow", "Demand", "demand"]

BOUNDS = ("sync", "fluid")
Done = Callable[[list[float]], None]


class Demand(NamedTuple):
    """What a collective wants of the network.

    Attributes:
        links: the links that it uses.
        units: how often it uses each, for each byte of the chain.
        chain: bytes of the largest message of each round, added up.
        limit: bytes of the chain per second, alone.
        durations: seconds that each member takes if all start together and alone.
    """

    links: tuple[int, ...]
    units: tuple[float, ...]
    chain: int
    limit: float
    durations: list[float]


def demand(table: Timetable, ranks: Sequence[int], cluster: Cluster) -> Demand:
    """What the collective of a timetable wants.

    Args:
        table: the rounds.
        ranks: global ranks of the members.
        cluster: the machines.
    """
    totals = table.totals()
    amounts: dict[int, int] = {}
    for src, dst, nbytes in totals.carried:
        for link in cluster.route(ranks[src], ranks[dst]).links:
            amounts[link] = amounts.get(link, 0) + nbytes
    used = {link: amount for link, amount in sorted(amounts.items()) if amount}
    units = tuple([amount / totals.chain for amount in used.values()])
    limit = totals.chain / totals.seconds if totals.seconds else float("inf")
    return Demand(tuple(used), units, totals.chain, limit, table.finish([0.0] * len(ranks)))


class Stretched(NamedTuple):
    """The messages of a collective that was slowed down: what they would have been alone, drawn out."""

    course: Course
    start: float
    factor: float

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """One row for each message."""
        for src, dst, *times, nbytes, label in self.course.rows():
            yield src, dst, *[self.start + (time - self.start) * self.factor for time in times], nbytes, label


class Coflow:
    """The level of the network at which each collective is one flow.

    Args:
        tables: the timetable of a collective.
        network: whose links are shared, with the messages of the user's too.
        bound: a name of ``BOUNDS``.

    Raises:
        UnknownNameError: no such bound.
    """

    def __init__(self, tables: Callable[[Sequence[Call]], Timetable], network: Network, bound: str = "sync") -> None:
        if bound not in BOUNDS:
            raise UnknownNameError("bound of a coflow", bound, BOUNDS)
        self.tables, self.network, self.bound = tables, network, bound
        network.shared.classes = LinkClasses(network.shared.capacities)
        self._demands: dict[int, tuple[Timetable, Demand]] = {}

    def demand(self, table: Timetable, ranks: Sequence[int]) -> Demand:
        """What a timetable wants (worked out once)."""
        found = self._demands.get(id(table))
        if found is None:
            found = self._demands[id(table)] = table, demand(table, ranks, self.network.cluster)
        return found[1]

    def time(self, calls: Sequence[Call], table: Timetable, starts: Sequence[float], done: Done) -> None:
        """Find out when each member is done, and call ``done`` with it when the flow has ended.

        Args:
            calls: one per group rank, in order.
            table: their timetable.
            starts: when each entered, seconds.
            done: called with the end of each member, by group rank.
        """
        request = calls[0].request
        wanted = self.demand(table, request.members.ranks)
        start, alone = max(starts), max(wanted.durations)

        def ended(began: float, end: float) -> None:
            ends = self._ends(wanted, start, end)
            if self.network.flows is not None:
                course = Course(request, calls[0].full_label, table, (start,) * len(calls))
                factor = (max(ends) - start) / alone if end > start + wanted.chain / wanted.limit else 1.0
                self.network.flows.append(Stretched(course, start, factor) if factor > 1.0 else course)
            done(ends)

        key = (-1, request.members.id, calls[0].sequence)
        self.network.shared.start(start, key, wanted.links, wanted.chain, ended, units=wanted.units, limit=wanted.limit)

    def _ends(self, wanted: Demand, start: float, flow_end: float) -> list[float]:
        """When each member is done, by the bound."""
        alone = [start + duration for duration in wanted.durations]
        delay = flow_end - (start + wanted.chain / wanted.limit) if wanted.chain else 0.0
        if delay <= 0.0:
            return alone
        if self.bound == "sync":
            return [end + delay for end in alone]
        return [max(end, flow_end) for end in alone]
