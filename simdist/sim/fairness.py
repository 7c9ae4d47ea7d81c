"""What is a fair share?

**Max-min fairness.** Raise the rates of all flows together from zero. When a link is full, the flows on it stop rising; the
others go on; and so until every flow has stopped (*progressive filling*: Bertsekas and Gallager, "Data Networks", 2nd
edition, 1992, section 6.5.2). A flow that is held back elsewhere thus leaves its share to the others, and no rate can grow
without taking from a flow that has no more than it.

It is done in rounds. The *level* of a link is what each of its flows would get if all rose together; the level of a flow is
the lowest of its links' (or its limit). A link whose flows all have its own level is a bottleneck now: nothing that happens
elsewhere can change it, so its flows stop there; and so does a flow at its limit. What they carry is taken off. Links far
apart are bottlenecks in the same round, so there are few rounds. A level never falls: rounding must not let it sink below
the rates that have stopped on the link.

Two ways do this, loops for few flows and numpy for many. Both make the same additions in the same order, so their results
are equal bit for bit, and it does not show which one was taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Protocol

import numpy as np

__all__ = ["MANY", "Claim", "Remembered", "fair_rates"]

MANY = 50
"""From so many flows on numpy is quicker than loops."""
_NO_LIMIT = float("inf")
_PATTERNS = 256
"""So many patterns are remembered; then all are forgotten."""


class Claim(Protocol):
    """What a flow asks for (see ``sim.flow.Flow``)."""

    links: tuple[int, ...]
    units: tuple[float, ...] | None
    limit: float


def fair_rates(flows: Sequence[Claim], capacities: Sequence[float], *, many: int = MANY) -> list[float]:
    """The max-min fair rates of ``flows``, which have the links to themselves; bytes per second, in their order.

    Args:
        flows: each with at least one link.
        capacities: bytes per second of each link.
        many: from so many flows on numpy computes them; the result is the same, bit for bit.
    """
    return _by_numpy(flows, capacities) if len(flows) >= many else _by_loops(flows, capacities)


class Remembered:
    """The rates of patterns of use that come again: the rounds of a ring are all alike.

    Args:
        capacities: bytes per second of each link.
        many: as for ``fair_rates``.
    """

    def __init__(self, capacities: Sequence[float], many: int = MANY) -> None:
        self.capacities, self.many = capacities, many
        self._known: dict[tuple[tuple[int, ...], ...], tuple[list[float], frozenset[int]]] = {}

    def rates(self, flows: Sequence[Claim]) -> list[float]:
        """As ``fair_rates``; remembered if no flow has units or a limit."""
        found = self.pattern(flows)
        return fair_rates(flows, self.capacities, many=self.many) if found is None else found[0]

    def pattern(self, flows: Sequence[Claim]) -> tuple[list[float], frozenset[int]] | None:
        """The rates of the flows and all links that they use; None if a flow has units or a limit."""
        for flow in flows:
            if flow.units is not None or flow.limit < _NO_LIMIT:
                return None
        pattern = tuple([flow.links for flow in flows])
        found = self._known.get(pattern)
        if found is None:
            if len(self._known) >= _PATTERNS:
                self._known.clear()
            rates = fair_rates(flows, self.capacities, many=self.many)
            found = self._known[pattern] = rates, frozenset(chain.from_iterable(pattern))
        return found


def _by_loops(flows: Sequence[Claim], capacities: Sequence[float]) -> list[float]:
    uses = [
        tuple(zip(flow.links, flow.units or (1.0,) * len(flow.links), strict=True)) for flow in flows
    ]  # fmt: skip
    room = {link: capacities[link] for flow in flows for link in flow.links}
    floor = dict.fromkeys(room, 0.0)
    rates = [0.0] * len(flows)
    rising = list(range(len(flows)))
    while rising:
        units = dict.fromkeys(room, 0.0)
        for index in rising:
            for link, number in uses[index]:
                units[link] += number
        level = {link: max(room[link] / number, floor[link]) for link, number in units.items() if number}
        lowest = dict.fromkeys(level, _NO_LIMIT)
        own: dict[int, float] = {}
        for index in rising:
            own[index] = mine = min(flows[index].limit, min([level[link] for link, _ in uses[index]]))
            for link, _ in uses[index]:
                if mine < lowest[link]:
                    lowest[link] = mine
        used = dict.fromkeys(room, 0.0)
        still = []
        for index in rising:
            mine = own[index]
            if mine == flows[index].limit or any(lowest[link] == level[link] == mine for link, _ in uses[index]):
                rates[index] = mine
                for link, number in uses[index]:
                    used[link] += number * mine
                    floor[link] = max(floor[link], mine)
            else:
                still.append(index)
        for link, amount in used.items():
            room[link] -= amount
        rising = still
    return rates


def _by_numpy(flows: Sequence[Claim], capacities: Sequence[float]) -> list[float]:
    number = [len(flow.links) for flow in flows]
    names, link = np.unique(
        np.fromiter(chain.from_iterable([flow.links for flow in flows]), np.intp), return_inverse=True
    )
    units = np.fromiter(
        chain.from_iterable([flow.units or (1.0,) * len(flow.links) for flow in flows]), np.float64, len(link)
    )
    flow = np.repeat(np.arange(len(flows)), number)
    limit = np.array([flow.limit for flow in flows])
    room = np.array([capacities[name] for name in names.tolist()])
    floor = np.zeros(len(room))
    rates = np.zeros(len(flows))
    rising = np.arange(len(flows))
    while len(rising):
        total = np.bincount(link, units, len(room))
        level = np.full(len(room), _NO_LIMIT)
        np.divide(room, total, out=level, where=total > 0)
        np.maximum(level, floor, out=level)
        level_here = level[link]
        first = np.flatnonzero(np.diff(flow, prepend=-1))
        own = np.minimum(np.minimum.reduceat(level_here, first), limit[rising])
        own_here = np.repeat(own, np.diff(first, append=len(flow)))
        lowest = np.full(len(room), _NO_LIMIT)
        np.minimum.at(lowest, link, own_here)
        bottleneck = (lowest[link] == level_here) & (level_here == own_here)
        stops = np.logical_or.reduceat(bottleneck, first) | (own == limit[rising])
        rates[rising[stops]] = own[stops]
        stops_here = np.repeat(stops, np.diff(first, append=len(flow)))
        stopped = link[stops_here]
        room -= np.bincount(stopped, units[stops_here] * own_here[stops_here], len(room))
        np.maximum.at(floor, stopped, own_here[stops_here])
        rising = rising[~stops]
        link, units, flow = link[~stops_here], units[~stops_here], flow[~stops_here]
    found: list[float] = rates.tolist()
    return found
