"""The programs with a mistake that were recorded from PyTorch, a function each: (rank, world size) -> what is compared.

Seconds are the backend's; where PyTorch's program slept, its rank was there but did nothing.
"""

import numpy as np

import simdist as sd
import simdist.distributed as dist
from tests.golden.recording import attempt

PROGRAMS = {}
WORLD = {}


def recorded_as(name, world_size=2):
    """The program of that name, for so many ranks."""

    def keep(program):
        PROGRAMS[name], WORLD[name] = program, world_size
        return program

    return keep


def ones(n, dtype=np.float32):
    return np.ones(n, dtype)


def after(call, x):
    call(x)
    return x.tolist()


def simple(name, call, world_size=2):
    """A program that is one call of each rank."""
    recorded_as(name, world_size)(lambda r, w: call(r))


def both(name, first, second):
    """Rank 0 does one thing and rank 1 another."""
    recorded_as(name)(lambda r, w: (first if r == 0 else second)())


def idle(seconds=5.0):
    sd.sleep(seconds)


grid = np.arange(6.0)
simple("all_reduce/shape_mismatch 2 vs 3 elements", lambda r: after(dist.all_reduce, ones(2 + r)))
simple(
    "all_reduce/shape_mismatch (2,3) vs (3,2) same numel",
    lambda r: after(dist.all_reduce, grid.reshape((2, 3) if r == 0 else (3, 2)).copy()),
)
simple("all_reduce/dtype float32 vs float64", lambda r: after(dist.all_reduce, ones(2, "f8" if r else "f4")))
simple("all_reduce/dtype float32 vs int32", lambda r: after(dist.all_reduce, ones(2, "i4" if r else "f4")))
simple(
    "all_reduce/op SUM vs MAX",
    lambda r: after(
        lambda x: dist.all_reduce(x, dist.ReduceOp.MAX if r else dist.ReduceOp.SUM), np.array([2.0 + r, 3.0])
    ),
)
both("mismatch all_reduce vs broadcast", lambda: dist.all_reduce(ones(2)), lambda: dist.broadcast(ones(2), 0))
both("mismatch all_reduce vs barrier", lambda: dist.all_reduce(ones(2)), dist.barrier)
both(
    "mismatch all_reduce vs all_gather",
    lambda: dist.all_reduce(ones(2)),
    lambda: dist.all_gather([ones(2), ones(2)], ones(2)),
)


@recorded_as("missing rank: all_reduce on rank 0 only, rank 1 alive and idle")
def _(r, w):
    if r == 0:
        return dist.all_reduce(ones(2))
    idle()
    return "idle"


both("missing rank: all_reduce on rank 0 only, rank 1 exits", lambda: dist.all_reduce(ones(2)), lambda: None)
both("missing rank: barrier on rank 0 only", dist.barrier, idle)


@recorded_as("monitored_barrier missing rank 1", 3)
def _(r, w):
    return idle(4.0) if r == 1 else dist.monitored_barrier(timeout=2.0)


@recorded_as("monitored_barrier missing ranks 1,2 wait_all_ranks", 4)
def _(r, w):
    return idle(4.0) if r in (1, 2) else dist.monitored_barrier(timeout=2.0, wait_all_ranks=True)


