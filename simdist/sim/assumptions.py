"""Was the network looked at closely enough for what happened on it?

Each level but ``messages`` assumes something about collectives (``ASSUMPTIONS``), which saves it from looking at their
messages. Whether it was so is known when the run is over: ``Observed`` keeps when each collective began and ended, and then
tells, for each assumption that did not hold, how often, an example, and which level looks closer. A run that tells nothing
was inside its level's range.

* ``together``: nobody can go on before the last member has come. True of symmetric algorithms, whenever their members come;
  of the others (a broadcast, a reduce) only if all come at once.
* ``alone``: no link that a collective uses carries anything else meanwhile.
* ``unmixed``: collectives that share links have either bytes to wait for or latencies, to a hundredth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from simdist.cluster import Cluster
from simdist.comm.call import Call
from simdist.units import format_time

from .timetable import Timetable

__all__ = ["ASSUMPTIONS", "Observed"]

_LATE = 0.01
"""Members come together if the last comes within this part of the collective's duration."""
_SLACK = 1e-9
"""Two things overlap if it is by more than this part of the time since the start of the run."""


class _Seen(NamedTuple):
    """One collective, or one message of the user's (without a timetable: two ranks, one exchange)."""

    label: str
    ranks: tuple[int, ...]
    table: Timetable | None
    symmetric: bool
    came: float
    start: float
    end: float


class Observed:
    """What happened on the network of one run.

    Args:
        cluster: the machines.
        flows: the recorded messages; None if the run keeps none: then only collectives are seen.
    """

    def __init__(self, cluster: Cluster, flows: list[Any] | None) -> None:
        self.cluster, self.flows = cluster, flows
        self._collectives: list[_Seen] = []
        self._links: dict[Any, np.ndarray[Any, Any]] = {}
        self._latencies: dict[int, float] = {}

    def collective(self, first: Call, table: Timetable, starts: Sequence[float], ends: Sequence[float]) -> None:
        """A collective is over: its members came at ``starts`` and went on at ``ends``."""
        request = first.request
        self._collectives.append(
            _Seen(
                first.full_label,
                request.members.ranks,
                table,
                request.algorithm.symmetric,
                min(starts),
                max(starts),
                max(ends),
            )
        )

    def notes(self, assumptions: Sequence[str], level: str) -> list[str]:
        """One sentence for each of ``assumptions`` (names of ``ASSUMPTIONS``) that did not hold.

        Args:
            assumptions: what the level relies on.
            level: its name.
        """
        if not self._collectives:
            return []
        return [f"network={level!r} {text}" for name in assumptions for text in ASSUMPTIONS[name](self)]

    # -- the assumptions --------------------------------------------------------------------------------------------

    def late(self) -> Iterator[str]:
        """Who came late to a collective in which not everybody has to wait."""
        late = [
            seen
            for seen in self._collectives
            if not seen.symmetric and seen.start - seen.came > _LATE * (seen.end - seen.start)
        ]
        if late:
            worst = max(late, key=lambda seen: seen.start - seen.came)
            yield (
                f"lets nobody go on before the last member has come. In {self._count(late)} that is too late for some: in "
                f"{worst.label} the members came up to {format_time(worst.start - worst.came)} apart. "
                "network='messages' lets each go on when its own messages are done."
            )

    def shared(self) -> Iterator[str]:
        """Which collectives had company on their links."""
        meetings = self._overlapping()
        if meetings:
            one, other, when = meetings[0]
            yield (
                f"gives each collective its links for itself, but {self._count([seen for seen, _, _ in meetings])} shared one: "
                f"{one.label} with {other.label}, at {format_time(when)}. So the run seems faster than it would be. "
                "network='coflow' shares links, 'messages' too."
            )

    def mixed(self) -> Iterator[str]:
        """Which collectives had company on their links, and both bytes and latencies to wait for."""
        mixed = [seen for seen, _, _ in self._overlapping() if _LATE < self._latency(seen) < 1.0 - _LATE]
        if mixed:
            yield (
                f"knows only bounds of what happens in the latencies of collectives that share links: {self._count(mixed)}, "
                f"such as {mixed[0].label}, of whose time {self._latency(mixed[0]):.0%} would be latency if it were alone. "
                "The truth lies between network='coflow-fluid' and 'coflow'; 'messages' knows it."
            )

    # -- helpers ----------------------------------------------------------------------------------------------------

    def _count(self, some: Sequence[_Seen]) -> str:
        return f"{len(dict.fromkeys(some))} of {len(self._collectives)} collectives"

    def _latency(self, seen: _Seen) -> float:
        """The part of a collective's time alone in which no byte moves."""
        if seen.table is None:
            return 0.0
        found = self._latencies.get(id(seen.table))
        if found is None:
            alone = max(seen.table.finish([0.0] * len(seen.ranks)))
            found = self._latencies[id(seen.table)] = 1.0 - seen.table.totals().seconds / alone if alone else 0.0
        return found

    def _overlapping(self) -> list[tuple[_Seen, _Seen, float]]:
        """(the collective, whom it met, when) for each collective that met another, or a message, on a link."""
        everything = sorted(self._collectives + list(self._messages()), key=lambda seen: seen.start)
        until = np.zeros(len(self.cluster.links))
        owner = np.full(len(self.cluster.links), -1)
        found = []
        for number, seen in enumerate(everything):
            links = self._used(seen)
            if not len(links):
                continue
            busiest = links[until[links].argmax()]
            if until[busiest] > seen.start + _SLACK * seen.end:
                other = everything[owner[busiest]]
                if seen.table is not None:
                    found.append((seen, other, seen.start))
                elif other.table is not None:
                    found.append((other, seen, seen.start))
            longer = links[until[links] < seen.end]
            until[longer], owner[longer] = seen.end, number
        return found

    def _messages(self) -> Iterator[_Seen]:
        """The user's own messages (packed rows are a collective's)."""
        for row in self.flows or ():
            if row.__class__ is tuple:
                src, dst, _, ready, arrived, _, label = row
                yield _Seen(
                    f"a message from rank {src} to rank {dst} ({label})", (src, dst), None, True, ready, ready, arrived
                )

    def _used(self, seen: _Seen) -> np.ndarray[Any, Any]:
        """The numbers of the links that it uses."""
        if seen.table is None:
            return np.array(self.cluster.route(*seen.ranks).links, np.int64)
        key = id(seen.table), seen.ranks
        found = self._links.get(key)
        if found is None:
            ranks, used = seen.ranks, dict[int, None]()
            for src, dst, nbytes in seen.table.totals().carried:
                if nbytes:
                    used.update(dict.fromkeys(self.cluster.route(ranks[src], ranks[dst]).links))
            found = self._links[key] = np.array(list(used), np.int64)
        return found


ASSUMPTIONS: dict[str, Callable[[Observed], Iterator[str]]] = {
    "together": Observed.late,
    "alone": Observed.shared,
    "unmixed": Observed.mixed,
}
"""What a level may assume: name -> the sentence if it was not so."""
