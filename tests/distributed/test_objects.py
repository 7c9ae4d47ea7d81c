import pytest

import simdist as sd
import simdist.distributed as dist


@pytest.mark.parametrize("backend", ["sim", "process"])
def test_objects_of_different_sizes(backend):
    def program(rank, world_size):
        obj = {"r": rank, "l": [rank] * rank, "s": "x" * rank}
        everybody = [None] * world_size
        dist.all_gather_object(everybody, obj)
        gathered = [None] * world_size if rank == 1 else None
        dist.gather_object(obj, gathered, dst=1)
        shared = [obj, rank, None] if rank == 1 else [None] * 3
        dist.broadcast_object_list(shared, src=1)
        mine = [None]
        dist.scatter_object_list(mine, [{"to": r} for r in range(world_size)] if rank == 0 else None, src=0)
        passed = [None, None]
        if rank == 0:
            dist.send_object_list([obj, 5], dst=1)
        if rank == 1:
            passed.append(dist.recv_object_list(passed, src=0))
        return everybody, gathered, shared, mine, passed

    objects = [{"r": r, "l": [r] * r, "s": "x" * r} for r in range(3)]
    for rank, (everybody, gathered, shared, mine, passed) in enumerate(
        sd.run(program, world_size=3, backend=backend).results
    ):
        assert everybody == objects
        assert gathered == (objects if rank == 1 else None)
        assert shared == [objects[1], 1, None]
        assert mine == [{"to": rank}]
        assert passed == ([objects[0], 5, 0] if rank == 1 else [None, None])


def test_bad_lists():
    def program(rank, world_size):
        with pytest.raises(IndexError, match="has 1 places"):
            dist.all_gather_object([None], rank)
        with pytest.raises(ValueError, match="at least one place"):
            dist.scatter_object_list([], [1, 2] if rank == 0 else None)
        with pytest.raises(AttributeError, match="pickle"):
            dist.all_gather_object([None] * 2, lambda: 0)

    sd.run(program, world_size=2)
