from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simdist as sd
import simdist.distributed as dist
from simdist.errors import TraceError
from simdist.trace import Trace
from simdist.trace.breakdown import PARTS, WAITING, breakdown, report_text
from simdist.trace.span import KINDS
from tests.trace.programs import PROGRAMS, chain, overlap, straggler


def test_a_straggler_by_hand() -> None:
    found = breakdown(straggler())
    assert found.parts == (
        {"compute": 1.0, "wait": 2.0, "communication": 0.5},
        {"compute": 3.0, "communication": 0.5},
    )
    assert found.hidden == (0.0, 0.0)
    assert found.communication == (0.5, 0.5)
    assert found.mean["compute"] == 2.0
    assert found.mean["wait"] == 1.0
    assert found.overlap == 0.0


def test_overlap_by_hand() -> None:
    found = breakdown(overlap())
    parts = {"forward": 1.0, "backward": 2.0, "communication": 0.5, "launch": 0.125, "optimizer": 0.25}
    assert found.parts == (parts, parts)
    assert found.communication == (1.5, 1.5)
    assert found.hidden == (1.0, 1.0), "the bucket moves from 2.0 to 3.5, backward works until 3.0"
    assert found.overlap == pytest.approx(2 / 3, abs=1e-15)


def test_a_chain_by_hand() -> None:
    found = breakdown(chain())
    assert found.parts == (
        {"compute": 2.0, "communication": 0.25, "idle": 1.0},
        {"sleep": 1.0, "wait": 1.0, "communication": 0.25, "compute": 1.0},
    )
    assert found.communication == (0.0, 0.0), "a message in which the program blocks has no stream beside it"


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_parts_sum_to_the_end(program) -> None:
    found = breakdown(program())
    for parts in found.parts:
        assert math.isclose(sum(parts.values()), found.end, rel_tol=1e-12)
    assert math.isclose(sum(found.mean.values()), found.end, rel_tol=1e-12)


def test_the_parts_are_the_kinds() -> None:
    assert set(PARTS) == set(KINDS)
    assert set(WAITING) < set(PARTS)


def test_a_gap_is_an_assertion_with_a_message() -> None:
    rows = [row for row in straggler().span_rows if row[2] != "wait"]
    with pytest.raises(AssertionError, match=r"rank 0: 2\.0 s of the main stream are not accounted for"):
        breakdown(Trace(rows, world_size=2, end=3.5))


def test_spans_that_overlap_on_the_main_stream_are_an_assertion() -> None:
    rows = [*straggler().span_rows, (0, "main", "compute", "twice", 0.5, 3.0, None)]
    with pytest.raises(AssertionError, match="rank 0: -"):
        breakdown(Trace(rows, world_size=2, end=3.5))


def test_an_unknown_kind_is_an_assertion() -> None:
    with pytest.raises(AssertionError, match="a span of the unknown kind 'other'"):
        breakdown(Trace([(0, "main", "other", "x", 0.0, 1.0, None)], world_size=1, end=1.0))


def test_waiting_on_a_stream_is_no_communication() -> None:
    rows = [
        (0, "main", "compute", "x", 0.0, 4.0, None),
        (0, "comm:0", "wait", "all_reduce #0", 0.0, 1.0, None),
        (0, "comm:0", "communication", "all_reduce #0", 1.0, 2.0, None),
        (0, "comm:1", "communication", "all_reduce #0", 1.5, 3.0, None),
    ]
    found = breakdown(Trace(rows, world_size=1, end=4.0))
    assert found.communication == (2.0,), "two streams at once count once"
    assert found.hidden == (2.0,)
    assert found.overlap == 1.0


def test_the_report_by_hand() -> None:
    text = report_text(straggler())
    assert text.splitlines() == [
        "                                 mean   share      least       most",
        "computing                         2 s   57.1%        1 s        3 s",
        "exposed communication          500 ms   14.3%     500 ms     500 ms",
        "waiting for other ranks           1 s   28.6%        0 s        2 s",
        "sum                             3.5 s  100.0%",
        "communication 500 ms per rank, of which 0% hidden behind work",
    ]
    assert str(breakdown(straggler())) == text
    assert "of which 67% hidden behind work" in report_text(overlap())
    assert "communication 0" not in report_text(chain())


def test_a_run_without_a_trace_says_so() -> None:
    untraced = Trace([], world_size=2, end=1.0, is_kept=False)
    assert report_text(untraced) == (
        "(the run kept no trace (traced=False): run it again with traced=True, which is the default of sd.run)"
    )
    with pytest.raises(TraceError, match=r"there is no breakdown: the run kept no trace"):
        breakdown(untraced)


def test_nothing_at_all() -> None:
    found = breakdown(Trace([], world_size=1, end=0.0))
    assert (found.parts, found.overlap) == (({},), 0.0)
    assert str(found) == report_text(Trace([], world_size=1, end=0.0))
    assert str(found).startswith(
        "(the run did nothing that takes time: no rank computed with tensors, communicated or slept."
    )


def _late(rank: int, world_size: int) -> None:
    sd.compute(seconds=0.5 + 0.5 * (rank == 2))
    dist.barrier()
    if rank == 0:
        sd.sleep(0.25)


def test_a_run_by_hand() -> None:
    run = sd.run(_late, world_size=4, cluster="dgx-a100")
    parts = run.breakdown.parts
    assert [p["compute"] for p in parts] == [0.5, 0.5, 1.0, 0.5]
    assert [p.get("wait", 0.0) for p in parts] == [0.5, 0.5, 0.0, 0.5]
    assert [p.get("sleep", 0.0) for p in parts] == pytest.approx([0.25, 0.0, 0.0, 0.0])
    assert [p.get("idle", 0.0) for p in parts] == pytest.approx([0.0, 0.25, 0.25, 0.25], rel=1e-3)
    for p in parts:
        assert math.isclose(sum(p.values()), run.time, rel_tol=1e-12)


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(list(KINDS)), st.floats(1e-9, 1e3)), min_size=1, max_size=20),
        min_size=1, max_size=4,
    )
)  # fmt: skip
def test_conservation(ranks) -> None:
    rows = []
    ends = []
    for rank, pieces in enumerate(ranks):
        now = 0.0
        for kind, seconds in pieces:
            rows.append((rank, "main", kind, "x", now, now + seconds, None))
            now += seconds
        ends.append(now)
    end = max(ends)
    rows += [(rank, "main", "idle", "returned", now, end, None) for rank, now in enumerate(ends) if now < end]
    for parts in breakdown(Trace(rows, world_size=len(ranks), end=end)).parts:
        assert math.isclose(sum(parts.values()), end, rel_tol=1e-12)
