from __future__ import annotations

import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import TraceError
from simdist.trace import Trace
from simdist.trace.at import Activity, at
from tests.trace.programs import PROGRAMS, chain, overlap, straggler


def test_everybody_has_a_row() -> None:
    moment = at(overlap(), 2.5)
    assert [(a.rank, a.stream) for a in moment] == [(0, "main"), (0, "comm:0"), (1, "main"), (1, "comm:0")]
    assert len(moment) == 4
    assert moment.of(1) == Activity(1, "main", "backward", "linear", 2.0, 3.0)
    assert moment.of(0, "comm:0").kind == "communication"


def test_who_waits_names_whom_to_blame() -> None:
    moment = at(straggler(), 2.0)
    assert moment.of(0) == Activity(0, "main", "wait", "all_reduce #0", 1.0, 3.0, "all_reduce #0", (1,))
    assert str(moment.of(0)) == "waits for rank 1: all_reduce #0"
    assert moment.culprit(0) == 1
    assert moment.culprit(1) == 1
    assert str(moment.of(1)) == "compute: long"


def test_a_stream_without_work_is_quiet_from_its_last_span_to_its_next() -> None:
    assert at(straggler(), 0.5).of(1, "comm:0") == Activity(1, "comm:0", "quiet", "", 0.0, 3.0)
    assert at(overlap(), 3.75).of(0, "comm:0") == Activity(0, "comm:0", "quiet", "", 3.5, 3.875)


def test_a_span_covers_its_start_and_not_its_end() -> None:
    assert at(chain(), 2.0).of(0).kind == "communication"
    assert at(chain(), 2.25).of(0).kind == "idle"
    assert at(chain(), 0.0).of(0).name == "make"


def test_at_the_very_end_it_is_the_last_span() -> None:
    moment = at(chain(), 3.25)
    assert moment.of(1).name == "use"
    assert moment.next is None


@pytest.mark.parametrize("program", PROGRAMS)
def test_stepping_forward_and_back_visits_every_event(program) -> None:
    trace = program()
    times = sorted({t for span in trace for t in (span.start, span.end)})
    moment, forward = at(trace, 0.0), [0.0]
    assert moment.previous is None
    while moment.next is not None:
        moment = at(trace, moment.next)
        forward.append(moment.time)
    assert forward == times
    back = [moment.time]
    while moment.previous is not None:
        moment = at(trace, moment.previous)
        back.append(moment.time)
    assert back == times[::-1]


def test_what_is_on_the_wire() -> None:
    moment = at(straggler(), 3.125)
    assert [(f.src, f.dst) for f in moment.messages] == [(0, 1), (1, 0)]
    assert "on the wire: all_reduce #0 of group 'world', 4 B from rank 0 to rank 1" in str(moment)
    assert at(straggler(), 1.0).messages == ()


def test_many_messages_are_counted() -> None:
    flows = [(0, 1, 0.0, 0.0, 1.0, 1, "tag 0")] * 11
    trace = Trace([(0, "main", "compute", "x", 0.0, 1.0, None)], flows, world_size=2, end=1.0)
    assert "on the wire: 3 more messages" in str(at(trace, 0.5))


def test_its_text() -> None:
    assert str(at(straggler(), 2.0)).splitlines() == [
        "at 2.0000 s of 3.5000 s",
        "rank stream            since          until  does",
        "   0 main           1.0000 s       3.0000 s  waits for rank 1: all_reduce #0",
        "   0 comm:0         1.0000 s       3.0000 s  waits for rank 1: all_reduce #0",
        "   1 main           0.0000 s       3.0000 s  compute: long",
        "   1 comm:0         0.0000 s       3.0000 s  -",
        "previous event 1.0000 s, next event 3.0000 s",
    ]


