from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.trace import chrome, hta
from simdist.trace.validate import PHASES, Problem, problems, validate
from tests.trace.programs import PROGRAMS, overlap, straggler

GOOD: dict[str, dict[str, Any]] = {
    "X": {"ph": "X", "name": "a", "pid": 0, "tid": 1, "ts": 1.0, "dur": 2.5},
    "B": {"ph": "B", "name": "a", "pid": 0, "tid": 1, "ts": 1.0},
    "E": {"ph": "E", "pid": 0, "tid": 1, "ts": 2.0},
    "i": {"ph": "i", "name": "a", "pid": 0, "tid": 1, "ts": 1},
    "s": {"ph": "s", "name": "m", "cat": "message", "id": 7, "pid": 0, "tid": 1, "ts": 1.0},
    "t": {"ph": "t", "name": "m", "cat": "message", "id": 7, "pid": 0, "tid": 1, "ts": 1.5},
    "f": {"ph": "f", "name": "m", "cat": "message", "id": 7, "pid": 1, "tid": 1, "ts": 2.0},
    "C": {"ph": "C", "name": "memory", "pid": 0, "ts": 0, "args": {"parameters": 8}},
    "M": {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "rank 0"}},
}


def texts(*events: Any) -> list[str]:
    return [str(problem) for problem in problems({"traceEvents": list(events)})]


@pytest.mark.parametrize("program", PROGRAMS)
def test_ours_are_valid(program, tmp_path: Path) -> None:
    for name in ("run.json", "run.json.gz"):
        assert validate(chrome.write(program(), tmp_path / name)) == []
    for path in sorted(hta.write(program(), tmp_path / "hta").iterdir()):
        assert validate(path) == []


def _run(rank: int, world_size: int) -> None:
    value, other = sd.tensor([float(rank)] * 1000), sd.tensor([1.0] * 1000)
    works = [dist.all_reduce(x, async_op=True) for x in (value, other)]
    sd.compute(seconds=1e-6 * rank)
    for work in works:
        work.wait()
    if rank == 0:
        dist.send(value, 1)
    elif rank == 1:
        dist.recv(value, 0)


def test_a_real_run_is_valid(tmp_path: Path) -> None:
    run = sd.run(_run, world_size=4, cluster="dgx-a100")
    assert len(run.trace.flows()) > 4
    assert validate(run.save_trace(tmp_path / "run.json")) == []


def test_good_events() -> None:
    assert set(GOOD) == set(PHASES)
    assert texts(*GOOD.values()) == []
    assert list(problems(list(GOOD.values()))) == [], "a bare list is a document of the format too"


@pytest.mark.parametrize(("phase", "key"), [(phase, key) for phase, keys in PHASES.items() for key in keys])
def test_each_missing_key_is_found(phase: str, key: str) -> None:
    event = {name: value for name, value in GOOD[phase].items() if name != key}
    assert f"event 0: phase {phase} needs the key {key!r}" in texts(event)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("name", 3, "a text"),
        ("cat", None, "a text"),
        ("pid", "0", "a whole number"),
        ("tid", True, "a whole number"),
        ("tid", 1.5, "a whole number"),
        ("ts", -1, "a number of microseconds, not negative"),
        ("ts", "1.0", "a number of microseconds, not negative"),
        ("ts", 1e999, "a number of microseconds, not negative"),
        ("dur", -0.001, "a number of microseconds, not negative"),
        ("args", [], "an object"),
    ],
)
def test_each_wrong_value_is_found(key: str, value: object, words: str) -> None:
    assert texts({**GOOD["X"], key: value}) == [f"event 0: {key!r} is {value!r}: expected {words}"]


def test_an_id_is_a_text_or_a_number() -> None:
    assert texts({**GOOD["s"], "id": "0x7"}, {**GOOD["f"], "id": "0x7"}) == []
    assert "event 0: 'id' is 1.5: expected a text or a whole number" in texts({**GOOD["s"], "id": 1.5})


def test_no_event_at_all() -> None:
    assert texts(3) == ["event 0: expected an object, got int"]
    assert texts({"ph": "Q"}) == [f"event 0: unknown phase 'Q': expected one of {', '.join(PHASES)}"]


@pytest.mark.parametrize("document", [3, {}, {"traceEvents": {}}, None])
def test_no_document(document: object) -> None:
    (problem,) = problems(document)
    assert problem == Problem(-1, 'no events: expected an object with a list "traceEvents", or a list')
    assert str(problem) == problem.text


@pytest.mark.parametrize("text", ["", "{", "[1,]", '{"traceEvents": [{"ts": NaN}]}'])
def test_no_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    (problem,) = validate(path)
    assert str(problem).startswith("not a JSON document: ")


def test_nan_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nan.json"
    path.write_text('[{"ts": NaN}]')
    assert str(validate(path)[0]) == "not a JSON document: NaN is no JSON number"


