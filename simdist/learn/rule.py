"""What is measured, and between which limits?

A measure is a row: what it is called, how it is read off a trial, how it is shown, and what it teaches when it is
too low or too high. A rule puts a measure between two limits, each a function of the case. Most rules have two
sides: a program that is faster than the fastest possible, or moves fewer bytes than any right program must, is as
wrong as a slow one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from simdist.learn.case import Case
from simdist.learn.trial import Trial
from simdist.units import format_bytes, format_time

__all__ = ["MEASURES", "Measure", "Rule", "disagreement", "free"]

_SLACK = 1e-9
"""Relative room for the rounding of sums of times."""


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
    """The greatest difference relative to the greatest expected value; infinite if shape or dtype differ, or for NaN."""
    found = np.asarray(got)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return math.inf
    if not found.size:
        return 0.0
    error = float(np.max(np.abs(found - expected))) / (float(np.max(np.abs(expected))) or 1.0)
    return math.inf if math.isnan(error) else error


def _numbers(trial: Trial) -> list[float]:
    return [disagreement(got, expected) for got, expected in zip(trial.results, trial.expected, strict=True)]


def _agreement(trial: Trial) -> list[float]:
    def bits(result: Any) -> tuple[Any, ...]:
        array = np.asarray(result)
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


def _ranks(trial: Trial) -> range:
    return range(trial.case.world_size)


def _count(number: float) -> str:
    return f"{number:.0f}"


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
        "bytes sent by a rank", lambda trial: [trial.trace.bytes_sent(rank) * trial.case.scale for rank in _ranks(trial)],
        format_bytes,
        "Moves too little: a rank sends fewer bytes than any right program must.",
        "Moves too much: a rank sends more bytes than the limit allows.",
    ),
    "wire": Measure(
        "bytes on the wire",
        lambda trial: [sum(trial.trace.bytes_sent(rank) for rank in _ranks(trial)) * trial.case.scale], format_bytes,
        "Moves too little: all ranks together move fewer bytes than any right program must.",
        "Moves too much: all ranks together move more bytes than the limit allows.",
    ),
    "messages": Measure(
        "messages of a rank", lambda trial: [float(trial.trace.messages_sent(rank)) for rank in _ranks(trial)], _count,
        "Too few messages: a rank that sends nothing cannot have taken part.",
        "Too many messages: each costs α, however small it is. Send what belongs together in one.",
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


def free(case: Case) -> float:
    """No lower limit."""
    return 0.0


class Rule(NamedTuple):
    """A measure between two limits.

    Attributes:
        measure: a key of ``MEASURES``.
        high: (case) -> the largest value that is right.
        low: (case) -> the smallest one.
        everywhere: it holds for every case, not only for the measured ones.
        formula: the upper limit as a formula, for the statement and the table.
    """

    measure: str
    high: Callable[[Case], float]
    low: Callable[[Case], float] = free
    everywhere: bool = False
    formula: str = ""

    def side(self, value: float, case: Case) -> int:
        """-1: too low, 0: right, 1: too high."""
        if value < self.low(case) * (1 - _SLACK):
            return -1
        return int(not value <= self.high(case) * (1 + _SLACK))

    def limit_text(self, case: Case) -> str:
        """The limits for a person: ``≤ 45.5 us``, ``= 1 MB``, ``1 MB … 1.1 MB``."""
        show = MEASURES[self.measure].show
        low, high = self.low(case), self.high(case)
        if high == 0 or low == high:
            text = f"= {show(high)}"
        else:
            text = f"{show(low)} … {show(high)}" if low else f"≤ {show(high)}"
        return text + (f" ({self.formula})" if self.formula else "")
