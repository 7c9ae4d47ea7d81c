"""Who gets how much of a link?

A *flow* is an amount that is to be carried over a set of links at once, as water through pipes: it has a rate, and the
rates of all flows that are under way follow from one rule, max-min fairness (``sim.fairness``).

Rates change only when a flow begins or ends. Between two such instants every rate is constant, so the end of a flow is
``since + left / rate``; whose rate did not change keeps the end that it has, bit for bit. **All changes of one instant are
one change**: they are collected, and a tick of low priority, after everything else that happens at that instant, computes
the rates anew, of those flows only that a change can reach over common links.

*Units.* A flow may use a link several times: a collective whose ring crosses an uplink four times carries four bytes there
for each byte that every edge of the ring carries. ``units`` says how often, and fairness is between rates: the collective
gets what four separate flows would get. A *limit* is a rate that the flow does not exceed even alone.

*Classes.* Where few patterns of use occur, one link can stand for many that are alike (``sim.link_classes``).

*Lines.* Flows of the same ``key`` are one connection: they go one after the other, in the order of their times.

*Bundles.* Flows that begin together on idle links and will end together, as the messages of a ring's round do, are one thing
until somebody else comes to one of their links: their rates are a pattern that is remembered (``fairness.Remembered``).
Then the bundle is undone, and its flows are as if they had never been one.

Flows are looked at in the order of their keys: who came first at one instant does not show.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from operator import attrgetter

from .fairness import MANY, Remembered
from .kernel import Kernel
from .link_classes import LinkClasses

__all__ = ["Flow", "FlowNet"]

_SAME = 1e-12
"""Ends that differ by less than this, relatively, are one change of the rates (each keeps its own end)."""
_FEW = 4
"""A bundle is of at least this many flows."""
_FREE = float("inf")
_KEY = attrgetter("key")
_COMING = attrgetter("time", "key", "turn", "number")


class Flow:
    """Something to be carried.

    Attributes:
        key: its connection, and its place in the order in which flows are looked at.
        use: the links that it uses, each once, and how often each (None: once).
        links, units: the same, or one link of each class.
        size: how much is carried, bytes.
        limit: bytes per second that it does not exceed.
        done: called, when it has ended, with when it began and when it ended.
        time: when it was ready to begin, seconds.
        turn: its place among those of its key that are ready at the same time.
        began: when it did begin (later, if its connection was busy).
        rate: its present rate, bytes per second; 0 before it begins.
        end: when it ends if no rate changes.
    """

    __slots__ = ("began", "done", "end", "key", "left", "limit", "links", "number", "rate", "since", "size", "time",
                 "turn", "units", "use")  # fmt: skip

    def __init__(
        self,
        key: tuple[int, ...],
        links: tuple[int, ...],
        units: tuple[float, ...] | None,
        size: float,
        limit: float,
        time: float,
        done: Callable[[float, float], None],
        turn: tuple[int, ...] = (),
    ) -> None:
        self.key, self.limit, self.done, self.turn = key, limit, done, turn
        self.use = self.links, self.units = links, units
        self.time = self.began = self.since = time
        self.size = self.left = size
        self.rate = self.end = 0.0
        self.number = 0


class _Bundle:
    """Flows that have the links to themselves, and one end.

    Attributes:
        flows: in the order of their keys.
        links: all that they use.
        end: when all of them end.
        rate: not zero while it is a bundle.
    """

    __slots__ = ("end", "flows", "links", "rate")

    def __init__(self, flows: list[Flow], links: frozenset[int], end: float) -> None:
        self.flows, self.links, self.end, self.rate = flows, links, end, 1.0


class FlowNet:
    """The flows that are under way.

    Args:
        kernel: the clock.
        capacities: bytes per second of each link.
        many: from so many flows on rates are computed by numpy.

    Attributes:
        classes: links that are alike, if flows are to be merged; set it before the first flow starts.
        recomputed: how often rates were found for flows that share.
    """

    def __init__(self, kernel: Kernel, capacities: Sequence[float], *, many: int = MANY) -> None:
        self.kernel, self.capacities = kernel, list(capacities)
        self._fair = Remembered(self.capacities, many)
        self._active: dict[tuple[int, ...], Flow] = {}
        self.recomputed = 0
        self.classes: LinkClasses | None = None
        self._users: list[dict[Flow, None]] = [{} for _ in self.capacities]
        self._lines: dict[tuple[int, ...], deque[Flow]] = {}
        self._arrivals: dict[float, list[Flow]] = {}
        self._ends: list[tuple[float, int, Flow | _Bundle]] = []
        self._bundles: list[_Bundle] = []
        self._ticks: set[float] = set()
        self._count = count()
        self._pushed = count()

    @property
    def active(self) -> dict[tuple[int, ...], Flow]:
        """The flows that are under way, by key."""
        return self._active | {flow.key: flow for bundle in self._bundles for flow in bundle.flows}

    def start(
        self,
        time: float,
        key: tuple[int, ...],
        links: tuple[int, ...],
        size: float,
        done: Callable[[float, float], None],
        *,
        units: tuple[float, ...] | None = None,
        limit: float = _FREE,
        turn: tuple[int, ...] = (),
    ) -> Flow:
        """Let a flow begin at ``time``, or when the flows of its key that are before it have ended.

        Args:
            time: seconds. A time that the clock has passed already is kept if nobody else uses the links (the flow may then
                end in the past); a flow that must share gets its share from now on.
            key: the connection.
            links: numbers of the links that it uses, each once.
            size: bytes. A flow of nothing takes no time, but waits for its turn.
            done: called, at its end, with when it began and when it ended.
            units: how often each link is used by one byte of the flow, or None: once.
            limit: bytes per second that it does not exceed.
            turn: who goes first of two flows of one key that are ready at the same time.
        """
        flow = Flow(key, links, units, size, limit, time, done, turn)
        flow.number = next(self._count)
        now = self.kernel.env.now
        when = time if time > now else now
        batch = self._arrivals.get(when)
        if batch is None:
            self._arrivals[when] = [flow]
            self._tick_at(when)
        else:
            batch.append(flow)
        return flow

    # -- one instant ------------------------------------------------------------------------------------------------

    def _tick_at(self, time: float) -> None:
        if time not in self._ticks:
            self._ticks.add(time)
            self.kernel.at(time, self._tick, last=True)

    def _tick(self) -> None:
        """Everything that begins or ends now, and the rates that follow."""
        now = self.kernel.env.now
        changed: dict[int, None] = {}
        ends = self._ends
        edge = now + _SAME * now
        while ends and ends[0][0] <= edge:
            end, _, flow = heappop(ends)
            if flow.end == end and flow.rate:
                if isinstance(flow, _Bundle):
                    self._leave_together(flow)
                else:
                    self._leave(flow, changed)
        while (arrived := self._arrivals.pop(now, None)) is not None:
            if len(arrived) > 1:
                arrived.sort(key=_COMING)
            if len(arrived) < _FEW or not self._come_together(arrived, now):
                for flow in arrived:
                    self._come(flow, changed)
        self._ticks.discard(now)
        if changed:
            self._share(changed, now)
        while ends and not (ends[0][2].end == ends[0][0] and ends[0][2].rate):
            heappop(ends)
        if ends:
            self._tick_at(max(ends[0][0], now))

    def _come_together(self, flows: list[Flow], now: float) -> bool:
        """Make a bundle of flows in the order of their keys, if they are one."""
        if self.classes is not None:
            return False
        before: tuple[int, ...] = ()
        for flow in flows:
            if flow.key <= before or flow.time != now or not flow.size or not flow.links:
                return False
            before = flow.key
        found = self._fair.pattern(flows)
        if found is None:
            return False
        rates, links = found
        users = self._users
        for link in links:
            if users[link]:
                return False
        if not all(bundle.links.isdisjoint(links) for bundle in self._bundles):
            return False
        end = now + flows[0].size / rates[0]
        for flow, rate in zip(flows, rates, strict=True):
            if now + flow.size / rate != end:
                return False
        for flow, rate in zip(flows, rates, strict=True):
            flow.rate, flow.end = rate, end
        self.recomputed += 1
        bundle = _Bundle(flows, links, end)
        self._bundles.append(bundle)
        heappush(self._ends, (end, next(self._pushed), bundle))
        return True

    def _leave_together(self, bundle: _Bundle) -> None:
        self._bundles.remove(bundle)
        bundle.rate = 0.0
        for flow in bundle.flows:
            flow.rate = 0.0
            flow.done(flow.began, flow.end)

    def _undo(self, bundle: _Bundle) -> None:
        """Somebody comes to a link of the bundle's: from now on its flows are flows."""
        self._bundles.remove(bundle)
        bundle.rate = 0.0
        for flow in bundle.flows:
            self._active[flow.key] = flow
            for link in flow.links:
                self._users[link][flow] = None
            self._ends_at(flow, flow.end)

    def _come(self, flow: Flow, changed: dict[int, None]) -> None:
        if self._bundles:
            for bundle in [bundle for bundle in self._bundles if not bundle.links.isdisjoint(flow.links)]:
                self._undo(bundle)
        key = flow.key
        if key in self._active:
            self._lines.setdefault(key, deque()).append(flow)
            return
        if not flow.size or not (flow.links or flow.limit < _FREE):
            flow.end = flow.began
            flow.done(flow.began, flow.end)
            return
        if self.classes is not None:
            self._merge(flow, self.classes)
        self._active[key] = flow
        users = self._users
        for link in flow.links:
            users[link][flow] = None
            changed[link] = None
        if not flow.links:
            flow.rate = flow.limit
            self._ends_at(flow, flow.since + flow.size / flow.limit)

    def _leave(self, flow: Flow, changed: dict[int, None]) -> None:
        users, key = self._users, flow.key
        for link in flow.links:
            del users[link][flow]
            changed[link] = None
        del self._active[key]
        flow.rate = 0.0
        flow.done(flow.began, flow.end)
        line = self._lines.get(key)
        while line and key not in self._active:
            follower = line.popleft()
            follower.began = follower.since = max(follower.time, flow.end)
            self._come(follower, changed)
        if line is not None and not line:
            del self._lines[key]

    def _merge(self, flow: Flow, classes: LinkClasses) -> None:
        """Count the flow on one link of each class; if it splits classes, those under way are counted anew."""
        if classes.add(flow.use):
            users = self._users
            for other in self._active.values():
                for link in other.links:
                    del users[link][other]
                other.links, other.units = classes.merged(other.use)
                for link in other.links:
                    users[link][other] = None
        flow.links, flow.units = classes.merged(flow.use)

    # -- rates ------------------------------------------------------------------------------------------------------

    def _share(self, changed: dict[int, None], now: float) -> None:
        """Compute the rates of all flows that a change on these links can reach."""
        users, reached = self._users, list(changed)
        seen = dict(changed)
        sharing: dict[Flow, None] = {}
        for link in reached:  # grows while it is walked through
            for flow in users[link]:
                if flow in sharing:
                    continue
                for other in flow.links:
                    if len(users[other]) > 1:
                        sharing[flow] = None
                        break
                else:
                    self._alone(flow, now)
                    continue
                for other in flow.links:
                    if other not in seen:
                        seen[other] = None
                        reached.append(other)
        if not sharing:
            return
        self.recomputed += 1
        flows = sorted(sharing, key=_KEY)
        for flow, rate in zip(flows, self._fair.rates(flows), strict=True):
            if rate != flow.rate:
                self._set(flow, rate, now)

    def _alone(self, flow: Flow, now: float) -> None:
        capacities, rate = self.capacities, flow.limit
        if flow.units is None:
            for link in flow.links:
                if capacities[link] < rate:
                    rate = capacities[link]
        else:
            rate = min(rate, *(capacities[link] / units for link, units in zip(flow.links, flow.units, strict=True)))
        if not flow.rate:
            flow.rate = rate
            self._ends_at(flow, flow.since + flow.size / rate)
        elif rate != flow.rate:
            self._set(flow, rate, now)

    def _set(self, flow: Flow, rate: float, now: float) -> None:
        """Give the flow another rate from now on; whose rate stays the same is not touched at all."""
        if now > flow.since:
            flow.left = max(0.0, flow.left - flow.rate * (now - flow.since))
            flow.since = now
        flow.rate = rate
        self._ends_at(flow, flow.since + flow.left / rate)

    def _ends_at(self, flow: Flow, end: float) -> None:
        flow.end = end
        heappush(self._ends, (end, next(self._pushed), flow))
