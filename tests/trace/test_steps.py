"""Steps by hand, and in a run: the parts of each step sum to its time."""

import pytest

import simdist as sd
from simdist import nn, optim
from simdist.nn.parallel import DistributedDataParallel as DDP
from simdist.trace import Trace, breakdown, steps


def rows(rank, *spans):
    time, out = 0.0, []
    for kind, seconds in spans:
        out.append((rank, "main", kind, kind, time, time + seconds, None))
        time += seconds
    return out


STEP = [("forward", 1.0), ("backward", 2.0), ("launch", 0.5), ("optimizer", 0.25), ("launch", 0.5), ("optimizer", 0.25)]


def test_a_step_ends_with_a_run_of_updates():
    trace = Trace(rows(0, *STEP, *STEP, ("forward", 3.0)), world_size=1, end=12.0)
    assert steps.ends(trace, 0) == [4.5, 9.0]
    assert steps.count(trace) == 2
    first, last = steps.cut(trace, 0), steps.cut(trace, -1)
    assert first.end == last.end == 4.5
    assert breakdown.breakdown(last).parts[0] == {"forward": 1.0, "backward": 2.0, "launch": 1.0, "optimizer": 0.5}


def test_each_rank_has_its_own_window():
    slow = [(kind, 2 * seconds) for kind, seconds in STEP]
    trace = Trace(rows(0, *STEP, *STEP) + rows(1, *slow, *slow), world_size=2, end=18.0)
    cut = steps.cut(trace, 1)
    assert [sum(parts.values()) for parts in breakdown.breakdown(cut).parts] == [4.5, 9.0]


def test_there_is_no_such_step():
    trace = Trace(rows(0, ("forward", 1.0)), world_size=1, end=1.0)
    assert steps.count(trace) == 0
    with pytest.raises(IndexError, match="there is no step 0: the run has 0 steps"):
        steps.cut(trace, 0)


def train(rank, world_size):
    model = DDP(nn.MLP([8, 16, 4]))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    times = [sd.current_time()]
    for _ in range(3):
        optimizer.zero_grad()
        model(sd.ones(4, 8)).sum().backward()
        optimizer.step()
        times.append(sd.current_time())
    return times


def test_the_parts_sum_to_the_step_time():
    run = sd.run(train, world_size=4, cluster="dgx-a100", jitter=0.1)
    assert steps.count(run.trace) == 3
    for step in (1, 2):
        found = breakdown.breakdown(steps.cut(run.trace, step))
        for rank in range(4):
            took = run.results[rank][step + 1] - run.results[rank][step]
            assert sum(found.parts[rank].values()) == pytest.approx(took, rel=1e-12)
    assert "3 steps" in run.report()
    assert "step 2" in run.report(step=2)
    assert run.report(step=-1) == run.report(step=2)


def test_many_ranks_are_looked_at_once():
    """The rows are read a fixed number of times, not once for each rank."""

    class Counted(list):
        reads = 0

        def __iter__(self):
            Counted.reads += 1
            return super().__iter__()

    trace = Trace([], world_size=50, end=9.0)
    trace.span_rows = Counted([row for rank in range(50) for row in rows(rank, *STEP, *STEP)])
    assert steps.count(trace) == 2
    assert steps.cut(trace, 1).end == 4.5
    assert Counted.reads <= 3
