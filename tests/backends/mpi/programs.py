"""What the processes of these tests do: ``mpiexec -n N python programs.py NAME`` calls the function NAME on each."""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time

import numpy as np

import simdist as sd
import simdist.distributed as dist
from simdist import nn, optim
from simdist.backends.mpi import launcher
from simdist.backends.mpi.assembly import Assembly, LateError
from simdist.backends.mpi.endpoint import MpiEndpoint
from simdist.backends.mpi.library import communicators, mpi, station, version
from simdist.backends.mpi.wires import MpiWires
from simdist.backends.stoppable_endpoint import StoppedError
from simdist.conformance import check
from simdist.nn.parallel import DistributedDataParallel as DDP

RANK, SIZE = station()


def run(fn, backend="mpi", **options):
    return sd.run(fn, world_size=SIZE, backend=backend, cluster="dgx-a100", **options)


def raised(fn, **options):
    """The text of what a run raises, and its notes."""
    began = time.monotonic()
    try:
        run(fn, **options)
    except BaseException as error:
        return [type(error).__name__, str(error), getattr(error, "__notes__", []), time.monotonic() - began]
    return None


# -- the same bytes -----------------------------------------------------------------------------------------------------------


def everything(rank, world_size):
    """Every collective once, blocking and asynchronous, in the world and in a group; inputs differ by rank."""
    out = []
    half = dist.new_group(range(0, world_size, 2))
    for group in [None, half] if rank % 2 == 0 else [None]:
        size, me = dist.get_world_size(group), dist.get_rank(group)
        for length in (0, 1, size + 1, 30_000):  # the last is a large message
            x = np.random.default_rng([rank, length]).standard_normal(length)
            for op in dist.ReduceOp.SUM, dist.ReduceOp.AVG, dist.ReduceOp.MAX:
                y = x.astype(np.float32)
                dist.all_reduce(y, op=op, group=group)
                z = x.copy()
                dist.reduce(z, group_dst=size - 1, op=op, group=group)
                out += [y, z]
            y = x.copy()
            dist.broadcast(y, group_src=size - 1, group=group)
            parts = [np.zeros_like(x) for _ in range(size)]
            dist.all_gather(parts, x, group=group)
            big = np.random.default_rng([rank, 7]).standard_normal(size * length)
            mine = np.zeros(length)
            dist.reduce_scatter_tensor(mine, big, op=dist.ReduceOp.AVG, group=group)
            gathered = [np.zeros_like(x) for _ in range(size)] if me == 0 else None
            dist.gather(x, gathered, group_dst=0, group=group)
            scattered = np.zeros(length)
            dist.scatter(scattered, [x + r for r in range(size)] if me == 0 else None, group_src=0, group=group)
            out += [y, *parts, mine, *(gathered or []), scattered]
        whole = np.arange(5) + rank
        dist.all_reduce(whole, group=group)
        works = [np.full(1000 + i, float(rank + i)) for i in range(4)]
        for work in [dist.all_reduce(w, group=group, async_op=True) for w in works]:
            work.wait()
        dist.barrier(group=group)
        out += [whole, *works]
    right, left = (rank + 1) % world_size, (rank - 1) % world_size
    for length in (1, 50_000):
        got = np.zeros(length)
        arriving = dist.irecv(got, src=left, tag=3)
        dist.isend(np.full(length, rank + 0.5), dst=right, tag=3).wait()
        arriving.wait()
        out.append(got)
    return [a.tobytes() for a in out]


def same_bytes():
    real, simulated = run(everything), run(everything, "sim")
    return real.results == simulated.results and len(real.results) == SIZE


def answers(program, backend):
    """What the program found on each rank, errors by their classes: their texts hold times."""

    def without_texts(value):
        if isinstance(value, dict):
            return {key: without_texts(inner) for key, inner in value.items() if key != "text"}
        return value

    return [without_texts(found) for found in run(program, backend).results]


def same_answers():
    """All answers that are compared with PyTorch's, from here and from the simulation: names of those that differ."""
    from tests.golden import test_collectives, test_groups, test_messages

    different = []
    for module in (test_collectives, test_groups, test_messages):
        program = getattr(module, "program", None) or module.calls
        here, simulated = answers(program, "mpi"), answers(program, "sim")
        for rank in range(SIZE):
            different += [name for name in here[rank] if repr(here[rank][name]) != repr(simulated[rank][name])]
    return different