simple("all_gather/shape mismatch across ranks", lambda r: dist.all_gather([ones(2 + r), ones(2 + r)], ones(2 + r)))
simple("all_gather/list too short", lambda r: dist.all_gather([ones(2)], ones(2)))
simple("all_gather/list wrong dtype", lambda r: dist.all_gather([ones(2, "f8"), ones(2, "f8")], ones(2)))
simple(
    "broadcast/shape mismatch src bigger", lambda r: after(lambda x: dist.broadcast(x, 0), ones(4 - 2 * r) * (r + 1))
)
simple(
    "broadcast/shape mismatch src smaller", lambda r: after(lambda x: dist.broadcast(x, 0), ones(2 + 2 * r) * (r + 1))
)
simple("broadcast/src out of range", lambda r: dist.broadcast(ones(1), 99))
simple("broadcast/src negative", lambda r: dist.broadcast(ones(1), -1))
simple("reduce/dst out of range", lambda r: dist.reduce(ones(1), 99))
simple("send to self", lambda r: dist.send(ones(1), r))
simple("isend to self", lambda r: attempt(lambda: dist.isend(ones(1), r)))
simple("recv from self", lambda r: attempt(lambda: dist.recv(ones(1), r)))
simple("send to rank 99", lambda r: dist.send(ones(1), 99))
simple("recv from rank 99", lambda r: dist.recv(ones(1), 99))
simple("send dst=-1", lambda r: dist.send(ones(1), -1))
simple('all_reduce op="SUM" string', lambda r: dist.all_reduce(ones(1), "SUM"))
simple("all_reduce op=99", lambda r: dist.all_reduce(ones(1), 99))
simple("all_reduce(list)", lambda r: dist.all_reduce([1.0]))
simple("all_reduce(numpy)", lambda r: after(dist.all_reduce, ones(2)))
simple("all_reduce(None)", lambda r: dist.all_reduce(None))
simple("scatter/src without scatter_list", lambda r: dist.scatter(ones(1), None, src=0))
simple("scatter/scatter_list on non-src", lambda r: dist.scatter(ones(1), [ones(1), ones(1)], src=0))
simple("scatter/scatter_list too short", lambda r: dist.scatter(ones(1), None if r else [ones(1)], src=0))
simple("gather/dst without gather_list", lambda r: dist.gather(ones(1), None, dst=0))
simple("gather/gather_list on non-dst", lambda r: dist.gather(ones(1), [ones(1), ones(1)], dst=0))
simple("gather/gather_list too short", lambda r: dist.gather(ones(1), None if r else [ones(1)], dst=0))
simple("reduce_scatter/list too short", lambda r: dist.reduce_scatter(ones(1), [ones(1)]))


def message(name, sent, place):
    both(name, lambda: dist.send(sent, 1), lambda: after(lambda x: dist.recv(x, 0), place.copy()))


message("recv/buffer smaller than message (3 -> 2)", ones(3), 0 * ones(2))
message("recv/buffer larger than message (3 -> 4)", ones(3), 0 * ones(4))
message("recv/dtype differs same bytes (float32 -> int32)", ones(2), np.zeros(2, np.int32))
message("recv/shape differs same numel", grid.reshape(2, 3), np.zeros((3, 2)))
message("send/non contiguous", grid.reshape(2, 3).T, np.zeros((3, 2)))
both("send without recv (blocking)", lambda: dist.send(ones(1), 1), idle)


@recorded_as("send blocks until the receiver posts (receiver sleeps 1 s); seconds")
def _(r, w):
    if r == 0:
        dist.send(ones(1), 1)
        return round(sd.current_time(), 1)
    idle(1.0)
    dist.recv(ones(1), 0)
    return None


@recorded_as("isend, never waited, then barrier, receiver receives later")
def _(r, w):
    if r == 0:
        work = dist.isend(np.array([5.0]), 1)
        complete = work.is_completed()
        dist.barrier()
        work.wait()
        return [complete]
    dist.barrier()
    return after(lambda x: dist.recv(x, 0), np.zeros(1))


both("recv without send", lambda: dist.recv(ones(1), 1), idle)
both(
    "irecv without send, wait(timeout 1s)", lambda: attempt(lambda: dist.irecv(ones(1), 1).wait(1.0)), lambda: idle(3.0)
)
simple("both ranks send first (head to head)", lambda r: dist.send(ones(1), 1 - r))


@recorded_as("async all_reduce with shape mismatch: where it raises")
def _(r, w):
    found = attempt(lambda: str(dist.all_reduce(ones(2 + r), async_op=True)))
    return {"call": found["error"][0] if isinstance(found, dict) else "no error"}


