"""What does an algorithm do, seen from above all ranks?

A rehearsal plays all ranks' steps once, without clock and without data. Two things come out of it:

* **Rounds.** Who sends which chunks to whom, in rounds: an exchange belongs to the first round in which both its sides
  can have posted it. A network model gives the rounds times (``sim.recurrence``), a cost formula adds them up, a picture
  draws them.
* **Expressions.** What each chunk holds at the end: a tree of contributions, combined in the algorithm's order. The
  simulator evaluates each expression once and copies the result (``comm.evaluate``); a check compares the
  contributions with what the collective promises.

The rule is that of ``comm.execute``: a rank posts the send and the receive of a step together, and goes on when both
are done; an exchange happens when both sides have posted it. A message carries what its chunks held when it was posted.

Invariant: the rounds do not depend on the order in which ranks are looked at, since a rank has one open send and one open
receive at most, and each names its partner.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeVar

from simdist.errors import AlgorithmError

from .algorithm import Algorithm, plan
from .layout import FLAT, Layout
from .step import Step, ranges

__all__ = ["Combined", "Divided", "Exchange", "Held", "Rehearsal", "rehearse"]

_Item = TypeVar("_Item")


class Held(NamedTuple):
    """What chunk ``chunk`` of rank ``rank`` held at the start."""

    rank: int
    chunk: int


class Combined(NamedTuple):
    """Two values combined; ``left`` comes from the lower rank. Both are numbers of values."""

    left: int
    right: int


class Divided(NamedTuple):
    """A complete reduction, marked as such: an average divides here."""

    value: int


class Exchange(NamedTuple):
    """One message.

    Attributes:
        src: group rank of the sender.
        dst: group rank of the receiver.
        chunks: what it carries.
        targets: into which chunks the receiver puts it.
        combine: whether the receiver combines it with what it has.
        steps: the number of the sender's step, and of the receiver's.
        values: the numbers of the values that it carries; empty if they were not followed.
    """

    src: int
    dst: int
    chunks: tuple[int, ...]
    targets: tuple[int, ...]
    combine: bool
    steps: tuple[int, int]
    values: tuple[int, ...]


@dataclass(frozen=True)
class Rehearsal:
    """What was seen.

    Attributes:
        size: number of ranks.
        rounds: the exchanges of each round.
        begins: for each round, the ranks that begin a new step in it.
        values: all values that ever existed: value number -> ``Held``, ``Combined`` or ``Divided``.
        final: (rank, chunk) -> number of the value that it holds at the end, for every chunk that was ever named.
    """

    size: int
    rounds: tuple[tuple[Exchange, ...], ...]
    begins: tuple[tuple[int, ...], ...]
    values: tuple[Held | Combined | Divided, ...]
    final: dict[tuple[int, int], int] = field(hash=False)

    def is_untouched(self, rank: int, chunk: int) -> bool:
        """Whether a chunk holds at the end what it held at the start."""
        number = self.final.get((rank, chunk))
        value = None if number is None else self.values[number]
        return value is None or (isinstance(value, Held) and value == (rank, chunk))

    def contributions(self, value: int) -> list[int]:
        """The ranks whose data are in a value, from left to right, each as often as it was combined."""
        found: list[int] = []
        open_values = [value]
        while open_values:
            match self.values[open_values.pop()]:
                case Held(rank, _):
                    found.append(rank)
                case Combined(left, right):
                    open_values += [right, left]
                case Divided(inside):
                    open_values.append(inside)
        return found

    def exchanges(self) -> list[Exchange]:
        """All messages, round by round."""
        return [exchange for group in self.rounds for exchange in group]


@lru_cache(maxsize=256)
def rehearse(
    algorithm: Algorithm, size: int, root: int = 0, layout: Layout = FLAT, *, values: bool = True
) -> Rehearsal:
    """Play all ranks' steps.

    Args:
        algorithm: what to play.
        size: number of ranks.
        root: group rank of the root.
        layout: what the algorithm knows of where the ranks are.
        values: whether to follow what the chunks hold. Without, only the rounds are found: enough for a time, and many times
            faster where a thousand ranks pass on a thousand chunks.

    Raises:
        AlgorithmError: the ranks' steps do not fit together: somebody would wait for ever.
    """
    stage = _Stage(algorithm.name, [plan(algorithm, rank, size, root, layout) for rank in range(size)], values)
    return stage.play()


class _Stage:
    """All ranks in the middle of a rehearsal."""

    def __init__(self, name: str, plans: list[tuple[Step, ...]], follow: bool) -> None:
        size, self.follow = len(plans), follow
        self.name, self.plans = name, plans
        self.position = [-1] * size
        self.open = [0] * size
        self.round = [0] * size  # the round in which the rank's present step was posted
        self.until = [0] * size  # the round after the last of its exchanges
        self.values: list[Held | Combined | Divided] = []
        self.numbers: dict[tuple[type, Held | Combined | Divided], int] = {}
        self.holds: dict[tuple[int, int], int] = {}
        self.sent: dict[tuple[int, int], tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self.awaited: set[tuple[int, int]] = set()
        self.rounds: list[list[Exchange]] = []
        self.begins: list[list[int]] = []
        self.runnable = list(range(size))[::-1]

    def play(self) -> Rehearsal:
        while self.runnable:
            self.advance(self.runnable.pop())
        stuck = [rank for rank, plan_ in enumerate(self.plans) if self.position[rank] < len(plan_)]
        if stuck:
            raise AlgorithmError(self.lesson(stuck))
        # the order in which exchanges were found depends on who was looked at first: sort it away
        rounds = tuple([tuple(sorted(group, key=lambda e: (e.src, e.dst))) for group in self.rounds])
        begins = tuple([tuple(sorted(ranks)) for ranks in self.begins[: len(rounds)]])
        return Rehearsal(len(self.plans), rounds, begins, tuple(self.values), self.holds)

    def number(self, value: Held | Combined | Divided) -> int:
        key = (value.__class__, value)  # as tuples alone, a Held and a Combined of equal numbers would be equal
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.values)
            self.values.append(value)
        return found

    def held(self, rank: int, chunk: int) -> int:
        found = self.holds.get((rank, chunk))
        if found is None:
            found = self.holds[rank, chunk] = self.number(Held(rank, chunk))
        return found

    def advance(self, rank: int) -> None:
        """Post the rank's next step that has a transfer."""
        steps = self.plans[rank]
        while True:
            done = self.position[rank]
            if done >= 0 and self.follow:
                for chunk in steps[done].finish:
                    self.holds[rank, chunk] = self.number(Divided(self.held(rank, chunk)))
            self.position[rank] = done = done + 1
            if done == len(steps):
                return
            send, recv, _, _ = steps[done]
            if send is not None or recv is not None:
                break
        self.round[rank] = self.until[rank]
        _at(self.begins, self.round[rank]).append(rank)
        self.open[rank] = (send is not None) + (recv is not None)
        if send is not None:
            values = tuple([self.held(rank, chunk) for chunk in send.chunks]) if self.follow else ()
            self.sent[rank, send.peer] = send.chunks, values
        if recv is not None:
            self.awaited.add((recv.peer, rank))
            self.meet(recv.peer, rank)
        if send is not None:
            self.meet(rank, send.peer)

    def meet(self, src: int, dst: int) -> None:
        """Let the message from ``src`` to ``dst`` happen, if both have posted it."""
        pair = (src, dst)
        if pair not in self.awaited or pair not in self.sent:
            return
        self.awaited.remove(pair)
        chunks, values = self.sent.pop(pair)
        step = self.plans[dst][self.position[dst]]
        assert step.recv is not None
        targets = step.recv.chunks
        if len(targets) != len(chunks):
            raise AlgorithmError(
                f"{self.name}: rank {src} sends chunks {ranges(chunks)} to rank {dst}, which receives {ranges(targets)} "
                "from it: both steps must name as many chunks, in the same order."
            )
        for chunk, value in zip(targets, values, strict=False):  # no values are followed, or all
            if step.combine:
                mine = self.held(dst, chunk)
                value = self.number(Combined(value, mine) if src < dst else Combined(mine, value))
            self.holds[dst, chunk] = value
        when = max(self.round[src], self.round[dst])
        _at(self.rounds, when).append(
            Exchange(src, dst, chunks, targets, step.combine, (self.position[src], self.position[dst]), values)
        )
        for rank in pair:
            self.until[rank] = max(self.until[rank], when + 1)
            self.open[rank] -= 1
            if not self.open[rank]:
                self.runnable.append(rank)

    def lesson(self, stuck: list[int]) -> str:
        lines = [
            f"{self.name} on {len(self.plans)} ranks never ends: the steps of different ranks do not fit together."
        ]
        for rank in stuck[:8]:
            lines.append(f"  rank {rank} is at step {self.position[rank]}: {self.plans[rank][self.position[rank]]}")
        if len(stuck) > 8:
            lines.append(f"  and {len(stuck) - 8} more")
        lines.append(
            "A message needs a step of its sender and a step of its receiver that name each other, and the k-th send of a "
            "to b meets the k-th receive of b from a."
        )
        return "\n".join(lines)


def _at(lists: list[list[_Item]], index: int) -> list[_Item]:
    """``lists[index]``, made if it does not exist yet."""
    while len(lists) <= index:
        lists.append([])
    return lists[index]
