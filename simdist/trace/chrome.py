"""How does a trace become a file that trace viewers open, and a trace again?

The file is in the Trace Event Format (Google, "Trace Event Format", 2016), the JSON that ui.perfetto.dev and chrome://tracing
open: a process is a rank, a thread is a stream, ``X`` is a span, an ``s``/``f`` pair is a message, ``C`` is a memory point.

The format counts in microseconds and viewers in nanoseconds, so ``ts`` and ``dur`` are decimal numbers rounded to a nanosecond;
start and end are rounded each, so spans that touch in the trace touch in the file. The exact times follow every chunk of events
in an ``exact_times`` metadata event, which viewers skip: 64-bit floats, little-endian, in base64. A trace that is read is
therefore *equal* to the one that was written.

Writing holds one chunk of text at a time. It is fast because the constant part of an event is cut once per (rank, stream, kind,
name), and the numbers of a chunk are put in by one formatting operation.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from json.encoder import encode_basestring_ascii
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO, cast

import numpy as np
import numpy.typing as npt

from simdist.trace.span import MAIN
from simdist.trace.trace import Trace

__all__ = ["EXACT", "lines", "read", "write"]

Row = tuple[Any, ...]

FORMAT = 1
"""The version of what is ours in the file: ``otherData`` and the exact times."""

EXACT = "exact_times"
"""The name of the metadata events that hold the exact times of the events before them."""

CHUNK = 2048
"""Events in one piece of text; larger ones are not faster."""

REMEMBERED = 1 << 14
"""How many cut texts are kept; more would let memory grow with the length of a run."""

TIME = "%.3f"
"""Microseconds, to the nanosecond."""


_encode = json.JSONEncoder(separators=(",", ":")).encode


def write(trace: Trace, path: str | Path) -> Path:
    """Write the trace as one file.

    Args:
        trace: what happened.
        path: the file; compressed if its name ends in ``.gz``.
    """
    path = Path(path)
    with _open(path, "w") as file:
        for text in lines(trace):
            file.write(text)
    return path


def lines(trace: Trace) -> Iterator[str]:
    """The pieces of the file, in order: a head, chunks of events (one a line), an end."""
    other = {"simdist": FORMAT, "world_size": trace.world_size, "end": trace.end, "meta": trace.meta}
    yield f'{{"displayTimeUnit":"ns","otherData":{json.dumps(other)},"traceEvents":[\n'
    streams = _threads(trace)
    yield ",\n".join(map(json.dumps, _names(streams, trace.world_size)))
    yield from _pieces(trace.span_rows, _Spans(streams), (4, 5))
    yield from _pieces(trace.flow_rows, _Flows(streams, trace), (2, 3, 4))
    yield from _pieces(trace.memory_rows, _memory, (1,))
    yield "\n]}\n"


def _open(path: Path, mode: str) -> TextIO:
    if path.suffix != ".gz":
        return cast(TextIO, path.open(mode, encoding="utf-8", newline="\n"))
    # No time stamp inside: the same trace gives the same bytes.
    return io.TextIOWrapper(cast(Any, gzip.GzipFile(path, mode + "b", compresslevel=1, mtime=0)), encoding="utf-8")


# -- writing ---------------------------------------------------------------------------------------------------------------


def _threads(trace: Trace) -> dict[tuple[int, str], int]:
    """A thread number for each stream of each rank: the main one is 1 (0 means "idle" to some viewers)."""
    keys: dict[tuple[int, str], None] = dict.fromkeys(map(itemgetter(0, 1), trace.span_rows))
    keys.update(dict.fromkeys((rank, MAIN) for rank in range(trace.world_size)))
    numbers: dict[tuple[int, str], int] = {}
    count: dict[int, int] = {}
    for rank, stream in sorted(keys, key=lambda key: (key[0], key[1] != MAIN, len(key[1]), key[1])):
        count[rank] = numbers[rank, stream] = count.get(rank, 0) + 1
    return numbers


def _names(streams: dict[tuple[int, str], int], world_size: int) -> Iterator[dict[str, Any]]:
    for rank in range(world_size):
        yield {"ph": "M", "name": "process_name", "pid": rank, "args": {"name": f"rank {rank}"}}
        yield {"ph": "M", "name": "process_sort_index", "pid": rank, "args": {"sort_index": rank}}
    for (rank, stream), number in streams.items():
        where = {"pid": rank, "tid": number}
        yield {"ph": "M", "name": "thread_name", **where, "args": {"name": stream}}
        yield {"ph": "M", "name": "thread_sort_index", **where, "args": {"sort_index": number}}


def _pieces(rows: Sequence[Row], cut: Callable[[Sequence[Row]], list[str]], times: tuple[int, ...]) -> Iterator[str]:
    """The events of ``rows``, a chunk at a time, each followed by its exact times.

    Args:
        rows: rows of one kind.
        cut: gives the events' texts, with ``TIME`` in them for each number they need (see ``_numbers``).
        times: which fields of a row are times.
    """
    pick = itemgetter(*times, 0)  # the rank as well, so that it gives a tuple for one time too
    for first in range(0, len(rows), CHUNK):
        chunk = rows[first : first + CHUNK]
        flat = np.fromiter(chain.from_iterable(map(pick, chunk)), dtype="<f8", count=len(chunk) * (len(times) + 1))
        exact = flat.reshape(len(chunk), -1)[:, :-1]
        text = ",\n".join(cut(chunk)) % tuple(_numbers(exact).tolist())
        block = base64.b64encode(exact.tobytes()).decode("ascii")
        yield f',\n{text},\n{{"ph":"M","name":"{EXACT}","pid":{chunk[0][0]},"args":{{"base64":"{block}"}}}}'


def _numbers(exact: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Times of shape (rows, fields), seconds, as what the texts need: microseconds, of whole nanoseconds.

    (start, end) becomes start and duration, (posted, start, end) becomes start and end, (time) stays.
    """
    nanoseconds = np.rint(exact * 1e9)[:, -2:]
    if exact.shape[1] == 2:
        nanoseconds[:, 1] -= nanoseconds[:, 0]
    return (nanoseconds / 1000).ravel()