@recorded_as("async all_reduce missing rank: where it raises")
def _(r, w):
    if r:
        return idle()
    work = dist.all_reduce(ones(2), async_op=True)
    return {"call": "no error", "is_completed_before": work.is_completed(), "wait": attempt(work.wait)}


@recorded_as("async all_reduce missing rank: wait(timeout=1s)")
def _(r, w):
    if r:
        return idle()
    work = dist.all_reduce(ones(2), async_op=True)
    return {"wait1": attempt(lambda: work.wait(1.0)), "is_completed": work.is_completed()}


@recorded_as("new_group called by members only", 3)
def _(r, w):
    if r == 2:
        idle(4.0)
        return "did not call"
    group = dist.new_group([0, 1])
    return after(lambda x: dist.all_reduce(x, group=group), ones(1))


@recorded_as("new_group use_local_synchronization by members only", 3)
def _(r, w):
    if r == 2:
        return "did not call"
    group = dist.new_group([0, 1], use_local_synchronization=True)
    return after(lambda x: dist.all_reduce(x, group=group), ones(1))


@recorded_as("new_group use_local_synchronization reversed ranks", 3)
def _(r, w):
    group = dist.new_group([2, 0, 1], use_local_synchronization=True)
    return [dist.get_rank(group), dist.get_process_group_ranks(group)]


@recorded_as("new_group sort_ranks=False [2,0,1]", 3)
def _(r, w):
    group = dist.new_group([2, 0, 1], sort_ranks=False)
    out = [np.zeros(1, int) for _ in range(3)]
    dist.all_gather(out, np.array([r]), group=group)
    return [dist.get_rank(group), dist.get_process_group_ranks(group), [x.tolist() for x in out]]


def objects(name, given):
    @recorded_as(name)
    def _(r, w):
        out = given(r)
        dist.broadcast_object_list(out, src=0)
        return out


objects("broadcast_object_list length mismatch", lambda r: [None, None] if r else [1, 2, 3])
objects("broadcast_object_list longer on receiver", lambda r: [None, "keep"] if r else [1])
simple("all_gather_object unpicklable", lambda r: dist.all_gather_object([None] * 2, lambda: 0))
simple("all_gather_object list too short", lambda r: dist.all_gather_object([None], r))
simple("scatter_object_list list too short", lambda r: dist.scatter_object_list([None], None if r else [1], src=0))
simple("scatter_object_list empty output list", lambda r: dist.scatter_object_list([], None if r else [1, 2], src=0))


@recorded_as("init twice")
def _(r, w):
    dist.init_process_group("gloo", rank=r, world_size=w)  # torch's first one was before the program
    return dist.init_process_group("gloo", rank=r, world_size=w)


@recorded_as("destroy_process_group with pending async op")
def _(r, w):
    if r:
        idle(1.0)
        return "idle"
    dist.all_reduce(ones(1), async_op=True)
    dist.destroy_process_group()
    return "destroyed"


@recorded_as("collective after a timed out one")
def _(r, w):
    if r:
        idle(4.0)
    return [attempt(lambda: dist.all_reduce(ones(1))), attempt(lambda: dist.all_reduce(ones(1)))]


@recorded_as("all_to_all_single split sizes disagree between ranks")
def _(r, w):
    out = np.zeros(2)
    dist.all_to_all_single(out, np.arange(2.0), [1, 1], [1, 1] if r else [2, 0])
    return out.tolist()


@recorded_as("overlapping async collectives complete in any wait order")
def _(r, w):
    a, b = np.array([1.0 + r]), np.array([10.0 + r])
    first, second = dist.all_reduce(a, async_op=True), dist.all_reduce(b, async_op=True)
    second.wait()
    first.wait()
    return [a.tolist(), b.tolist()]


@recorded_as("different issue order on ranks (a,b) vs (b,a), same shapes")
def _(r, w):
    a, b = np.array([1.0 + r]), np.array([10.0 + r])
    for work in [dist.all_reduce(x, async_op=True) for x in ([b, a] if r else [a, b])]:
        work.wait()
    return [a.tolist(), b.tolist()]
