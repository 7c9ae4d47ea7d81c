"""sd.run and sd.speedup from outside: arguments, bad input, isolation, shapes only."""

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist import nn, optim
from simdist.errors import ClusterError, DistError, ShapeError, UnknownNameError
from simdist.nn.parallel import DistributedDataParallel as DDP


def nothing(rank, world_size):
    return rank, world_size


def test_the_function_gets_rank_world_size_and_its_arguments():
    run = sd.run(lambda *a, **k: (a, k), 7, "x", world_size=2, kwargs={"k": 1})
    assert run.results == [((r, 2, 7, "x"), {"k": 1}) for r in range(2)]
    assert (run.world_size, run.backend, run.cluster) == (2, "sim", "localhost")


@pytest.mark.parametrize("bad", [0, -1, 1.5, "2", True])
def test_world_size(bad):
    with pytest.raises((ValueError, TypeError), match="world_size"):
        sd.run(nothing, world_size=bad)


def test_unknown_names():
    with pytest.raises(UnknownNameError, match=r"dgx-a10.*Did you mean.*'dgx-a100'"):
        sd.run(nothing, world_size=1, cluster="dgx-a10")
    with pytest.raises(UnknownNameError, match=r"there is no device named 'cuda'"):
        sd.run(nothing, world_size=1, device="cuda")
    with pytest.raises(ValueError, match=r"stragglers names rank 5, but the ranks are 0..1"):
        sd.run(nothing, world_size=2, stragglers={5: 2.0})


def test_more_ranks_than_devices():
    cluster = sd.clusters.get("dgx-a100")
    with pytest.raises(ClusterError, match=r"9.*8"):
        sd.run(nothing, world_size=9, cluster=cluster)


def test_a_run_inside_a_run_is_refused():
    def outer(rank, world_size):
        sd.run(nothing, world_size=1)

    with pytest.raises(DistError, match=r"sd.run was called inside a run"):
        sd.run(outer, world_size=2)


def test_two_threads_may_run_at_the_same_time():
    results = {}

    def program(rank, world_size):
        x = np.full(10, rank, np.float64)
        for _ in range(20):
            dist.all_reduce(x)
            x /= world_size
        return x[0]

    def start(n):
        results[n] = sd.run(program, world_size=n).results

    threads = [threading.Thread(target=start, args=(n,)) for n in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {2: [0.5] * 2, 3: [1.0] * 3}


def train(rank, world_size, steps=3):
    model = DDP(nn.MLP([64, 32, 10]))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for x, y in sd.data.digits(batch_size=48, rank=rank, world_size=world_size, steps=steps):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def test_shapes_only_take_the_same_time_and_memory_as_numbers():
    real = sd.run(train, world_size=4, cluster="dgx-a100")
    meta = sd.run(train, world_size=4, cluster="dgx-a100", device="meta")
    assert meta.time == real.time
    assert [m.peak for m in meta.memory] == [m.peak for m in real.memory]
    assert all(np.isnan(r) for r in meta.results)
    assert any("shapes only" in note for note in meta.notes)
    assert meta.trace.spans() == real.trace.spans()


def test_same_seed_same_trace_and_another_seed_other_numbers():
    runs = [sd.run(train, world_size=2, seed=s, jitter=0.1) for s in (1, 1, 2)]
    assert runs[0].trace.digest() == runs[1].trace.digest() != runs[2].trace.digest()
    assert runs[0].results == runs[1].results != runs[2].results


def test_an_exception_of_a_rank_arrives_with_rank_and_time():
    def program(rank, world_size):
        sd.compute(seconds=2e-3)
        if rank == 1:
            (sd.ones(2, 3) + sd.ones(4, 5)).sum()
        dist.barrier()

    with pytest.raises(ShapeError, match=r"\(2, 3\).*\(4, 5\)") as found:
        sd.run(program, world_size=2)
    assert found.value.__notes__[0].startswith("raised in rank 1 at 2")


def test_collective_order_errors_name_rank_place_and_remedy():
    def program(rank, world_size):
        dist.all_reduce(np.zeros(2)) if rank else dist.barrier()

    with pytest.raises(dist.DistError, match=r"rank \d at .*test_launch.py:\d+.*same calls in the same order"):
        sd.run(program, world_size=2)


def test_ctrl_c_ends_a_simulation():
    code = (
        "import simdist as sd, sys, time\n"
        "def f(rank, world_size):\n"
        "    print('ready', flush=True)\n"
        "    while True: pass\n"
        "try: sd.run(f, world_size=2)\n"
        "except KeyboardInterrupt: sys.exit(7)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert "ready" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 7
    process.stdout.close()


# -- speed-up -------------------------------------------------------------------------------------------------------------


def share(rank, world_size, work=1.0):
    sd.compute(seconds=work / world_size)
    dist.barrier()


def test_strong_scaling():
    scaling = sd.speedup(share, world_sizes=[1, 2, 4], cluster="dgx-a100")
    assert scaling.world_sizes == (1, 2, 4)
    assert scaling.times[0] == 1.0
    assert 3.9 < scaling.speedup[2] < 4.0


def test_weak_scaling_multiplies_one_argument():
    def program(rank, world_size, rows):
        sd.compute(seconds=rows / world_size)
        return rows

    scaling = sd.speedup(program, world_sizes=[1, 2, 4], mode="weak", scaled="rows", kwargs={"rows": 3})
    assert scaling.times == (3.0, 3.0, 3.0)
    assert scaling.mode == "weak"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"world_sizes": [4, 2]}, "must rise"),
        ({"world_sizes": []}, "must rise"),
        ({"mode": "wek"}, "there is no scaling mode named 'wek'"),
        ({"scaled": "rows"}, "needs mode='weak'"),
    ],
)
def test_bad_speedups(options, text):
    with pytest.raises(ValueError, match=text):
        sd.speedup(nothing, **({"world_sizes": [1, 2]} | options))