def notes():
    """Ranks share keys over the network and over a file, make groups in any order, and divide them."""
    folder = os.environ["SIMDIST_TEST_FOLDER"]

    def program(rank, world_size):
        port = [0]
        kept = dist.TCPStore("127.0.0.1", 0, None, True) if rank == 0 else None
        if kept is not None:
            port = [kept.port]
        dist.broadcast_object_list(port, src=0)
        store = kept or dist.TCPStore("127.0.0.1", port[0])
        filed = dist.FileStore(os.path.join(folder, "notes"), world_size)
        for each in (store, filed):
            each.set(f"from {rank}", str(rank))
            each.wait([f"from {r}" for r in range(world_size)])
            each.add("n", rank)
        dist.barrier()
        seen = store.get("n").decode(), filed.get("n").decode(), store.list_keys()
        turned = dist.new_group(list(range(world_size))[::-1], sort_ranks=False)
        pair, pairs = dist.new_subgroups(2)
        alone = dist.split_group(pair, [[0], [1]])
        x = [np.array([float(rank)]) for _ in range(3)]
        for group, array in zip((turned, pair, alone), x, strict=True):
            dist.all_reduce(array, group=group)
        y = np.array([rank])
        dist.broadcast(y, group_src=0, group=turned)
        dist.barrier()  # the keeper of the store is the last to leave
        return *seen, [float(a[0]) for a in x], len(pairs), int(y[0]), turned.rank()

    return run(program).results


def train(rank, world_size):
    model = DDP(nn.MLP([64, 32, 10]))
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    for x, y in sd.data.digits(batch_size=32, rank=rank, world_size=world_size, steps=4):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item(), [p.data.tobytes() for p in model.parameters()]


def same_training():
    return run(train).results == run(train, "sim").results


def conforms(**options):
    report = check("mpi", **options)
    return [report.passed, report.fingerprint, str(report)]


def conforms_natively():
    return conforms(native_collectives=True)


def native():
    """MPI's own collectives: equal up to the order of additions; what MPI has no word for goes by steps."""

    def program(rank, world_size):
        out = [np.frombuffer(b"") for _ in ()]
        x = np.random.default_rng(rank).standard_normal(1001)
        for op in dist.ReduceOp:
            for dtype in (np.float64, np.float32, np.float16, np.int64):
                if (op is not dist.ReduceOp.AVG or dtype is not np.int64) and op.name in "SUM AVG MIN MAX".split():
                    y = (8 * x).astype(dtype)
                    dist.all_reduce(y, op=op)
                    out.append(y)
        y = x.copy()
        dist.reduce(y, dst=1, op=dist.ReduceOp.AVG)
        z = x.copy()
        dist.broadcast(z, src=1)
        parts = [np.zeros_like(x) for _ in range(world_size)]
        dist.all_gather(parts, x)
        mine = np.zeros(3)
        dist.reduce_scatter_tensor(mine, x[: 3 * world_size].copy(), op=dist.ReduceOp.AVG)
        gathered = [np.zeros_like(x) for _ in range(world_size)] if rank == 1 else None
        dist.gather(x, gathered, dst=1)
        scattered = np.zeros(5)
        dist.scatter(scattered, [x[r : r + 5] for r in range(world_size)] if rank == 0 else None, src=0)
        half = dist.new_group([0, world_size - 1])
        if rank in (0, world_size - 1):
            dist.all_reduce(x, group=half)
        work = dist.all_reduce(y, async_op=True)
        work.wait()
        dist.barrier()
        return [*out, y, z, *parts, mine, *(gathered or []), scattered, x]

    real, simulated = run(program, native_collectives=True).results, run(program, "sim").results
    pairs = [(a, b) for r, s in zip(real, simulated, strict=True) for a, b in zip(r, s, strict=True)]
    return (
        all(np.allclose(a, b, rtol=1e-3 if a.dtype == np.float16 else 1e-5, atol=1e-5) for a, b in pairs)
        and len(pairs) > 20
    )


def native_mismatch():
    def program(rank, world_size):
        dist.all_reduce(np.ones(4 + rank))

    return raised(program, native_collectives=True)


def native_late():
    def program(rank, world_size):
        if rank == 0:
            dist.recv(np.ones(1), src=1, tag=9)
        dist.barrier()

    return raised(program, native_collectives=True, timeout=0.3, checked=False)


# -- what goes wrong ----------------------------------------------------------------------------------------------------------


def failing():
    def raises(rank, world_size):
        if rank == 1:
            raise LookupError("no luck")
        dist.barrier()

    def deadlock(rank, world_size):
        if rank == 0:
            dist.recv(np.ones(3), src=1)
        dist.barrier()

    def returned(rank, world_size):
        if rank == 0:
            dist.recv(np.ones(3), src=1)

    def mismatch(rank, world_size):
        if rank == 1:
            dist.broadcast(np.ones(4), src=0)
        else:
            dist.all_reduce(np.ones(4))

    def busy(rank, world_size):
        if rank == 1:
            raise LookupError("no luck")
        while True:
            rank += 1

    def leaves(rank, world_size):
        if rank == 1:
            sys.exit(3)
        dist.barrier()

    def locked(rank, world_size):
        return threading.Lock()

    told = {
        "raises": raised(raises),
        "deadlock": raised(deadlock, timeout=0.3),
        "returned": raised(returned),
        "mismatch": raised(mismatch),
        "busy": raised(busy),
        "leaves": raised(leaves),
        "locked": raised(locked),
    }
    told["after"] = run(lambda rank, world_size: rank).results  # nothing is left of the failed runs
    return told


class LateComm:
    """A communicator on which nothing shows for a moment after the rank's function has ended."""

    def __init__(self, inner):
        self.inner, self.hidden_until = inner, 0.0

    def Iprobe(self, *arguments):
        return time.monotonic() > self.hidden_until and self.inner.Iprobe(*arguments)

    def __getattr__(self, name):
        return getattr(self.inner, name)


