"""What does a trace cost: recording a span, and writing a million of them?

* Recording: a tuple appended to a list, the clock moved; against a bare SimPy timeout in the same run (goal: at most 0.25).
* Writing: a million spans of a data-parallel training as one Chrome file, against ``json.dumps`` of the same spans as
  dictionaries that are there already, without writing the text to a file (goal: at most 0.45). Both in processor time,
  interleaved, the best of each: the machine's other work does not count.
* Memory: the peak that writing adds, for a tenth of the spans and for all of them.
"""

from __future__ import annotations

import gc
import json
import statistics
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

import simpy

import simdist as sd
from simdist import nn, optim
from simdist.nn.parallel import DistributedDataParallel
from simdist.trace import Trace, chrome

SPANS = 1_000_000
ROUNDS = 5


def timeout(count: int = 50_000) -> float:
    """Seconds for one SimPy timeout and the resumption of the process that waits for it."""
    env = simpy.Environment()

    def process() -> Any:
        for _ in range(count):
            yield env.timeout(1.0)

    env.process(process())
    start = time.process_time()
    env.run()
    return (time.process_time() - start) / count


def record(count: int = 200_000) -> float:
    """Seconds for one recorded span, as ``sim.rank`` records it."""
    spans: list[Any] = []
    rank, now = 3, 0.0
    start = time.process_time()
    for _ in range(count):
        end = now + 1e-6
        spans.append((rank, "main", "forward", "linear", now, end, None))
        now = end
    return (time.process_time() - start) / count


def train(rank: int, world_size: int) -> None:
    """What the spans are of."""
    model = DistributedDataParallel(nn.MLP([64, 128, 10]))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for x, y in sd.data.digits(batch_size=256, rank=rank, world_size=world_size, steps=10):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def million(count: int = SPANS) -> Trace:
    """The spans of a run, one such run after the other until there are enough; each has its own collectives."""
    run = sd.run(train, world_size=8, cluster="dgx-a100")
    rows: list[Any] = []
    repeat = 0
    while len(rows) < count:
        copies: dict[int, dict[str, Any]] = {}
        for rank, stream, kind, name, start, end, details in run.trace.span_rows:
            later = details
            if details is not None:
                later = copies.get(id(details)) or copies.setdefault(id(details), details | {"round": repeat})
            shift = repeat * run.time
            rows.append((rank, stream, kind, name, shift + start, shift + end, later))
        repeat += 1
    return Trace(rows[:count], world_size=8, end=repeat * run.time)


def as_dicts(trace: Trace) -> list[dict[str, Any]]:
    """The same events, as one would hand them to ``json.dumps``."""
    found = []
    for rank, stream, kind, name, start, end, details in trace.span_rows:
        event = {
            "ph": "X", "pid": rank, "tid": 1 if stream == "main" else 2, "cat": kind, "name": name,
            "ts": start * 1e6, "dur": (end - start) * 1e6,
        }  # fmt: skip
        if details is not None:
            event["args"] = details
        found.append(event)
    return found


def export(trace: Trace, path: Path) -> float:
    """Seconds to write it."""
    start = time.process_time()
    chrome.write(trace, path)
    return time.process_time() - start


def dump(events: list[dict[str, Any]]) -> float:
    """Seconds for ``json.dumps`` alone: nothing is written."""
    start = time.process_time()
    json.dumps(events)
    return time.process_time() - start


def peak(trace: Trace, path: Path) -> float:
    """Megabytes that writing adds at most."""
    tracemalloc.start()
    chrome.write(trace, path)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / 1e6


def main() -> None:
    """Print the figures."""
    ratios = [record() / timeout() for _ in range(ROUNDS)]
    print(f"recording a span: {statistics.median(ratios):.2f} of a SimPy timeout (goal 0.25)")
    trace = million()
    events = as_dicts(trace)
    gc.freeze()  # what is measured makes no garbage that only the collector finds
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        pairs = [(export(trace, path), dump(events)) for _ in range(3)]
        ours, theirs = (min(times) for times in zip(*pairs, strict=True))
        size = path.stat().st_size / 1e6
        print(
            f"{len(trace):,} spans, {size:.0f} MB: {ours:.2f} s, json.dumps {theirs:.2f} s, ratio {ours / theirs:.2f} (goal 0.45)"
        )
        del events
        tenth = Trace(trace.span_rows[: SPANS // 10], world_size=8, end=trace.end)
        print(f"memory: {peak(tenth, path):.1f} MB for a tenth of them, {peak(trace, path):.1f} MB for all")


if __name__ == "__main__":
    main()
