from __future__ import annotations

import pickle
import random
import subprocess
import sys

import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.trace import Flow, MemoryPoint, Span, Trace
from tests.trace.programs import PROGRAMS, chain, overlap, straggler


def test_it_iterates_spans_in_the_order_of_recording() -> None:
    trace = chain()
    assert len(trace) == 7
    assert [span.name for span in trace][:2] == ["make", "tag 0: send to rank 1"]
    assert all(isinstance(span, Span) for span in trace)


@pytest.mark.parametrize(
    ("choice", "count"),
    [
        ({}, 14),
        ({"rank": 0}, 7),
        ({"stream": "comm:0"}, 2),
        ({"kind": "backward"}, 4),
        ({"rank": 1, "stream": "main", "kind": "backward"}, 2),
        ({"rank": 7}, 0),
    ],
)
def test_choosing_spans(choice, count: int) -> None:
    assert len(overlap().spans(**choice)) == count


def test_spans_come_in_order_of_time() -> None:
    rows = overlap().span_rows
    random.Random(0).shuffle(rows)
    spans = Trace(rows, world_size=2, end=3.875).spans()
    assert [s.start for s in spans] == sorted(s.start for s in spans)


def test_the_main_stream_comes_first() -> None:
    assert overlap().streams(0) == ["main", "comm:0"]
    assert chain().streams(1) == ["main"]
    assert chain().streams(9) == []


def test_messages() -> None:
    trace = straggler()
    assert [flow.start for flow in trace.flows(src=0)] == [3.0, 3.25]
    assert trace.flows(src=0, dst=0) == []
    assert len(trace.flows(dst=1)) == 2
    assert isinstance(trace.flows()[0], Flow)
    assert (trace.bytes_sent(0), trace.messages_sent(0)) == (8, 2)
    assert (chain().bytes_sent(1), chain().messages_sent(1)) == (0, 0)


def test_memory_points() -> None:
    assert overlap().memory(0) == [(0, 0.0, "parameters", 800), (0, 2.0, "buckets", 400)]
    assert isinstance(overlap().memory(1)[0], MemoryPoint)


def test_its_text() -> None:
    assert repr(straggler()) == "Trace(8 spans, 4 messages, 2 ranks, end=3.5)"


@pytest.mark.parametrize("program", PROGRAMS)
def test_equal_traces(program) -> None:
    assert program() == program()
    assert program().digest() == program().digest()
    assert pickle.loads(pickle.dumps(program())) == program()


def test_the_order_of_recording_makes_no_difference() -> None:
    trace = overlap()
    rows = trace.span_rows[::-1]
    assert Trace(rows, [], trace.memory_rows[::-1], world_size=2, end=trace.end, meta=trace.meta) == trace


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.span_rows.pop(),
        lambda t: t.flow_rows.pop(),
        lambda t: t.span_rows.__setitem__(0, (*t.span_rows[0][:5], 1.0000000000000002, None)),
        lambda t: t.meta.update(name="other"),
        lambda t: setattr(t, "end", 4.0),
        lambda t: setattr(t, "world_size", 3),
        lambda t: t.memory_rows.append((0, 0.0, "gradients", 1)),
    ],
)
def test_the_smallest_difference_is_one(change) -> None:
    trace = straggler()
    change(trace)
    assert trace != straggler()


def test_a_trace_is_no_key_and_equals_nothing_else() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(straggler())
    assert straggler() != 3


def _program(rank: int, world_size: int) -> None:
    sd.compute(seconds=1e-3 * (rank + 1))
    dist.barrier()


def test_the_same_run_gives_the_same_digest_whatever_the_hash_seed() -> None:
    code = (
        "import simdist as sd, simdist.distributed as dist\n"
        "def f(rank, world_size):\n    sd.compute(seconds=1e-3 * (rank + 1)); dist.barrier()\n"
        "print(sd.run(f, world_size=4, cluster='dgx-a100').trace.digest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    # Only the function's name in the meta data differs.
    mine = sd.run(_program, world_size=4, cluster="dgx-a100").trace
    mine.meta["name"] = "f"
    assert mine.digest() + "\n" in found