def test_a_run_without_a_trace() -> None:
    moment = at(Trace([], world_size=2, end=1.0), 0.5)
    assert (len(moment), moment.previous, moment.next) == (0, None, None)
    assert str(moment).startswith("(the run did nothing that takes time: no rank computed")
    with pytest.raises(
        TraceError, match=r"there is no answer: the run kept no trace \(traced=False\): run it again with traced=True"
    ):
        at(Trace([], world_size=2, end=1.0, is_kept=False), 0.5)


def _waiting(rank: int, cause: int) -> tuple[object, ...]:
    return (rank, "main", "wait", "recv", 0.0, 1.0, {"for": [cause], "op": f"recv from rank {cause}"})


def test_blame_is_followed_to_its_end() -> None:
    rows = [_waiting(0, 1), _waiting(1, 2), (2, "main", "compute", "slow", 0.0, 1.0, None)]
    moment = at(Trace(rows, world_size=3, end=1.0), 0.5)
    assert moment.culprit(0) == 2
    assert "waits for rank 1: recv from rank 1, in the end for rank 2" in str(moment)


def test_blame_in_a_circle_ends() -> None:
    moment = at(Trace([_waiting(0, 1), _waiting(1, 0)], world_size=2, end=1.0), 0.5)
    assert moment.culprit(0) == 0
    assert "in the end" not in str(moment)


def test_in_a_tree_the_partner_of_the_next_message_is_to_blame() -> None:
    rows = [
        (0, "main", "compute", "slow", 0.0, 1.0, None),
        (1, "main", "wait", "broadcast #0", 0.0, 1.0, {"op": "broadcast #0"}),
        (2, "main", "wait", "broadcast #0", 0.0, 2.0, {"op": "broadcast #0"}),
    ]
    flows = [
        (0, 1, 1.0, 1.0, 2.0, 8, "broadcast #0 of group 'world'"),
        (1, 2, 2.0, 2.0, 3.0, 8, "broadcast #0 of group 'world'"),
        (2, 0, 0.75, 0.75, 1.0, 8, "tag 3"),
    ]
    moment = at(Trace(rows, flows, world_size=3, end=3.0), 0.5)
    assert moment.of(1).blame == (0,)
    assert moment.of(2).blame == (1,)
    assert moment.culprit(2) == 0


def test_waiting_of_unknown_cause() -> None:
    moment = at(Trace([(0, "main", "wait", "join", 0.0, 1.0, None)], world_size=1, end=1.0), 0.5)
    assert str(moment.of(0)) == "waits for join"
    assert moment.culprit(0) == 0


@pytest.mark.parametrize("t", [-1e-9, 3.6, float("nan")])
def test_a_time_outside_the_run_is_refused(t: float) -> None:
    with pytest.raises(ValueError, match=r"at .* s nothing happened: the run goes from 0 to 3\.5000 s\."):
        at(straggler(), t)


def test_a_row_that_is_not_there_is_refused() -> None:
    with pytest.raises(KeyError, match=r"no row for rank 7, stream 'main': there are rank 0 'main', rank 0 'comm:0'"):
        at(straggler(), 0.0).of(7)


@pytest.mark.parametrize(
    ("scale", "text"),
    [(1.0, "2.0000 s of 3.5000 s"), (1e-3, "2.0000 ms of 3.5000 ms"), (1e-9, "0.0020 us of 0.0035 us")],
)
def test_the_clock_fits_the_run(scale: float, text: str) -> None:
    trace = Trace([(0, "main", "compute", "x", 0.0, 3.5 * scale, None)], world_size=1, end=3.5 * scale)
    assert str(at(trace, 2.0 * scale)).startswith(f"at {text}\n")


def _program(rank: int, world_size: int) -> None:
    sd.compute(seconds=1e-3 * (rank == 2), name="late")
    dist.barrier()


def test_a_run_names_its_straggler() -> None:
    moment = sd.run(_program, world_size=4, cluster="dgx-a100").at(0.5e-3)
    assert [moment.of(rank).blame for rank in range(4)] == [(2,), (2,), (), (2,)]
    assert str(moment.of(2)) == "compute: late"