@pytest.mark.parametrize(
    "data", [b"no gzip", gzip.compress(b"[]" * 100)[:-20], b"\xff\xfe", gzip.compress(b"[]")[:10] + b"\xff" * 9]
)
def test_no_gzip(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bad.json.gz"
    path.write_bytes(data)
    assert str(validate(path)[0]).startswith("not a JSON document: ")


def _slice(start: float, duration: float, **other: Any) -> dict[str, Any]:
    return {**GOOD["X"], "ts": start, "dur": duration, **other}


@pytest.mark.parametrize(
    "slices",
    [
        [_slice(0, 10), _slice(10, 5)],
        [_slice(0, 10), _slice(2, 3), _slice(2, 1), _slice(5, 5)],
        [_slice(0, 10), _slice(0, 10), _slice(0, 4)],
        [_slice(0, 10), _slice(5, 10, tid=2)],
        [_slice(0, 10), _slice(5, 10, pid=1)],
        [_slice(0, 10), _slice(9.999, 10)],
        [_slice(0, 10), _slice(5, 5.001)],
        [_slice(5, 5), _slice(0, 5)],
    ],
)
def test_slices_that_nest(slices: list[dict[str, Any]]) -> None:
    assert texts(*slices) == []


def test_slices_that_do_not_nest() -> None:
    assert texts(_slice(0, 10), _slice(5, 10)) == [
        "event 1: ends at 15 us, after event 0 in which it begins (10 us): slices of pid 0, tid 1 must nest"
    ]


def test_pairs() -> None:
    begin, end = GOOD["B"], GOOD["E"]
    assert texts(begin, {**begin, "name": "b"}, {**end, "name": "b"}, end) == []
    assert texts(end) == ["event 0: an E without a B before it on its thread"]
    assert texts(begin) == ["event 0: a B that no E closes"]
    assert texts(begin, {**end, "tid": 2}) == [
        "event 1: an E without a B before it on its thread", "event 0: a B that no E closes",
    ]  # fmt: skip
    assert texts(begin, {**end, "ts": 0.5}) == ["event 1: an E at 0.5 us, before its B (event 0) at 1.0 us"]
    assert texts(begin, {**end, "name": "b"}) == ["event 1: an E named 'b' closes a B named 'a' (event 0)"]


def test_flows() -> None:
    start, step, finish = GOOD["s"], GOOD["t"], GOOD["f"]
    assert texts(start, finish) == texts(finish, start) == texts(start, step, finish) == []
    assert texts(start) == ["event 0: flow 7 has 0 events f (finish): expected one"]
    assert texts(finish) == ["event 0: flow 7 has 0 events s (start): expected one"]
    assert texts(start, start, finish) == ["event 0: flow 7 has 2 events s (start): expected one"]
    assert texts(start, {**finish, "cat": "other"}) == [
        "event 0: flow 7 has 0 events f (finish): expected one",
        "event 1: flow 7 has 0 events s (start): expected one",
    ]
    assert texts(start, {**finish, "ts": 0.5}) == ["event 1: flow 7 does not go forward in time: [1.0, 0.5] us"]
    assert texts(start, {**step, "ts": 9}, finish) == ["event 2: flow 7 does not go forward in time: [1.0, 9, 2.0] us"]


def test_counters_and_metadata() -> None:
    counter, meta = GOOD["C"], GOOD["M"]
    assert texts({**counter, "args": {}}) == ["event 0: a counter without a series"]
    assert texts({**counter, "args": {"x": "8"}}) == ["event 0: counter series 'x' is '8': expected a number"]
    assert texts({**meta, "args": {}}) == ["event 0: metadata process_name needs the argument 'name'"]
    assert texts({**meta, "name": "thread_sort_index"}) == [
        "event 0: metadata thread_sort_index needs the argument 'sort_index'"
    ]
    assert texts({**meta, "name": "something of ours"}) == []


def _fault(kind: str, events: list[dict[str, Any]]) -> None:
    first = {phase: next(event for event in events if event["ph"] == phase) for phase in ("X", "s", "f", "C", "M")}
    {
        "no dur": lambda: first["X"].pop("dur"),
        "negative dur": lambda: first["X"].update(dur=-1.0),
        "times as texts": lambda: first["X"].update(ts="0"),
        "longer slice": lambda: first["X"].update(ts=0.5, dur=2e6),
        "lost finish": lambda: events.remove(first["f"]),
        "lost start": lambda: events.remove(first["s"]),
        "same id": lambda: first["f"].update(id=2),
        "backward flow": lambda: first["f"].update(ts=0.0),
        "counter of text": lambda: first["C"].update(args={"parameters": "8"}),
        "no phase": lambda: first["X"].pop("ph"),
        "no name": lambda: first["M"].update(args={}),
        "no process": lambda: first["X"].pop("pid"),
    }[kind]()


@pytest.mark.parametrize(
    "kind",
    "no dur|negative dur|times as texts|longer slice|lost finish|lost start|same id|backward flow|counter of text|no phase"
    "|no name|no process".split("|"),
)
def test_each_fault_seeded_in_our_file_is_found(kind: str, tmp_path: Path) -> None:
    trace = straggler()
    trace.memory_rows = overlap().memory_rows
    document = json.loads(chrome.write(trace, tmp_path / "run.json").read_text())
    assert list(problems(document)) == []
    _fault(kind, document["traceEvents"])
    assert list(problems(document)), kind


def test_a_missing_file_is_no_problem_of_the_format(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        validate(tmp_path / "nothing.json")
