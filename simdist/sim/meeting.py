"""Where do the members of a group meet for one collective?

Collectives match by their order within a group: the k-th call of each member belongs together. A ``Meeting`` is what
the simulator knows about one such k: who has come, with which call, when. It serves three ends.

* **Checking.** Each arrival's signature is compared with the first one's; a difference is raised on every rank of the
  group, naming both lines.
* **Waiting told apart from transfer.** In a symmetric algorithm nobody can finish before the last member has come, so
  the time until then is waiting for a straggler, and the rest is communication.
* **The short cut.** If the algorithm is symmetric, every member comes with a blocking call and nothing else under
  way, and each link belongs to one member, the members park here and the last one replays the algorithm for all
  (``sim.replay``). As soon as one member does not qualify, all go the long way (``comm.execute`` over the network).
  Both give the same bits.

Why only symmetric algorithms may park. A parked member stands still while the environment's clock goes on. Where
nobody can finish before the last member has come, all go on at or after the present. In a broadcast the root is done
long before the last leaf comes: it would go on in the past, and its next message would enter a shared link after
later ones. (On the long way, members of a symmetric algorithm that were parked do post messages into the past, but
only into ports that nobody else can use until they have finished.)
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from simdist.comm import blocks
from simdist.comm.call import Call, Members
from simdist.comm.entry import Entry, blocks_differ, mismatch
from simdist.comm.execute import execute
from simdist.errors import CollectiveMismatchError
from simdist.place import Place
from simdist.tensor.meta import MetaArray

from .attendance import Attendance, Words
from .kernel import Kernel, Task
from .network import Network
from .relay import Posted, Relay
from .replay import Hops, replay
from .timetable import Course, timetable
from .transport import GroupTransport

__all__ = ["Meeting", "Meetings", "Ways"]


class Ways(NamedTuple):
    """What a group's topology allows.

    Attributes:
        short: every link belongs to one end of it, in one direction: a replay is exact.
        hops: the route from each member to its right neighbour, if they are all alike.
    """

    short: bool
    hops: Hops | None


class Meeting:
    """What is known about one collective of one group; also the reason for which its parked members are suspended."""

    __slots__ = ("_words", "calls", "error", "first", "group", "inside", "last_arrival", "long_way",
                 "missing", "posted", "signature", "starts", "tasks", "ways")  # fmt: skip

    def __init__(self, first: Call, ways: Ways, shortcut: bool) -> None:
        self.signature = first.request.signature
        self.first, self.group, self.ways = first, first.request.members, ways
        size = len(self.group.ranks)
        self._words: Words | None = None
        self.calls: list[Call | None] = [None] * size
        self.starts: list[float] = [0.0] * size
        self.tasks: list[Task | None] = [None] * size
        self.last_arrival = 0.0
        self.long_way = not (shortcut and ways.short and first.request.algorithm.symmetric)
        self.missing = self.inside = size
        self.error: str | None = None
        self.posted: Posted = {}

    @property
    def words(self) -> Words:
        """What a trace tells about it (the same object for all members)."""
        if self._words is None:
            self._words = Words.of(self.first.request, self.first.sequence, self.starts, self.last_arrival)
        return self._words

    @property
    def what(self) -> str:
        """The collective, for a person."""
        return self.first.full_label

    def is_like(self, call: Call) -> bool:
        """Whether ``call`` moves its bytes as the first one does (an unchecked run may bring anything)."""
        a, b = self.first.request, call.request
        same = a.algorithm is b.algorithm and a.root == b.root and a.combine is b.combine and a.divisor == b.divisor
        mine, other = self.first.flat, call.flat
        return same and a.cuts == b.cuts and mine.nbytes == other.nbytes and mine.dtype == other.dtype

    def ranks(self) -> tuple[int, ...]:
        """The global ranks that have not come yet."""
        return tuple(rank for rank, call in zip(self.group.ranks, self.calls, strict=True) if call is None)

    def place(self, rank: int) -> Place | None:
        """The line at which ``rank`` called it."""
        call = self.calls[self.group.ranks.index(rank)]
        return call.where if call is not None else None


class Meetings:
    """All meetings of a run.

    Args:
        kernel: the clock.
        network: what carries the messages of those who go the long way.
        spans: where collectives are recorded, or None.
        checked: compare the members' calls with each other.
        shortcut: False sends everybody the long way.
    """

    def __init__(
        self, kernel: Kernel, network: Network, spans: list[Any] | None, *, checked: bool, shortcut: bool
    ) -> None:
        self.kernel, self.network, self.spans, self.checked = kernel, network, spans, checked
        self.shortcut = shortcut and kernel.lazy and network.eager_limit == 0
        self.open: dict[tuple[int, int], Meeting] = {}
        self.num_replayed = 0
        self._ways: dict[int, Ways] = {}
        self._relay = Relay(kernel, network) if kernel.lazy and checked and network.eager_limit == 0 else None

    def attend(self, task: Task, call: Call, quiet: bool) -> tuple[float, float, Meeting] | None:
        """Take part in a collective; on return it is complete on this rank and the task's clock stands at its end.

        Args:
            task: the task that runs it (main, or a communication stream).
            call: what it asks.
            quiet: this rank blocks in it and has nothing else under way.

        Returns:
            The times at which this rank entered, and at which its waiting for others ended, and the meeting; or None, if
            it took the short cut and is on record.
        """
        request = call.request
        members = request.members
        key = (members.id, call.sequence)
        meeting = self.open.get(key)
        if meeting is None:
            meeting = self.open[key] = Meeting(call, self.ways(members), self.shortcut)
        elif meeting.signature is not request.signature:
            quiet = self._compare(meeting, call, task) and quiet
        me = members.rank
        meeting.calls[me], meeting.tasks[me] = call, task
        if call.parts is not None:
            quiet = self._blocks_fit(meeting, call, task) and quiet
        meeting.missing = missing = meeting.missing - 1
        if quiet and not meeting.long_way:
            if not missing:
                del self.open[key]
                self._replay(meeting, task)
                return None
            if self.kernel.wait(task, meeting):
                return None
        return self._go_the_long_way(meeting, task, call)

    def agree(self, task: Task, call: Call) -> Meeting:
        """Park until every member has made an equal call; all go on at the time of the last one.

        Raises:
            CollectiveMismatchError: the calls differ.
        """
        request = call.request
        key = (request.members.id, call.sequence)
        meeting = self.open.get(key)
        if meeting is None:
            meeting = self.open[key] = Meeting(call, self.ways(request.members), shortcut=False)
        else:
            self._compare(meeting, call, task)
        me = request.members.rank
        meeting.calls[me], meeting.tasks[me], meeting.starts[me] = call, task, task.now
        meeting.missing -= 1
        if meeting.missing:
            self.kernel.wait(task, meeting)
        else:
            del self.open[key]
            meeting.last_arrival = max(meeting.starts)
            for other in meeting.tasks:
                if other is not None and other is not task:
                    self.kernel.wake(other)
        if meeting.last_arrival > task.now:
            task.now = meeting.last_arrival
            self.kernel.advance(task, 0.0)
        return meeting

    def notes(self, name: str) -> list[str]:
        """What a person should know if the level called ``name`` was outside its range: nothing here, where messages move."""
        return []

    # -- checking ---------------------------------------------------------------------------------------------------

    def _compare(self, meeting: Meeting, call: Call, task: Task) -> bool:
        """Compare with the calls of those who have come; returns whether the bytes will move as theirs do.

        Raises:
            CollectiveMismatchError: in a checked run, on every member, if the calls differ.
        """
        if meeting.error is not None:
            raise CollectiveMismatchError(meeting.error)
        if not self.checked:
            return meeting.is_like(call)
        other = next(other for other in meeting.calls if other is not None)
        if other.request.signature == call.request.signature:
            return True
        raise self._broken(meeting, mismatch(task.now, Entry.of(call), Entry.of(other)))

    def _blocks_fit(self, meeting: Meeting, call: Call, task: Task) -> bool:
        """Compare the blocks of an all-to-all with those of who has come; returns whether all agree.

        Raises:
            CollectiveMismatchError: in a checked run, on every member, if they do not.
        """
        request = call.request
        if request.algorithm.collective != "all_to_all" or (self.checked and request.signature[1] is not None):
            return True  # where all blocks are alike, the shape is part of the signature
        found = blocks.difference(meeting.calls, request.members.rank)
        if found is None:
            return True
        if not self.checked:
            return False
        source, to = (meeting.calls[rank] for rank in found[:2])
        assert source is not None
        assert to is not None
        text = blocks_differ(task.now, Entry.of(source), Entry.of(to), found.sent, found.expected)
        raise self._broken(meeting, text)

    def _broken(self, meeting: Meeting, text: str) -> CollectiveMismatchError:
        """The members do not agree: all who wait are told, and whoever comes later."""
        meeting.error = text
        meeting.long_way, meeting.signature = True, ()
        for waiting in meeting.tasks:
            if waiting is not None and waiting.waiting is not None:
                self.kernel.throw(waiting, CollectiveMismatchError(text))
        return CollectiveMismatchError(text)

    # -- running ----------------------------------------------------------------------------------------------------

    def _go_the_long_way(self, meeting: Meeting, task: Task, call: Call) -> tuple[float, float, Meeting]:
        """Run this rank's steps, message by message. Who is parked does the same."""
        if not meeting.long_way:
            meeting.long_way = True
            for parked in meeting.tasks:
                if parked is not None and parked is not task:
                    self.kernel.wake(parked)
        members = call.request.members
        meeting.starts[members.rank] = entered = task.now
        meeting.last_arrival = max(meeting.last_arrival, entered)
        if self._relay is not None:
            waited = self._relay.take_part(task, call, meeting.posted)
        else:
            transport = GroupTransport(self.network, task, members, call.full_label)
            execute(call, transport)
            waited = transport.waited
        meeting.inside -= 1
        if not meeting.inside:
            del self.open[members.id, call.sequence]
        ready = meeting.last_arrival if call.request.algorithm.symmetric else entered + waited
        return entered, min(ready, task.now), meeting

    def _replay(self, meeting: Meeting, task: Task) -> None:
        """The last member has come: work through the steps of all, and let the others go on at their end."""
        self.num_replayed += 1
        calls: list[Call] = meeting.calls  # type: ignore[assignment]  # all have come
        tasks: list[Task] = meeting.tasks  # type: ignore[assignment]
        starts = [parked.now for parked in tasks]
        hops = meeting.ways.hops if calls[0].request.algorithm.ring else None
        if calls[0].request.algorithm.ring and hops is None and isinstance(calls[0].flat, MetaArray):
            finish = self._turn(calls, starts)
        else:
            finish = replay(calls, starts, self._wire, hops, self.network.flows)
        if self.spans is not None:
            self.spans.append(Attendance(calls[0].request, calls[0].sequence, tuple(starts), tuple(finish)))
        for other, now in zip(tasks, finish, strict=True):
            other.now = now
        self.kernel.ready += [other.awake for other in reversed(tasks) if other is not task]
        if task.now > self.kernel.stop_time:
            self.kernel.advance(task, 0.0)

    def _turn(self, calls: list[Call], starts: list[float]) -> list[float]:
        """A ring of shapes only whose hops differ: its timetable has the same expressions, for all ranks at once."""
        table = timetable(calls, self.network.cluster)
        if self.network.flows is not None:
            self.network.flows.append(Course(calls[0].request, calls[0].full_label, table, tuple(starts)))
        return table.finish(starts)

    def _wire(self, src: int, dst: int) -> tuple[float, float]:
        route = self.network.cluster.route(src, dst)
        return route.bandwidth, route.latency

    def ways(self, members: Members) -> Ways:
        """What the group's topology allows (worked out once per group)."""
        known = self._ways.get(members.id)
        if known is None:
            known = self._ways[members.id] = self._look(members.ranks)
        return known

    @cached_property
    def _only_ports(self) -> bool:
        """Whether each link of the cluster is one device's own port, in one direction: then no route needs a closer look."""
        cluster = self.network.cluster
        return all(edge.link.duplex == "full" for edge in cluster.topology.edges) and all(
            link.owner is not None for link in cluster.links
        )

    def _look(self, ranks: tuple[int, ...]) -> Ways:
        hops = {Hops(*self._wire(a, b)) for a, b in zip(ranks, ranks[1:] + ranks[:1], strict=True)}
        return Ways(self._only_ports or self._own_ports(ranks), hops.pop() if len(hops) == 1 else None)

    def _own_ports(self, ranks: tuple[int, ...]) -> bool:
        route = self.network.cluster.route
        pairs = [(a, b) for a in ranks for b in ranks if a != b] if len(ranks) <= 64 else _ring_and_powers(ranks)
        return all(route(a, b).owned and not set(route(a, b).links) & set(route(b, a).links) for a, b in pairs)


def _ring_and_powers(ranks: tuple[int, ...]) -> list[tuple[int, int]]:
    """The pairs that the algorithms use in a large group: distances that are powers of two, both ways, and the root's."""
    size = len(ranks)
    distances = [2**k for k in range(size.bit_length()) if 2**k < size]
    pairs = [(ranks[i], ranks[(i + s * d) % size]) for i in range(size) for d in distances for s in (1, -1)]
    return pairs + [(ranks[0], b) for b in ranks[1:]] + [(b, ranks[0]) for b in ranks[1:]]
