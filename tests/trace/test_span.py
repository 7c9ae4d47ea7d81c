from __future__ import annotations

import itertools

import pytest

from simdist.trace.span import KINDS, MAIN, Flow, MemoryPoint, Span
from tests.trace.programs import PROGRAMS


def test_rows_become_spans() -> None:
    span = Span._make((0, "main", "forward", "linear", 1.0, 1.5, None))
    assert (span.rank, span.stream, span.kind, span.name, span.details) == (0, MAIN, "forward", "linear", None)
    assert span.duration == 0.5


def test_a_span_equals_its_row() -> None:
    row = (0, "main", "forward", "linear", 1.0, 1.5, None)
    assert Span._make(row) == row
    assert hash(Span._make(row)) == hash(row)


def test_a_span_without_details_has_none() -> None:
    assert Span(0, MAIN, "wait", "barrier", 0.0, 1.0).details is None


def test_the_fields_of_a_flow_and_of_a_memory_point() -> None:
    assert Flow._fields == ("src", "dst", "posted", "start", "end", "nbytes", "label")
    assert MemoryPoint._fields == ("rank", "time", "kind", "nbytes")


def test_each_kind_says_what_it_means() -> None:
    assert list(KINDS) == [
        "forward", "backward", "optimizer", "compute", "launch", "communication", "wait", "sleep", "idle",
    ]  # fmt: skip
    assert all(KINDS.values())


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_main_stream_tiles_the_time(program) -> None:
    trace = program()
    for rank in range(trace.world_size):
        spans = trace.main_spans(rank)
        assert spans[0].start == 0.0
        assert spans[-1].end == trace.end
        assert all(a.end == b.start for a, b in itertools.pairwise(spans))
