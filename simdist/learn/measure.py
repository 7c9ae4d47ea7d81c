"""What is measured of a trial?

A measure is a row: what it is called, how it is read off a trial, how it is shown, and what it teaches when it is too low or too
high. Everything comes from the run's own trace and results; no learner's function reports about itself.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from simdist.learn.trial import Trial
from simdist.tensor import MetaArray
from simdist.units import format_bytes, format_time

__all__ = ["MEASURES", "Measure", "disagreement"]


class Measure(NamedTuple):
    """One kind of measurement.

    Attributes:
        what: its name in the table.
        values: one number, or one for each rank, from a trial that has ended.
        show: a number for a person.
        too_low: the lesson if it is below its limit.
        too_high: the lesson if it is above it.
    """

    what: str
    values: Callable[[Trial], Sequence[float]]
    show: Callable[[float], str]
    too_low: str
    too_high: str


def disagreement(got: Any, expected: Any) -> float:
    """The greatest difference relative to the greatest expected value; infinite if shape or dtype differ, or for NaN.

    Arrays without numbers can differ in shape and dtype only.
    """
    found = got if isinstance(got, MetaArray) else np.asarray(got)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return math.inf
    if isinstance(found, MetaArray) or isinstance(expected, MetaArray):
        return 0.0 if type(found) is type(expected) else math.inf
    if not found.size:
        return 0.0
    error = float(np.max(np.abs(found - expected))) / (float(np.max(np.abs(expected))) or 1.0)
    return math.inf if math.isnan(error) else error


def _numbers(trial: Trial) -> list[float]:
    return [disagreement(got, expected) for got, expected in zip(trial.results, trial.expected, strict=True)]


def _agreement(trial: Trial) -> list[float]:
    def bits(result: Any) -> tuple[Any, ...]:
        array = result if isinstance(result, MetaArray) else np.asarray(result)
        if isinstance(array, MetaArray):
            return (array.shape, array.dtype.str, None)
        return (array.shape, array.dtype.str, array.tobytes() if array.dtype != object else None)

    first = bits(trial.results[0])
    return [float(sum(bits(result) != first for result in trial.results))]


def _ready_made(trial: Trial) -> list[float]:
    counts = [0.0] * trial.case.world_size
    for span in trial.trace:
        # a collective is one span of its group's stream; the main stream shows the wait for it once more
        if span.stream != "main" and span.details and "collective" in span.details:
            counts[span.rank] += 1
    return counts


def _sent(trial: Trial) -> list[float]:
    amounts = [0.0] * trial.case.world_size
    for row in trial.trace.flow_rows:
        amounts[row[0]] += row[5] * trial.case.scale
    return amounts


def _messages(end: int) -> Callable[[Trial], list[float]]:
    """How many messages each rank sent (``end`` 0) or received (1)."""

    def counted(trial: Trial) -> list[float]:
        ranks = Counter(row[end] for row in trial.trace.flow_rows)
        return [float(ranks[rank]) for rank in range(trial.case.world_size)]

    return counted


def _off(index: int) -> Callable[[Trial], list[float]]:
    """How far the number at ``index`` of what rank 0 returned is from the true one, relative to it."""

    def error(trial: Trial) -> list[float]:
        got = trial.results[0]
        return [disagreement(got[index], trial.expected[0][index]) if np.shape(got) == (2,) else math.inf]

    return error


def _between_nodes(trial: Trial) -> tuple[list[float], list[float]]:
    """Bytes that each rank sent to other machines, and received from them, at full size."""
    machines = trial.ended.machines
    assert machines is not None, "a trial's run knows its machines"
    sent, received = [0.0] * trial.case.world_size, [0.0] * trial.case.world_size
    for row in trial.trace.flow_rows:
        if machines.node_of(row[0]) != machines.node_of(row[1]):
            sent[row[0]] += row[5] * trial.case.scale
            received[row[1]] += row[5] * trial.case.scale
    return sent, received


def _count(number: float) -> str:
    return f"{number:.0f}"


def _percent(number: float) -> str:
    return "not these" if math.isinf(number) else f"{100 * number:.{2 if number < 0.1 else 0}f} %"


def _error(number: float) -> str:
    return "not these" if math.isinf(number) else f"{number:.1e}" if number else "0"


MEASURES: dict[str, Measure] = {
    "numbers": Measure(
        "numbers equal the spec's", _numbers, _error, "",
        "The numbers are not those of the slow, obvious program in the exercise's `spec`: compare with it on a few elements.",
    ),
    "agreement": Measure(
        "ranks that differ", _agreement, _count, "",
        "All ranks must end with the same bits: every rank needs the same additions in the same order, or a copy of the result.",
    ),
    "time": Measure(
        "simulated time", lambda trial: [trial.time], format_time,
        "Faster than any right program can be on this network: some data cannot have been waited for, or was never sent.",
        "Too slow: look at the timeline for ranks that wait for each other, and for ports that carry nothing.",
    ),
    "sent": Measure(
        "bytes sent by a rank", _sent, format_bytes,
        "Moves too little: a rank sends fewer bytes than any right program must.",
        "Moves too much: a rank sends more bytes than the limit allows.",
    ),
    "wire": Measure(
        "bytes on the wire", lambda trial: [sum(_sent(trial))], format_bytes,
        "Moves too little: all ranks together move fewer bytes than any right program must.",
        "Moves too much: all ranks together move more bytes than the limit allows.",
    ),
    "messages": Measure(
        "messages of a rank", _messages(0), _count,
        "Too few messages: a rank that sends nothing cannot have taken part.",
        "Too many messages: each costs α on its way and its sender some work, however small it is. Send what belongs together in "
        "one.",
    ),
    "received": Measure(
        "messages to a rank", _messages(1), _count,
        "Too few messages: a rank that hears of nobody cannot know the result.",
        "Too many messages to one rank: it must look at each of them. Let others combine them on the way.",
    ),
    "all_messages": Measure(
        "messages in all", lambda trial: [float(len(trial.trace.flow_rows))], _count,
        "Too few messages: what has not been sent cannot have arrived.",
        "Too many messages: some rank hears the same thing twice, or in pieces.",
    ),
    "latency": Measure(
        "error of α", _off(0), _percent, "",
        "α is what a message without bytes takes one way. Was rank 1 there when you looked at the clock? A first message waits "
        "for it. And are there bytes in your message, or a way back in your time?",
    ),
    "bandwidth": Measure(
        "error of B", _off(1), _percent, "",
        "B is not n / t: α is in t as well. What is the difference of two times, for two sizes?",
    ),
    "between": Measure(
        "bytes between machines", lambda trial: [sum(_between_nodes(trial)[0])], format_bytes,
        "Moves too little: what a machine does not hear of it cannot know.",
        "Moves too much between machines: what can be added up inside a machine need not leave it.",
    ),
    "card": Measure(
        "bytes through a card", lambda trial: list(map(max, *_between_nodes(trial))), format_bytes, "",
        "Too much through one network card. Is it the only one of its machine that works? Every rank has one.",
    ),
    "collectives": Measure(
        "ready-made collectives", _ready_made, _count, "",
        "Uses a ready-made collective: here you write it yourself, from isend and irecv.",
    ),
    "memory": Measure(
        "peak memory of a rank", lambda trial: [float(peak) for peak in trial.peaks], format_bytes,
        "Holds too little: the model, its gradients and the activations of a rank's share need more than that.",
        "Holds too much: a rank keeps more than its share. Does every rank compute on all rows?",
    ),
}  # fmt: skip
"""Every kind of measurement by name."""
