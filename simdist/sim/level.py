"""How closely is the network looked at?

A level answers one question about a collective whose members have all come: when is each of them done?

* ``formula``: all start when the last one comes, alone on the network. One closed form, worked out once for each kind of
  collective and kept: the time of the algorithm's rounds. For planning with thousands of ranks.
* ``steps``: the recurrence of ``sim.timetable``, from each rank's own start: stragglers delay their neighbours round by
  round. Still alone on the network.
* ``coflow`` (``sim.coflow``): one weighted flow per collective over all its links, which shares them fairly with everything
  else that moves.
* ``messages`` (``sim.network``): every message on its own. The oracle.

On an idle network with ranks that start together all four agree. The level never changes a number of the user's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from simdist.cluster import Cluster
from simdist.comm.call import Call

from .coflow import Coflow
from .kernel import Kernel
from .network import Network
from .timetable import Course, Timetable, timetable

__all__ = ["LEVELS", "MESSAGES", "Formula", "Level", "Row", "Steps", "Timetables"]

Done = Callable[[list[float]], None]
"""Called with when each member is done, seconds, by group rank."""


class Level(Protocol):
    """A way to time collectives."""

    @property
    def tables(self) -> Callable[[Sequence[Call]], Timetable]:
        """The timetable of a collective."""

    def time(self, calls: Sequence[Call], table: Timetable, starts: Sequence[float], done: Done) -> None:
        """Find out when each member is done, and call ``done`` with it: at once, or when the clock has come so far.

        Args:
            calls: one per group rank, in order.
            table: their timetable.
            starts: when each entered, seconds.
            done: called with the end of each member, by group rank.
        """


class Timetables:
    """The timetables of a run, each made once.

    Args:
        cluster: the machines.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._kept: dict[Any, Timetable] = {}

    def of(self, calls: Sequence[Call]) -> Timetable:
        """The timetable of a collective."""
        first = calls[0]
        request = first.request
        key: tuple[Any, ...] = (request.algorithm, request.root, request.layout, request.members.ranks, request.cuts)
        if first.parts is None:
            key += (first.flat.nbytes,)
        elif request.name == "all_to_all_single" or request.name == "all_to_all":
            key += tuple([part.nbytes for call in calls for _, part in sorted((call.parts or {}).items())])
        else:
            key += (first.flat.nbytes, "parts")
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = timetable(calls, self.cluster)
        return found


class Steps:
    """Round by round, from each rank's own start.

    Args:
        timetables: the run's.
        flows: where messages are recorded, or None.
    """

    def __init__(self, timetables: Timetables, flows: list[Any] | None) -> None:
        self.tables, self.flows = timetables.of, flows

    def time(self, calls: Sequence[Call], table: Timetable, starts: Sequence[float], done: Done) -> None:
        """As ``Level.time``."""
        if self.flows is not None:
            self.flows.append(Course(calls[0].request, calls[0].full_label, table, tuple(starts)))
        done(table.finish(starts))


class Formula:
    """All start with the last one; the durations are known beforehand.

    Args:
        timetables: the run's.
        flows: where messages are recorded, or None.
    """

    def __init__(self, timetables: Timetables, flows: list[Any] | None) -> None:
        self.tables, self.flows = timetables.of, flows
        self._durations: dict[Timetable, list[float]] = {}

    def time(self, calls: Sequence[Call], table: Timetable, starts: Sequence[float], done: Done) -> None:
        """As ``Level.time``."""
        durations = self._durations.get(table)
        if durations is None:
            durations = self._durations[table] = table.finish([0.0] * len(starts))
        last = max(starts)
        if self.flows is not None:
            self.flows.append(Course(calls[0].request, calls[0].full_label, table, (last,) * len(starts)))
        done([last + duration for duration in durations])


class Row(NamedTuple):
    """One level.

    Attributes:
        name: as in ``sd.run(network=...)``.
        text: what it does, in a line.
        make: what times collectives at this level; None where ranks send their own messages.
        assumes: names of ``assumptions.ASSUMPTIONS``: outside of them it is inexact, and the run's report says so.
    """

    name: str
    text: str
    make: Callable[[Kernel, Network], Level | None]
    assumes: tuple[str, ...] = ()


def _messages(kernel: Kernel, network: Network) -> Level | None:
    return None


def _steps(kernel: Kernel, network: Network) -> Level:
    return Steps(Timetables(network.cluster), network.flows)


def _formula(kernel: Kernel, network: Network) -> Level:
    return Formula(Timetables(network.cluster), network.flows)


def _coflow(kernel: Kernel, network: Network) -> Level:
    return Coflow(Timetables(network.cluster).of, network)


def _coflow_fluid(kernel: Kernel, network: Network) -> Level:
    return Coflow(Timetables(network.cluster).of, network, "fluid")


MESSAGES = "messages"

LEVELS: dict[str, Row] = {
    row.name: row
    for row in (
        Row("formula", "each collective alone, all ranks together: one closed form", _formula, ("together", "alone")),
        Row(
            "coflow",
            "each collective one flow that shares links with all others; rounds wait for each other",
            _coflow,
            ("together", "unmixed"),
        ),
        Row(
            "coflow-fluid",
            "the same, optimistic: latencies hide behind the bytes of others",
            _coflow_fluid,
            ("together", "unmixed"),
        ),
        Row("steps", "each collective alone, round by round from each rank's own start", _steps, ("together", "alone")),
        Row(MESSAGES, "every message on its own, links shared with all others", _messages),
    )
}
"""The network levels by name, the cheapest first."""
