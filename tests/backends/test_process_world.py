"""What is different about a real run: measured times, tiled traces, what belongs to simulation only."""

import time

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import ClusterError


def program(rank, world_size):
    works = [dist.all_reduce(x, async_op=True) for x in np.ones((3, 1000))]
    time.sleep(0.01)
    for work in works:
        work.wait()
    dist.barrier()
    sd.sleep(0.01)
    sd.compute(seconds=100.0)  # nothing: real work takes its own time
    return sd.current_time()


def test_times_are_measured_and_the_main_stream_is_tiled():
    run = sd.run(program, world_size=2, backend="process")
    assert 0.02 < run.time < 60
    assert all(0 < t <= run.time for t in run.results)
    parts = run.breakdown.parts
    for rank in range(2):
        assert sum(parts[rank].values()) == pytest.approx(run.time, rel=1e-9)
        assert parts[rank]["sleep"] >= 0.01
    assert run.trace.streams(0) == ["main", "comm:0"]
    assert "measured" in run.report()
    assert "\ncomputing  " in run.report()
    assert "by hand" not in run.report()
    assert run.memory == []


@pytest.mark.parametrize("option", [{"stragglers": {0: 2.0}}, {"jitter": 0.1}])
def test_simulated_faults_are_refused(option):
    with pytest.raises(ClusterError, match="on backend='process' machines are as fast as they are"):
        sd.run(program, world_size=2, backend="process", **option)


def test_an_exception_arrives_as_itself():
    class Mine(Exception):
        pass

    def fail(rank, world_size):
        if rank == 1:
            raise Mine("here")
        dist.barrier()

    with pytest.raises(Exception, match="here") as found:
        sd.run(fail, world_size=2, backend="process")
    assert type(found.value).__name__ == "Mine"
    assert any("rank 1" in note for note in found.value.__notes__)


def test_without_a_trace():
    run = sd.run(program, world_size=2, backend="process", traced=False)
    assert len(run.trace) == 0
    assert "traced=False" in run.report()
