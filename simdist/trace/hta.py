"""How does a trace become what Holistic Trace Analysis reads?

HTA (Meta, ``pip install HolisticTraceAnalysis``) analyses folders of PyTorch profiler traces, one file per rank. It tells what a
rank did by the profiler's vocabulary, so this module translates:

* Work on the main stream (forward, backward, optimizer, compute) is a ``kernel`` on GPU stream 7, the profiler's default.
* Communication is a ``kernel`` on a stream of its group, named ``ncclDevKernel_...``: HTA knows communication by that name.
  Where the main program blocks in a message there is no other stream: it gets stream 20.
* Launching is a ``cpu_op`` with a ``cuda_runtime`` call inside, joined to its kernel by a ``correlation`` number.
* Waiting, sleeping and idling are what they are on a GPU: no kernel.

So HTA's computing is the sum of our four kinds of work, and its overlap is communication beside these; ``Run.report`` counts the
launches of primitives as work too. HTA rounds times that are no whole numbers to whole microseconds, longer than most of what a
simulated accelerator does, so times are written in whole *nanoseconds*: what HTA labels microseconds are nanoseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simdist.trace.span import MAIN
from simdist.trace.trace import Trace

__all__ = ["FILE", "events", "write"]

Row = tuple[Any, ...]
Event = dict[str, Any]

FILE = "rank-{rank}.json"
"""The name of a rank's file."""

WORK = ("forward", "backward", "optimizer", "compute")
"""Kinds of main spans in which the accelerator computes."""

COMPUTE_STREAM, MESSAGE_STREAM = 7, 20
"""GPU streams of the main program: its work, and messages in which it blocks. Groups count on from ``MESSAGE_STREAM``."""

FIRST_CORRELATION = 1 << 32
"""HTA keeps row numbers in the integer type that fits the correlation numbers, so these must not be small."""

KERNELS: dict[str, str] = {
    "all_reduce": "AllReduce",
    "all_gather": "AllGather",
    "all_gather_into_tensor": "AllGather",
    "reduce_scatter": "ReduceScatter",
    "reduce_scatter_tensor": "ReduceScatter",
    "broadcast": "Broadcast",
    "reduce": "Reduce",
}
"""The kernel that NCCL has for a collective; everything else is made of sends and receives."""


def write(trace: Trace, folder: str | Path) -> Path:
    """Write one file per rank, to be read by ``hta.trace_analysis.TraceAnalysis(trace_dir=folder)``.

    Args:
        trace: what happened.
        folder: where to; it is made if it is not there. Files that an earlier call left in it for other ranks are removed.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for stale in sorted(folder.glob(FILE.format(rank="*"))):
        stale.unlink()
    rows: list[list[Row]] = [[] for _ in range(trace.world_size)]
    for row in trace.span_rows:
        rows[row[0]].append(row)
    for rank in range(trace.world_size):
        info = {"backend": "nccl", "rank": rank, "world_size": trace.world_size}
        with (folder / FILE.format(rank=rank)).open("w", encoding="utf-8", newline="\n") as file:
            # HTA looks for the rank line by line, with a space after the colon.
            file.write(
                f'{{"schemaVersion": 1, "timeUnit": "ns", "distributedInfo": {json.dumps(info)}, "traceEvents": ['
            )
            separator = "\n"
            for event in events(rank, trace.world_size, rows[rank]):
                file.write(separator + json.dumps(event))
                separator = ",\n"
            file.write("\n]}\n")
    return folder


def events(rank: int, world_size: int, rows: list[Row]) -> Iterator[Event]:
    """A rank's spans in the profiler's words.

    Args:
        rank: whose.
        world_size: number of ranks; the program's own process gets a number above them.
        rows: the rank's rows of ``Span``.
    """
    host = world_size + rank
    names = ((rank, f"GPU {rank}"), (host, f"rank {rank}"))
    for pid, name in names:
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": name}}
    rows = sorted(rows, key=lambda row: (row[4], row[5], row[1] != MAIN))
    others = sorted({row[1] for row in rows} - {MAIN}, key=lambda name: (len(name), name))
    streams = {name: MESSAGE_STREAM + 1 + place for place, name in enumerate(others)}
    beside = {row[3] for row in rows if row[1] != MAIN}
    launch: Row | None = None
    for number, row in enumerate(rows, start=FIRST_CORRELATION):
        _, stream, kind, name, start, end, details = row
        if stream == MAIN and kind == "launch":
            launch = row
        elif stream == MAIN and kind in WORK:
            began, ready = (launch[4], launch[5]) if launch is not None else (start, start)
            launch = None
            yield from _launched(host, number, name, began, ready)
            yield _event("kernel", name, rank, COMPUTE_STREAM, start, end, number)
        elif kind == "communication" and (stream != MAIN or name not in beside):
            yield from _launched(host, number, name, start, start)
            yield _event("kernel", _kernel(details), rank, streams.get(stream, MESSAGE_STREAM), start, end, number)


def _launched(host: int, number: int, name: str, start: float, end: float) -> Iterator[Event]:
    yield _event("cpu_op", name, host, host, start, end, None)
    yield _event("cuda_runtime", "cudaLaunchKernel", host, host, start, end, number)


def _event(category: str, name: str, pid: int, tid: int, start: float, end: float, number: int | None) -> Event:
    # Start and end are rounded each: sums over spans that touch do not collect the rounding.
    begin, stop = round(start * 1e9), round(end * 1e9)
    args: dict[str, Any] = {"External id": number} if number is not None else {}
    if category == "kernel":
        args |= {"stream": tid, "device": pid, "correlation": number}
    elif number is not None:
        args["correlation"] = number
    where = {"pid": pid, "tid": tid}
    return {"ph": "X", "cat": category, "name": name, **where, "ts": begin, "dur": stop - begin, "args": args}


def _kernel(details: dict[str, Any] | None) -> str:
    return f"ncclDevKernel_{KERNELS.get((details or {}).get('collective', ''), 'SendRecv')}"