@lru_cache(maxsize=REMEMBERED)
def _quoted(text: str) -> str:
    """``text`` as JSON inside a text that will be formatted."""
    return encode_basestring_ascii(text).replace("%", "%%")


class _Spans:
    """Cuts the texts of spans."""

    def __init__(self, streams: dict[tuple[int, str], int]) -> None:
        self.streams = streams
        self.heads: dict[Row, str] = {}
        self.tails: dict[int, str] = {}

    def __call__(self, chunk: Sequence[Row]) -> list[str]:
        heads, tails, head, tail = self.heads, self.tails, self._head, self._tail
        for known in (heads, tails):
            if len(known) > REMEMBERED:
                known.clear()
        # The trace keeps its dictionaries alive, so an address stands for one dictionary.
        return [
            (heads.get((rank, stream, kind, name)) or head(rank, stream, kind, name))
            + ("}" if details is None else tails.get(id(details)) or tail(details))
            for rank, stream, kind, name, _, _, details in chunk
        ]

    def _head(self, rank: int, stream: str, kind: str, name: str) -> str:
        where = f'"pid":{rank},"tid":{self.streams[rank, stream]}'
        text = f'{{"ph":"X",{where},"cat":"{kind}","name":{_quoted(name)},"ts":{TIME},"dur":{TIME}'
        self.heads[rank, stream, kind, name] = text
        return text

    def _tail(self, details: dict[str, Any]) -> str:
        text = self.tails[id(details)] = f',"args":{_encode(details).replace("%", "%%")}}}'
        return text


class _Flows:
    """Cuts the texts of messages: where one leaves and where it arrives, paired by a number."""

    def __init__(self, streams: dict[tuple[int, str], int], trace: Trace) -> None:
        self.streams, self.count = streams, 0
        rows = (row for row in trace.span_rows if row[1] != MAIN and row[6] and "group" in row[6])
        self.groups: dict[str, str] = {str(row[6]["group"]): row[1] for row in rows} if trace.flow_rows else {}

    def __call__(self, chunk: Sequence[Row]) -> list[str]:
        return [self._pair(row) for row in chunk]

    def _pair(self, row: Row) -> str:
        src, dst, nbytes, label = row[0], row[1], row[5], row[6]
        self.count += 1
        # A collective's messages belong to its group's stream, others to the main one.
        stream = self.groups.get(label.rpartition(" of group ")[2].strip("'\""), MAIN)
        same = f'"id":{self.count},"cat":"message","name":{_quoted(label)}'
        leaves = f'{{"ph":"s",{same},"pid":{src},"tid":{self.streams.get((src, stream), 1)}'
        arrives = f'{{"ph":"f","bp":"e",{same},"pid":{dst},"tid":{self.streams.get((dst, stream), 1)}'
        return f'{leaves},"ts":{TIME},"args":{{"bytes":{nbytes}}}}},\n{arrives},"ts":{TIME}}}'


def _memory(chunk: Sequence[Row]) -> list[str]:
    return [
        f'{{"ph":"C","name":"memory","pid":{rank},"ts":{TIME},"args":{{{_quoted(kind)}:{nbytes}}}}}'
        for rank, _, kind, nbytes in chunk
    ]


# -- reading ---------------------------------------------------------------------------------------------------------------


def read(path: str | Path) -> Trace:
    """Read a trace that ``write`` wrote; it is equal to the one that was written.

    Raises:
        ValueError: the file is no JSON, or no trace that simdist wrote.
        FileNotFoundError: there is no such file.
    """
    try:
        with _open(Path(path), "r") as file:
            found = json.load(file)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"not a gzip file: {error}") from error
    try:
        other = found["otherData"]
        if other["simdist"] != FORMAT:
            raise ValueError(f"its version is {other['simdist']!r}, this simdist reads {FORMAT}")
        rows = _rows(found["traceEvents"])
        return Trace(*rows, world_size=other["world_size"], end=other["end"], meta=other["meta"])
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"what a trace of simdist needs is missing: {type(error).__name__}: {error}") from error


def _rows(events: list[dict[str, Any]]) -> tuple[list[Row], list[Row], list[Row]]:
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    spans: list[Row] = []
    flows: list[Row] = []
    memory: list[Row] = []
    waiting: list[dict[str, Any]] = []
    for event in events:
        if event["ph"] != "M":
            waiting.append(event)
        elif event["name"] == EXACT:
            times = iter(np.frombuffer(base64.b64decode(event["args"]["base64"]), dtype="<f8").tolist())
            arrivals = {e["id"]: e["pid"] for e in waiting if e["ph"] == "f"}
            for e in waiting:
                if e["ph"] == "X":
                    what = (names[e["pid"], e["tid"]], e["cat"], e["name"])
                    spans.append((e["pid"], *what, next(times), next(times), e.get("args")))
                elif e["ph"] == "s":
                    when = (next(times), next(times), next(times))
                    flows.append((e["pid"], arrivals[e["id"]], *when, e["args"]["bytes"], e["name"]))
                elif e["ph"] == "C":
                    ((kind, nbytes),) = e["args"].items()
                    memory.append((e["pid"], next(times), kind, nbytes))
            waiting.clear()
    if waiting:
        raise ValueError(f"the exact times of the last {len(waiting)} events are missing")
    return spans, flows, memory
