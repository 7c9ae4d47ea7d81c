from __future__ import annotations

import itertools
import json
import math
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import simdist as sd
from simdist import nn
from simdist.nn.parallel import DistributedDataParallel
from simdist.trace import Trace, chrome
from simdist.trace.span import KINDS
from simdist.trace.validate import problems
from tests.trace.programs import PROGRAMS, overlap, straggler


def document(trace: Trace) -> dict[str, Any]:
    found: dict[str, Any] = json.loads("".join(chrome.lines(trace)))
    return found


def events(trace: Trace, phase: str) -> list[dict[str, Any]]:
    return [event for event in document(trace)["traceEvents"] if event["ph"] == phase]


@pytest.mark.parametrize("name", ["run.json", "run.json.gz"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_reading_back_gives_an_equal_trace(program, name: str, tmp_path: Path) -> None:
    trace = program()
    path = chrome.write(trace, tmp_path / name)
    found = chrome.read(path)
    assert found == trace
    assert (found.span_rows, found.flow_rows, found.memory_rows) == (
        trace.span_rows, trace.flow_rows, trace.memory_rows,
    )  # fmt: skip
    assert (found.world_size, found.end, found.meta) == (trace.world_size, trace.end, trace.meta)


@pytest.mark.parametrize("name", ["run.json", "run.json.gz"])
def test_equal_traces_give_equal_bytes(name: str, tmp_path: Path) -> None:
    first, second = (chrome.write(straggler(), tmp_path / folder / name) for folder in _folders(tmp_path))
    assert first.read_bytes() == second.read_bytes()


def _folders(path: Path) -> tuple[str, str]:
    for name in ("a", "b"):
        (path / name).mkdir()
    return "a", "b"


def test_a_span_is_a_complete_event_in_microseconds() -> None:
    assert events(straggler(), "X")[1] == {
        "ph": "X", "pid": 1, "tid": 1, "cat": "compute", "name": "long", "ts": 0.0, "dur": 3e6,
    }  # fmt: skip
    assert events(straggler(), "X")[2]["args"] == {"op": "all_reduce #0", "group": "world", "for": [1]}


def test_a_rank_is_a_process_and_a_stream_a_thread() -> None:
    found = events(straggler(), "M")
    names = [(e["pid"], e.get("tid"), e["args"]["name"]) for e in found if e["name"].endswith("_name")]
    assert names == [
        (0, None, "rank 0"), (1, None, "rank 1"), (0, 1, "main"), (0, 2, "comm:0"), (1, 1, "main"), (1, 2, "comm:0"),
    ]  # fmt: skip
    assert [e["args"]["sort_index"] for e in found if e["name"] == "process_sort_index"] == [0, 1]


def test_a_message_is_a_pair_on_the_stream_of_its_group() -> None:
    start, finish = events(straggler(), "s")[0], events(straggler(), "f")[0]
    assert (start["id"], start["pid"], start["tid"], start["ts"], start["args"]) == (1, 0, 2, 3e6, {"bytes": 4})
    assert (finish["id"], finish["pid"], finish["tid"], finish["ts"], finish["bp"]) == (1, 1, 2, 3.25e6, "e")


def test_a_message_of_no_group_is_on_the_main_stream() -> None:
    trace = PROGRAMS[2]()
    assert [e["tid"] for phase in "sf" for e in events(trace, phase)] == [1, 1]


def test_a_memory_point_is_a_counter() -> None:
    assert events(overlap(), "C")[1] == {"ph": "C", "name": "memory", "pid": 0, "ts": 2e6, "args": {"buckets": 400}}


def test_spans_that_touch_in_the_trace_touch_in_the_file() -> None:
    times = [k / 7e9 for k in range(300)]
    rows = [(0, "main", "compute", "x", a, b, None) for a, b in itertools.pairwise(times)]
    found = events(Trace(rows, world_size=1, end=times[-1]), "X")
    for this, following in itertools.pairwise(found):
        assert math.isclose(this["ts"] + this["dur"], following["ts"], abs_tol=1e-9)


@pytest.mark.parametrize(
    "name", ['"quoted"', "100 %", "%d %s %%", "back\\slash", "Grüße", "\x00\n\t", "日本", "}", "", "</script>"]
)
def test_any_name_survives(name: str, tmp_path: Path) -> None:
    rows = [(0, "main", "compute", name, 0.0, 1.0, {name: name}), (0, name + "s", "wait", name, 0.0, 1.0, {})]
    trace = Trace(rows, [(0, 0, 0.0, 0.5, 1.0, 3, name)], [(0, 0.0, name, 1)], world_size=1, end=1.0, meta={name: name})
    assert chrome.read(chrome.write(trace, tmp_path / "run.json")).span_rows == rows
    assert chrome.read(tmp_path / "run.json") == trace
    assert list(problems(json.loads((tmp_path / "run.json").read_text()))) == []


def test_no_details_are_not_empty_details(tmp_path: Path) -> None:
    rows = [(0, "main", "compute", "x", 0.0, 1.0, details) for details in (None, {}, {"a": 0.1, "b": [1, None]})]
    assert chrome.read(chrome.write(Trace(rows, world_size=1, end=1.0), tmp_path / "x.json")).span_rows == rows


def test_a_trace_without_anything(tmp_path: Path) -> None:
    trace = Trace([], world_size=1, end=0.0)
    assert chrome.read(chrome.write(trace, tmp_path / "x.json")) == trace
    assert list(problems(document(trace))) == []


@pytest.mark.parametrize("count", [chrome.CHUNK - 1, chrome.CHUNK, chrome.CHUNK + 1, 3 * chrome.CHUNK])
def test_chunks_meet(count: int, tmp_path: Path) -> None:
    rows = [(0, "main", "compute", f"x{i}", i / 3, (i + 1) / 3, None) for i in range(count)]
    trace = Trace(rows, world_size=1, end=count / 3)
    assert chrome.read(chrome.write(trace, tmp_path / "x.json")).span_rows == rows


times = st.floats(0, 1e6, allow_subnormal=True)
texts = st.text(max_size=8)
details = st.none() | st.dictionaries(texts, st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts)
span_rows = st.tuples(
    st.integers(0, 2),
    st.sampled_from(["main", "comm:0", "comm:12"]),
    st.sampled_from(list(KINDS)),
    texts,
    times,
    times,
    details,
)
flow_rows = st.tuples(st.integers(0, 2), st.integers(0, 2), times, times, times, st.integers(0, 2**60), texts)
memory_rows = st.tuples(st.integers(0, 2), times, texts, st.integers(0, 2**60))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(span_rows, max_size=8), st.lists(flow_rows, max_size=4), st.lists(memory_rows, max_size=4), times)
def test_any_trace_reads_back_equal(tmp_path: Path, spans, flows, memory, end: float) -> None:
    trace = Trace(spans, flows, memory, world_size=3, end=end, meta={"seed": 1, "rate": 0.1})
    found = chrome.read(chrome.write(trace, tmp_path / "run.json"))
    assert found == trace
    assert (found.span_rows, found.flow_rows, found.memory_rows) == (spans, flows, memory)


def _train(rank: int, world_size: int) -> None:
    model = DistributedDataParallel(nn.MLP([64, 32, 10]))
    for x, y in sd.data.digits(batch_size=32, rank=rank, world_size=world_size, steps=2):
        nn.functional.cross_entropy(model(x), y).backward()


def test_a_run_reads_back_equal(tmp_path: Path) -> None:
    run = sd.run(_train, world_size=4, cluster="dgx-a100")
    found = chrome.read(run.save_trace(tmp_path / "run.json"))
    assert found == run.trace
    assert found.digest() == run.trace.digest()
    assert found.span_rows == run.trace.span_rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Expecting value"),
        ("[]", "what a trace of simdist needs is missing: TypeError"),
        ('{"a": 1}', "what a trace of simdist needs is missing: KeyError: 'otherData'"),
        ('{"otherData": {"simdist": 99}}', "its version is 99, this simdist reads 1"),
        ('{"otherData": {"simdist": 1}, "traceEvents": [{"ph": "X"}]}', "what a trace of simdist needs is missing"),
    ],
)
def test_other_files_are_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        chrome.read(path)


def test_events_added_behind_the_exact_times_are_refused(tmp_path: Path) -> None:
    found = document(straggler())
    found["traceEvents"].append(found["traceEvents"][-2])
    (tmp_path / "x.json").write_text(json.dumps(found))
    with pytest.raises(ValueError, match="the exact times of the last 1 events are missing"):
        chrome.read(tmp_path / "x.json")


@pytest.mark.parametrize("data", [b"no gzip", b""])
def test_a_file_that_is_not_compressed_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"not a gzip file|Expecting value"):
        chrome.read(path)


def test_a_file_laid_out_anew_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(document(straggler()), indent=4))
    assert chrome.read(tmp_path / "x.json") == straggler()


def test_writing_takes_the_same_memory_for_any_length(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        rows = [(i % 4, "main", "compute", f"x{i % 64}", i / 3, (i + 1) / 3, None) for i in range(count)]
        trace = Trace(rows, world_size=4, end=count / 3)
        tracemalloc.start()
        try:
            chrome.write(trace, tmp_path / "x.json")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)
    assert peak(30_000) < 1.2 * peak(10_000)
