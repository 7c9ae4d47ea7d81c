"""Messages, asynchronous work and objects, against what PyTorch 2.13 did on gloo."""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from tests.golden.recording import RECORDED, attempt, check, plain, recorded, same

DIFFERENT = {
    "queries": "compared below, key by key",
    "async_op/all_reduce Work": "compared below, key by key",
}
# What numpy arrays and simulated devices have no use for.
NOT_TORCH = {
    "get_backend": "the backend's name is ours",
    "supported_backends": "so are these",
    "get_node_local_rank": "known here",
}


def program(rank, world_size):
    r, w = rank, world_size
    right, left = (r + 1) % w, (r - 1) % w
    mine = {"r": r, "l": [r] * r, "s": "x" * r}

    def ring(value):
        return np.array([float(r), value]), np.zeros(2)

    def blocking():
        out, x = ring(1.0)
        if r % 2 == 0:
            dist.send(out, right)
        source = dist.recv(x, left)
        if r % 2:
            dist.send(out, right)
        return [x.tolist(), source]

    def immediate():
        out, x = ring(1.0)
        sent, got = dist.isend(out, right), dist.irecv(x, left)
        got.wait()
        sent.wait()
        return [x.tolist(), got.is_completed(), sent.is_completed(), type(got).__name__]

    def batch():
        out, x = ring(2.0)
        works = dist.batch_isend_irecv([dist.P2POp(dist.isend, out, right), dist.P2POp(dist.irecv, x, left)])
        for work in works:
            work.wait()
        return [x.tolist(), len(works)]

    def from_any():
        dist.barrier()
        if r:
            dist.send(np.array([r, r * r]), 0)
            return None
        found = []
        for _ in range(w - 1):
            x = np.zeros(2, int)
            found.append([dist.recv(x), x.tolist()])
        return sorted(found)

    def tags():
        dist.barrier()
        if r == 0:
            for work in [dist.isend(np.array([1]), 1, tag=11), dist.isend(np.array([2]), 1, tag=22)]:
                work.wait()
        if r == 1:
            a, b = np.zeros(1, int), np.zeros(1, int)
            dist.recv(b, 0, tag=22)
            dist.recv(a, 0, tag=11)
            return [a.tolist(), b.tolist()]
        return None

    def in_order():
        dist.barrier()
        found = []
        for i in range(3):
            if r == 0:
                dist.send(np.array([i]), 1)
            if r == 1:
                x = np.zeros(1, int)
                dist.recv(x, 0)
                found += x.tolist()
        return found if r == 1 else None

    def work():
        x = np.array([float(r)])
        made = dist.all_reduce(x, async_op=True)
        answers = {
            "type": type(made).__name__,
            "wait_returns": made.wait(),
            "is_completed_after": made.is_completed(),
            "is_success": made.is_success(),
            "result": plain(made.result()),
            "tensor": x.tolist(),
            "exception": str(made.exception()),
            "source_rank": attempt(made.source_rank),
            "wait_again": made.wait(),
        }
        theirs = recorded(f"calls_world{w}", "async_op/all_reduce Work", r)["has"]
        return answers | {"has": [name for name in theirs if hasattr(made, name) or name == "boxed"]}

    def future():
        x = np.array([float(r)])
        first = dist.all_reduce(x, async_op=True).get_future()
        value = first.wait()
        then = first.then(lambda done: done.value()[0] / w)
        return [type(first).__name__, plain(value), first.done(), plain(then.wait())]

    def objects(call, out, *arguments, **options):
        call(out, *arguments, **options)
        return out

    def sent_objects():
        dist.barrier()
        if r == 0:
            dist.send_object_list([mine, 5], dst=1)
        if r == 1:
            out = [None, None]
            source = dist.recv_object_list(out, src=0)
            return [out, source]
        return None

    def gathered():
        out = [None] * w if r == 1 else None
        dist.gather_object(mine, out, dst=1)
        return out

    def queries():
        return {
            "get_rank": dist.get_rank(),
            "get_world_size": dist.get_world_size(),
            "is_initialized": dist.is_initialized(),
            "group.WORLD size": dist.group.WORLD.size(),
            "get_process_group_ranks(None)": dist.get_process_group_ranks(None),
            "get_group_rank(WORLD,1)": dist.get_group_rank(dist.group.WORLD, 1),
            "get_global_rank(WORLD,1)": dist.get_global_rank(dist.group.WORLD, 1),
            "group_name": dist.group.WORLD.group_name,
            "ReduceOp_default_of_all_reduce": dist.all_reduce.__defaults__[0].name,
        }

    todo = {
        "isend_irecv/ring": immediate,
        "batch_isend_irecv/ring [tensor, len(works)]": batch,
        "batch_isend_irecv/empty": lambda: dist.batch_isend_irecv([]),
        "batch_isend_irecv/not_p2pops": lambda: dist.batch_isend_irecv([1]),
        "P2POp/bad_op": lambda: dist.P2POp(dist.broadcast, np.zeros(1), right),
        "P2POp/self": lambda: type(dist.P2POp(dist.isend, np.zeros(1), r)).__name__,
        "recv/any_source sorted [src, tensor]": from_any,
        "isend_recv/tags received out of order [tag11, tag22]": tags,
        "send_recv/fifo per pair": in_order,
        "barrier": dist.barrier,
        "barrier/async": lambda: type(dist.barrier(async_op=True)).__name__,
        "monitored_barrier": dist.monitored_barrier,
        "async_op/all_reduce Work": work,
        "async_op=False returns": lambda: str(dist.all_reduce(np.ones(1))),
        "async_op/get_future [type, wait(), done, then]": future,
        "all_gather_object": lambda: objects(dist.all_gather_object, [None] * w, mine),
        "gather_object/dst1": gathered,
        "broadcast_object_list/src1": lambda: objects(
            dist.broadcast_object_list, [mine, r, None] if r == 1 else [None] * 3, src=1
        ),
        "scatter_object_list/src0": lambda: objects(
            dist.scatter_object_list, [None], [{"to": i} for i in range(w)] if r == 0 else None, src=0
        ),
        "send_object_list 0->1 [objects, returned src]": sent_objects,
        "queries": queries,
    }
    if w % 2 == 0:
        todo["send_recv/ring (recv returns src)"] = blocking
    return {name: attempt(call) for name, call in todo.items()}


@pytest.mark.parametrize(
    ("world_size", "backend"), [(2, "sim"), (3, "sim"), (4, "sim"), (2, "process"), (3, "process")]
)
def test_every_answer(world_size, backend):
    section = f"calls_world{world_size}"
    for rank, found in enumerate(sd.run(program, world_size=world_size, backend=backend).results):
        for name, got in found.items():
            if name not in DIFFERENT:
                check(section, name, rank, got)
                continue
            for key, want in recorded(section, name, rank).items():
                if key in got:
                    same(want, got[key], (name, key, rank))
                else:
                    assert key in NOT_TORCH, key


def test_every_recorded_call_is_compared_in_one_of_the_files():
    from tests.golden import test_collectives

    here = sd.run(program, world_size=2).results[0].keys()
    there = sd.run(test_collectives.calls, world_size=2).results[0].keys()
    apart = {name for name in RECORDED["calls_world2"] if name in test_collectives.DIFFERENT}
    assert set(RECORDED["calls_world2"]) == {*here, *there, *apart}
