from __future__ import annotations

import random

import pytest

import simdist as sd
import simdist.distributed as dist
from simdist import nn, optim
from simdist.errors import TraceError
from simdist.nn.parallel import DistributedDataParallel
from simdist.trace import Trace
from simdist.trace.critical_path import CriticalPath, Step, critical_path
from tests.trace.programs import PROGRAMS, chain, overlap, straggler


def assert_tiles(path: CriticalPath) -> None:
    now = 0.0
    for step in path:
        assert step.start == now
        assert step.end > step.start
        now = step.end
    assert now == path.end


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_steps_tile_the_run(program) -> None:
    path = critical_path(program())
    assert_tiles(path)
    assert sum(path.parts.values()) == path.end
    assert "wait" not in path.parts


def test_a_straggler_by_hand() -> None:
    path = critical_path(straggler())
    assert path.steps == (
        Step(1, "main", "compute", "long", 0.0, 3.0),
        Step(0, "comm:0", "communication", "all_reduce #0", 3.0, 3.5),
    )
    assert path.ranks == (1, 0)
    assert path.parts == {"compute": 3.0, "communication": 0.5}


def test_overlap_by_hand() -> None:
    """The path leaves backward when the bucket is ready: its second half runs beside the longer communication."""
    path = critical_path(overlap())
    assert [(s.kind, s.stream, s.duration) for s in path] == [
        ("forward", "main", 1.0),
        ("backward", "main", 1.0),
        ("communication", "comm:0", 1.5),
        ("launch", "main", 0.125),
        ("optimizer", "main", 0.25),
    ]
    assert path.ranks == (0,)


def test_a_chain_by_hand() -> None:
    path = critical_path(chain())
    assert [(s.rank, s.name, s.duration) for s in path] == [
        (0, "make", 2.0), (1, "tag 0: recv from rank 0", 0.25), (1, "use", 1.0),
    ]  # fmt: skip


def test_its_text() -> None:
    assert str(critical_path(straggler())).splitlines() == [
        "critical path: 3.5 s through 2 spans: "
        + ", ".join(f"{name} {share}" for name, share in (("computing", "86%"), ("exposed communication", "14%"))),
        "      from      takes rank stream   what",
        "       0 s        3 s    1 main     compute: long",
        "       3 s     500 ms    0 comm:0   communication: all_reduce #0",
    ]
    assert "    0 main     optimizer 250 ms, launch 125 ms" in str(critical_path(overlap()))


def test_work_of_one_kind_is_named_after_its_longest() -> None:
    rows = [
        (0, "main", "compute", name, t, t + d, None)
        for name, t, d in (("a", 0.0, 1.0), ("b", 1.0, 2.0), ("c", 3.0, 1.0))
    ]
    assert "compute: b and 2 others" in str(critical_path(Trace(rows, world_size=1, end=4.0)))
    assert "compute: b and 1 other\n" in str(critical_path(Trace(rows[:2], world_size=1, end=3.0))) + "\n"


def test_a_long_path_is_shown_by_its_longest_stretches() -> None:
    rows = [(0, "main", ("compute", "sleep")[i % 2], "x", float(i), i + 1.0, None) for i in range(100)]
    lines = str(critical_path(Trace(rows, world_size=1, end=100.0))).splitlines()
    assert len(lines) == 43
    assert lines[-1] == "and 60 shorter stretches, together 60 s"


def test_a_run_without_a_trace() -> None:
    path = critical_path(Trace([], world_size=2, end=1.0))
    assert len(path) == 0
    assert str(path).startswith("(no critical path: the run did nothing that takes time")
    with pytest.raises(TraceError, match=r"there is no critical path: the run kept no trace \(traced=False\)"):
        critical_path(Trace([], world_size=2, end=1.0, is_kept=False))


def test_waiting_of_unknown_cause_is_on_the_path() -> None:
    rows = [(0, "main", "compute", "x", 0.0, 1.0, None), (0, "main", "wait", "join", 1.0, 2.0, None)]
    path = critical_path(Trace(rows, world_size=1, end=2.0))
    assert path.parts == {"compute": 1.0, "wait": 1.0}


def test_blame_in_a_circle_ends() -> None:
    rows = [(rank, "main", "wait", "recv", 0.0, 1.0, {"for": [1 - rank]}) for rank in (0, 1)]
    path = critical_path(Trace(rows, world_size=2, end=1.0))
    assert_tiles(path)
    assert path.parts == {"wait": 1.0}


def test_a_queue_on_a_stream_is_followed() -> None:
    """Two buckets: the second is ready at 1.5 and starts at 2, when the first has left the stream."""
    rows = [
        (0, "main", "backward", "linear", 0.0, 1.0, None),
        (0, "main", "backward", "linear", 1.0, 1.5, None),
        (0, "main", "backward", "linear", 1.5, 1.75, None),
        (0, "comm:0", "communication", "all_reduce #0", 1.0, 2.0, None),
        (0, "comm:0", "communication", "all_reduce #1", 2.0, 3.0, None),
        (0, "main", "communication", "all_reduce #0", 1.75, 2.0, None),
        (0, "main", "communication", "all_reduce #1", 2.0, 3.0, None),
    ]
    path = critical_path(Trace(rows, world_size=1, end=3.0))
    assert [(s.stream, s.name) for s in path] == [
        ("main", "linear"), ("comm:0", "all_reduce #0"), ("comm:0", "all_reduce #1"),
    ]  # fmt: skip