def late_arrivals():
    """What a run has sent may arrive late: it must not meet the next run."""
    made = []

    class Wires(MpiWires):
        def __init__(self, module, frames, data):
            made.append(LateComm(frames))
            super().__init__(module, made[-1], data)

    class LateEndpoint(MpiEndpoint):
        def end(self):
            super().end()
            made[-1].hidden_until = time.monotonic() + 0.15

    def returns(rank, world_size):
        return None

    def talks(rank, world_size):
        got = np.zeros(1)
        if rank == 0:
            dist.recv(got, src=1)
        else:
            time.sleep(0.05)
            dist.send(np.ones(1), dst=0)
        return got[0]

    launcher.MpiWires, launcher.MpiEndpoint = Wires, LateEndpoint
    return [run(fn).results for fn in (returns, talks, returns, talks)]


def wrong_calls():
    def nothing(rank, world_size):
        return None

    told = []
    for options in ({"world_size": SIZE + 1}, {"world_size": SIZE, "seed": RANK}, {"world_size": SIZE, "jitter": 0.1}):
        try:
            sd.run(nothing, backend="mpi", **options)
        except Exception as error:
            told.append([type(error).__name__, str(error)])
    return told


def late():
    """The last rank never calls ``sd.run``."""
    launcher.START_SECONDS = 0.3
    communicators()
    if RANK == SIZE - 1:
        time.sleep(1.0)
        told = None
    else:
        told = raised(lambda rank, world_size: None)
    sys.stdout.write(f"told {json.dumps([RANK, told])}\n")
    sys.stdout.flush()
    time.sleep(1.5)
    os._exit(0)  # MPI would wait for the rest of the hello


def stuck():
    """One rank fails while another is in compiled code for long."""
    launcher.GRACE_SECONDS = 0.5

    def program(rank, world_size):
        if rank == 0:
            raise LookupError("no luck")
        time.sleep(30)

    run(program)


def facts():
    class Loud:
        def __repr__(self):
            return "loud"

    def program(rank, world_size):
        print(f"line of {rank}\nrest of {rank}", end="")
        random.random()
        captured.append(rank)
        return Loud(), sd.current_time() < 60

    captured = []
    done = run(program)
    names = {span.name for span in done.trace.spans()}
    return [version(), repr(done.results[-1]), done.backend, len(done.rank_times), captured, "python" in names]


# -- the parts ----------------------------------------------------------------------------------------------------------------


def library():
    made = communicators()
    return [list(station()), len(made), communicators() is made, mpi().Query_thread() == mpi().THREAD_MULTIPLE]


def wires():
    """Frames keep their order around a large payload; a folded payload equals numpy's; then all is quiet."""
    end = MpiEndpoint(RANK, SIZE, MpiWires(mpi(), *communicators()[1:]), timeout=20.0)
    other, tag = 1 - RANK, (0, 0, 0)
    large = np.random.default_rng(RANK).standard_normal(300_000)
    theirs = np.random.default_rng(other).standard_normal(300_000)
    sent = [end.isend(large, other, tag), end.isend(np.arange(3.0) + RANK, other, tag), end.isend(large, other, tag)]
    plain, small, folded = np.zeros_like(large), np.zeros(3), large.copy()
    got = [end.irecv(plain, other, tag), end.irecv(small, other, tag), end.irecv(folded, other, tag, np.subtract)]
    for work in [*sent, *got]:
        work.wait()
    expected = large - theirs if other > RANK else theirs - large
    right = [np.array_equal(plain, theirs), small.tolist() == [other, 1.0 + other, 2.0 + other]]
    Assembly(mpi(), communicators().control, end.poll, end.mutex).meet(lambda: end.quiet, lambda: 20.0)
    end.end()
    end.close()
    return [*right, np.array_equal(folded, expected)]


def endpoint():
    """Rank 1 fails; rank 0, which waits, stops and says what it was doing."""
    end = MpiEndpoint(RANK, SIZE, MpiWires(mpi(), *communicators()[1:]), timeout=20.0)
    told = ["fails", [], 0]
    if RANK == 1:
        end.abort()
    else:
        try:
            end.irecv(np.zeros(2), 1, (0, 0, 0), note=b"a note", label="the wait").wait()
        except StoppedError as error:
            told = [str(error), end.doing, len(end.posted)]
    Assembly(mpi(), communicators().control, end.poll, end.mutex).meet(lambda: end.quiet, lambda: 20.0)
    end.end()
    end.close()
    return told


def assembly():
    all_of = Assembly(mpi(), communicators().control)
    shared = [len(data) for data in all_of.share(b"x" * RANK, lambda: None)]
    all_of.meet(lambda: True, lambda: 20.0)
    try:
        all_of.meet(lambda: False, lambda: 0.05)
    except LateError:
        return [shared, "late"]
    return shared


if __name__ == "__main__":
    found = globals()[sys.argv[1]]()
    sys.stdout.write(f"told {json.dumps([RANK, found])}\n")
