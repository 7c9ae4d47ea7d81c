"""Is a file a valid trace?

Written from the public description of the Trace Event Format (Google, "Trace Event Format", 2016), not from our writer, so that
the two check each other. What is checked: the document; the keys that each phase requires; times (numbers of microseconds, not
negative); nesting of slices on one thread (``X`` slices, and ``B``/``E`` pairs); flows (an ``s`` and an ``f`` of one id, in this
order of time); counters (numbers only); metadata (known names, with their argument).

Rounding: slices may overlap by up to a nanosecond, which is what viewers resolve.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["PHASES", "Problem", "problems", "validate"]

Event = dict[str, Any]

PHASES: dict[str, tuple[str, ...]] = {
    "X": ("name", "pid", "tid", "ts", "dur"),
    "B": ("name", "pid", "tid", "ts"),
    "E": ("pid", "tid", "ts"),
    "i": ("name", "pid", "tid", "ts"),
    "s": ("name", "cat", "id", "pid", "tid", "ts"),
    "t": ("name", "cat", "id", "pid", "tid", "ts"),
    "f": ("name", "cat", "id", "pid", "tid", "ts"),
    "C": ("name", "pid", "ts", "args"),
    "M": ("name", "pid", "args"),
}
"""The phases that are known here, and the keys that an event of each must have."""

METADATA: dict[str, str] = {
    "process_name": "name",
    "process_labels": "labels",
    "process_sort_index": "sort_index",
    "thread_name": "name",
    "thread_sort_index": "sort_index",
}
"""The metadata events of the format, and the argument of each. Other names are allowed: viewers skip them."""

TYPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (lambda value: isinstance(value, str), "a text"),
    "cat": (lambda value: isinstance(value, str), "a text"),
    "pid": (lambda value: _is_integer(value), "a whole number"),
    "tid": (lambda value: _is_integer(value), "a whole number"),
    "ts": (lambda value: _is_time(value), "a number of microseconds, not negative"),
    "dur": (lambda value: _is_time(value), "a number of microseconds, not negative"),
    "args": (lambda value: isinstance(value, dict), "an object"),
    "id": (lambda value: isinstance(value, str) or _is_integer(value), "a text or a whole number"),
}
"""What the value of a key must be, and how a person says it."""

TOLERANCE = 1.001e-3
"""Microseconds by which slices may overlap: the rounding of two times to a nanosecond."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        where: the number of the event in ``traceEvents``, from 0; -1 for the document.
        text: what is wrong, what was expected.
    """

    where: int
    text: str

    def __str__(self) -> str:
        return f"event {self.where}: {self.text}" if self.where >= 0 else self.text


def validate(path: str | Path) -> list[Problem]:
    """Everything that is wrong with a file; empty if it is valid.

    Args:
        path: a ``.json`` or ``.json.gz`` file.

    Raises:
        FileNotFoundError: there is no such file.
    """
    raw = Path(path).read_bytes()
    try:
        text = (gzip.decompress(raw) if Path(path).suffix == ".gz" else raw).decode("utf-8")
        document = json.loads(text, parse_constant=_no_constant)
    except (ValueError, OSError, EOFError, zlib.error) as error:
        return [Problem(-1, f"not a JSON document: {error}")]
    return list(problems(document))


def problems(document: object) -> Iterator[Problem]:
    """Everything that is wrong with a document: the object form of the format, or a bare list of events."""
    events = document.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(events, list):
        yield Problem(-1, 'no events: expected an object with a list "traceEvents", or a list')
        return
    sound: list[tuple[int, Event]] = []
    for number, event in enumerate(events):
        found = list(_event(event))
        yield from (Problem(number, text) for text in found)
        if not found:
            sound.append((number, event))
    for rule in (_nesting, _pairs, _flows):
        yield from rule(sound)


# -- one event -------------------------------------------------------------------------------------------------------------


def _event(event: object) -> Iterator[str]:
    if not isinstance(event, dict):
        yield f"expected an object, got {type(event).__name__}"
        return
    phase = event.get("ph")
    if phase not in PHASES:
        yield f"unknown phase {phase!r}: expected one of {', '.join(PHASES)}"
        return
    for key in PHASES[phase]:
        if key not in event:
            yield f"phase {phase} needs the key {key!r}"
    for key, (fits, words) in TYPES.items():
        if key in event and not fits(event[key]):
            yield f"{key!r} is {event[key]!r}: expected {words}"
    arguments = event.get("args")
    if isinstance(arguments, dict):
        yield from _arguments(phase, event.get("name"), arguments)


def _arguments(phase: str, name: object, arguments: dict[str, Any]) -> Iterator[str]:
    if phase == "C":
        if not arguments:
            yield "a counter without a series"
        for series, value in arguments.items():
            if not _is_number(value):
                yield f"counter series {series!r} is {value!r}: expected a number"
    needed = METADATA.get(str(name)) if phase == "M" else None
    if needed is not None and needed not in arguments:
        yield f"metadata {name} needs the argument {needed!r}"


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_time(value: Any) -> bool:
    return _is_number(value) and bool(value >= 0)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


# -- events together -------------------------------------------------------------------------------------------------------


def _nesting(events: list[tuple[int, Event]]) -> Iterator[Problem]:
    """Slices of one thread lie beside each other or inside each other."""
    threads: dict[tuple[int, int], list[tuple[float, float, int]]] = {}
    for number, event in events:
        if event["ph"] == "X":
            slices = threads.setdefault((event["pid"], event["tid"]), [])
            slices.append((event["ts"], -event["dur"], number))
    for (pid, tid), slices in threads.items():
        inside: list[tuple[float, int]] = []
        for start, negative, number in sorted(slices):
            end = start - negative
            while inside and inside[-1][0] <= start + TOLERANCE:
                inside.pop()
            if inside and end > inside[-1][0] + TOLERANCE:
                outer_end, outer = inside[-1]
                text = f"ends at {end} us, after event {outer} in which it begins ({outer_end} us)"
                yield Problem(number, f"{text}: slices of pid {pid}, tid {tid} must nest")
            inside.append((end, number))


def _pairs(events: list[tuple[int, Event]]) -> Iterator[Problem]:
    """Each ``E`` closes the last open ``B`` of its thread, not before it."""
    threads: dict[tuple[int, int], list[tuple[int, Event]]] = {}
    for number, event in events:
        if event["ph"] not in ("B", "E"):
            continue
        begun = threads.setdefault((event["pid"], event["tid"]), [])
        if event["ph"] == "B":
            begun.append((number, event))
        elif not begun:
            yield Problem(number, "an E without a B before it on its thread")
        else:
            opening, begin = begun.pop()
            if event["ts"] < begin["ts"]:
                yield Problem(number, f"an E at {event['ts']} us, before its B (event {opening}) at {begin['ts']} us")
            if event.get("name", begin["name"]) != begin["name"]:
                yield Problem(
                    number, f"an E named {event['name']!r} closes a B named {begin['name']!r} (event {opening})"
                )
    for begun in threads.values():
        yield from (Problem(number, "a B that no E closes") for number, _ in begun)


def _flows(events: list[tuple[int, Event]]) -> Iterator[Problem]:
    """A flow (category and id) has one start and one finish, and steps between them, in order of time."""
    flows: dict[tuple[str, object], dict[str, list[tuple[int, Event]]]] = {}
    for number, event in events:
        if event["ph"] in ("s", "t", "f"):
            flow = flows.setdefault((event["cat"], event["id"]), {"s": [], "t": [], "f": []})
            flow[event["ph"]].append((number, event))
    for (_, name), flow in flows.items():
        first = min(number for same in flow.values() for number, _ in same)
        for phase, words in (("s", "start"), ("f", "finish")):
            if len(flow[phase]) != 1:
                yield Problem(first, f"flow {name!r} has {len(flow[phase])} events {phase} ({words}): expected one")
        if len(flow["s"]) == len(flow["f"]) == 1:
            (_, start), (last, finish) = flow["s"][0], flow["f"][0]
            times = [start["ts"], *sorted(event["ts"] for _, event in flow["t"]), finish["ts"]]
            if times != sorted(times):
                yield Problem(last, f"flow {name!r} does not go forward in time: {times} us")