def test_who_came_late_because_its_stream_was_busy() -> None:
    """Rank 1 asks for the second sum at 1 s, but its stream is in the first one until 2 s; rank 0 waits for that."""
    blame = {"op": "all_reduce #1", "for": [1]}
    rows = [
        (0, "main", "wait", "all_reduce #1", 0.0, 2.0, blame),
        (0, "main", "communication", "all_reduce #1", 2.0, 3.0, None),
        (1, "main", "compute", "x", 0.0, 1.0, None),
        (1, "main", "compute", "y", 1.0, 3.0, None),
        (1, "comm:0", "communication", "all_reduce #0", 1.0, 2.0, None),
        (1, "comm:0", "communication", "all_reduce #1", 2.0, 3.0, None),
    ]
    rows += [(1, "main", "idle", "returned", 3.0, 3.5, None), (0, "main", "compute", "z", 3.0, 3.5, None)]
    path = critical_path(Trace(rows, world_size=2, end=3.5))
    assert [(s.rank, s.name) for s in path] == [
        (1, "x"), (1, "all_reduce #0"), (0, "all_reduce #1"), (0, "z"),
    ]  # fmt: skip


def test_in_a_tree_the_path_follows_the_messages() -> None:
    rows = [
        (0, "main", "compute", "slow", 0.0, 1.0, None),
        (0, "main", "communication", "broadcast #0", 1.0, 2.0, None),
        (0, "main", "idle", "returned", 2.0, 3.0, None),
        (1, "main", "wait", "broadcast #0", 0.0, 1.0, {"op": "broadcast #0"}),
        (1, "main", "communication", "broadcast #0", 1.0, 3.0, None),
        (2, "main", "wait", "broadcast #0", 0.0, 2.0, {"op": "broadcast #0"}),
        (2, "main", "communication", "broadcast #0", 2.0, 3.0, None),
    ]
    flows = [(0, 1, 1.0, 1.0, 2.0, 8, "b"), (1, 2, 2.0, 2.0, 3.0, 8, "b")]
    path = critical_path(Trace(rows, flows, world_size=3, end=3.0))
    assert_tiles(path)
    assert "wait" not in path.parts
    assert path.steps[0].name == "slow"


def test_a_wait_that_ends_a_rounding_before_its_message() -> None:
    rows = [
        (0, "main", "compute", "slow", 0.0, 0.1 + 0.2, None),
        (0, "main", "communication", "broadcast #0", 0.1 + 0.2, 1.0, None),
        (1, "main", "wait", "broadcast #0", 0.0, 0.3, {"op": "broadcast #0"}),
        (1, "main", "communication", "broadcast #0", 0.3, 1.0, None),
        (1, "main", "compute", "use", 1.0, 2.0, None),
        (0, "main", "idle", "returned", 1.0, 2.0, None),
    ]
    path = critical_path(Trace(rows, [(0, 1, 0.1 + 0.2, 0.1 + 0.2, 1.0, 8, "b")], world_size=2, end=2.0))
    assert_tiles(path)
    assert [s.name for s in path] == ["slow", "broadcast #0", "use"]


def test_a_seam_opened_by_rounding_does_not_end_the_walk() -> None:
    rows = [(0, "main", "compute", "a", 0.0, 0.3, None), (0, "main", "compute", "b", 0.1 + 0.2, 1.0, None)]
    path = critical_path(Trace(rows, world_size=1, end=1.0))
    assert [s.name for s in path] == ["a", "b"]
    assert_tiles(path)


def _train(rank: int, world_size: int) -> None:
    random_work = random.Random(rank)
    model = DistributedDataParallel(nn.MLP([64, 256, 256, 10]))
    opt = optim.SGD(model.parameters(), lr=0.1)
    for x, y in sd.data.digits(batch_size=64, rank=rank, world_size=world_size, steps=3):
        sd.compute(seconds=random_work.random() * 1e-4, name="loading")
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
    dist.barrier()


@pytest.mark.parametrize("world_size", [4, 8])
@pytest.mark.parametrize("cluster", ["dgx-a100", "pc-10gbe"])
def test_real_runs_are_tiled_without_waiting(cluster: str, world_size: int) -> None:
    path = sd.run(_train, world_size=world_size, cluster=cluster).critical_path()
    assert_tiles(path)
    assert "wait" not in path.parts


def _slow(rank: int, world_size: int, seconds: float) -> None:
    for step in range(3):
        sd.compute(seconds=seconds if rank == (step * 2) % 3 else 1e-3, name=f"step {step}")
        dist.barrier()


def test_what_is_on_the_path_makes_the_run_slower_by_as_much() -> None:
    run, slower = (sd.run(_slow, seconds, world_size=4, cluster="dgx-a100") for seconds in (2e-3, 3e-3))
    on_path = [(s.rank, s.name) for s in run.critical_path() if s.kind == "compute"]
    assert on_path == [(0, "step 0"), (2, "step 1"), (1, "step 2")]
    assert slower.time - run.time == pytest.approx(3e-3, rel=1e-9)
