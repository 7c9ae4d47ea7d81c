"""Groups, their ranks and their end, against what PyTorch 2.13 did on gloo.

What differs on purpose is listed in ``DIFFERENT``, with our answer and the reason.
"""

import warnings

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from tests.golden.recording import RECORDED, attempt, plain, recorded, same

REFUSED = {"error": "ValueError"}
DIFFERENT = {
    "type for member/non-member": ("ProcessGroup", "a rank that is no member gets a group too, whose rank() is -1"),
    "new_group(empty)": (REFUSED, "torch stumbles over it and says TypeError"),
    "split_group": ("ProcessGroup", "gloo has it only where a device is bound"),
    "all_reduce(destroyed group)": (REFUSED, "torch does nothing, without a word"),
    "shrink_group exists": (False, "elastic groups are not built"),
}
STRANGERS = {
    "broadcast(group, src=non member global rank)": (None, "who is no member does nothing, whatever the arguments"),
}


def program(rank, world_size):
    warnings.simplefilter("ignore")
    w, r = world_size, rank
    part = [0, w - 1] if w > 2 else [1]
    g = dist.new_group(part)
    outsider = 1 if w > 2 else 0
    found = {}

    def ask(name, call):
        found[name] = attempt(call)

    def all_reduce():
        x = np.array([float(r)])
        returned = str(dist.all_reduce(x, group=g))
        return [x.tolist(), returned]

    def broadcast(**source):
        x = np.array([float(r)])
        dist.broadcast(x, group=g, **source)
        return None if source.get("src") == outsider and g.rank() < 0 else plain(x)

    def gathered(group, out, x):
        dist.all_gather(out, x, group=group)
        return plain(out)

    def message(value, there, back):
        x = np.zeros(1)
        if w > 2 and r == 0:
            dist.send(np.array([value]), group=g, **there)
        if w > 2 and r == w - 1:
            source = dist.recv(x, group=g, **back)
            return [x.tolist(), source]
        return None

    ask("new_group ranks", lambda: dist.get_process_group_ranks(g))
    ask("type for member/non-member", lambda: type(g).__name__)
    ask("repr NON_GROUP_MEMBER", lambda: repr(dist.GroupMember.NON_GROUP_MEMBER))
    ask("get_rank(group)", lambda: dist.get_rank(g))
    ask("get_world_size(group)", lambda: dist.get_world_size(g))
    ask("get_backend(group)", lambda: dist.get_backend(g) and "gloo")
    ask("get_process_group_ranks(group)", lambda: dist.get_process_group_ranks(g))
    ask("get_group_rank(group, 0)", lambda: dist.get_group_rank(g, 0))
    ask("get_global_rank(group, 0)", lambda: dist.get_global_rank(g, 0))
    ask("get_global_rank(group, 9)", lambda: dist.get_global_rank(g, 9))
    ask("get_group_rank(group, 99)", lambda: dist.get_group_rank(g, 99))
    ask("all_reduce(group) [tensor, returned]", all_reduce)
    ask("broadcast(group, src=global rank of last member)", lambda: broadcast(src=part[-1]))
    ask("broadcast(group, group_src=last)", lambda: broadcast(group_src=len(part) - 1))
    ask("broadcast(group, src=non member global rank)", lambda: broadcast(src=outsider))
    ask("broadcast(src and group_src both)", lambda: dist.broadcast(np.ones(1), src=0, group_src=0))
    ask("broadcast(neither)", lambda: dist.broadcast(np.ones(1)))
    ask("all_gather(group)", lambda: gathered(g, [np.zeros(1) for _ in part], np.array([float(r)])))
    ask("barrier(group)", lambda: dist.barrier(g))
    ask("send(group, dst non member)", lambda: dist.send(np.ones(1), dst=outsider, group=g))
    ask("send/recv in group, dst global rank [tensor, src]", lambda: message(7.0, {"dst": w - 1}, {"src": 0}))
    ask("send/recv in group, group_dst [tensor, src]", lambda: message(8.0, {"group_dst": 1}, {"group_src": 0}))
    turned = dist.new_group(list(range(w))[::-1])
    ask("new_group(reversed) get_rank", lambda: dist.get_rank(turned))
    ask("new_group(reversed) ranks", lambda: dist.get_process_group_ranks(turned))
    ask("new_group(reversed) all_gather", lambda: gathered(turned, [np.zeros(1, int) for _ in range(w)], np.array([r])))
    ask("new_group() default ranks", lambda: dist.get_process_group_ranks(dist.new_group()))
    for name, ranks in (("duplicate", [0, 0]), ("out of range", [0, w]), ("negative", [-1, 0]), ("empty", [])):
        ask(f"new_group({name})", lambda ranks=ranks: dist.new_group(ranks))
    ask("new_group(group_desc)", lambda: dist.new_group(group_desc="my").group_desc)
    ask("new_group(backend=nope)", lambda: dist.new_group(backend="nope"))
    listed = [[0], list(range(1, w))]

    def mine(pair):
        return [dist.get_process_group_ranks(pair[0]), len(pair[1])]

    ask("new_subgroups(group_size)", lambda: mine(dist.new_subgroups(2)))
    ask("new_subgroups_by_enumeration", lambda: mine(dist.new_subgroups_by_enumeration(listed)))
    ask("new_subgroups_by_enumeration overlapping", lambda: dist.new_subgroups_by_enumeration([[0, 1], [1]]))
    ask("split_group", lambda: type(dist.split_group(split_ranks=listed)).__name__)
    ask("shrink_group exists", lambda: hasattr(dist, "shrink_group"))
    gone = dist.new_group([0, 1])
    if r < 2:
        dist.destroy_process_group(gone)
    ask("get_rank(destroyed group)", lambda: dist.get_rank(gone))
    ask("all_reduce(destroyed group)", lambda: dist.all_reduce(np.ones(1), group=gone))
    ask("destroy twice", lambda: dist.destroy_process_group(gone) if r < 2 else None)
    dist.barrier()
    dist.destroy_process_group()
    ask("after destroy is_initialized", dist.is_initialized)
    ask("after destroy get_rank", dist.get_rank)
    ask("after destroy all_reduce", lambda: dist.all_reduce(np.ones(1)))
    ask("destroy_process_group twice", dist.destroy_process_group)
    ask("after destroy get_world_size", dist.get_world_size)
    return found


@pytest.mark.parametrize(("world_size", "backend"), [(2, "sim"), (3, "sim"), (4, "sim"), (3, "process")])
def test_every_answer(world_size, backend):
    section = f"groups_world{world_size}"
    for rank, found in enumerate(sd.run(program, world_size=world_size, backend=backend).results):
        assert found.keys() == RECORDED[section].keys()
        for name, got in found.items():
            member = rank in RECORDED[section]["new_group ranks"]["all"]
            want, _ = DIFFERENT.get(name, (recorded(section, name, rank), ""))
            if name in STRANGERS and not member:
                want = STRANGERS[name][0]
            if name == "all_reduce(destroyed group)" and rank > 1:
                want = None
            same(want, got, (name, rank))


def test_the_differences_are_known_to_the_recording():
    assert not {*DIFFERENT, *STRANGERS} - set(RECORDED["groups_world2"])
