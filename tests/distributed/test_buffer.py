import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.distributed.buffer import array_of, flatten, in_place, writeable
from simdist.errors import GradientError
from simdist.tensor import MetaArray


def test_contiguous_arrays_are_used_in_place():
    x = np.arange(6.0).reshape(2, 3)
    flat, shared = flatten(x, copy=False)
    assert shared
    assert np.shares_memory(flat, x)
    flat, shared = flatten(x, copy=True)
    assert not shared
    assert not np.shares_memory(flat, x)


def test_views_are_copied_in_row_major_order():
    x = np.arange(6.0).reshape(2, 3).T
    flat, shared = flatten(x, copy=False)
    assert not shared
    assert flat.tolist() == [0, 3, 1, 4, 2, 5]


def test_scalars_and_shapes():
    assert flatten(np.array(3.0), copy=False)[0].shape == (1,)
    flat, shared = flatten(MetaArray((2, 3), np.dtype("float32")), copy=True)
    assert shared
    assert flat.shape == (6,)


def test_in_place_gives_what_writes_the_result_back_through_the_view():
    x = np.arange(6.0).reshape(2, 3)
    flat, shape, finish = in_place(x, "x", copy=False)
    assert shape == (2, 3)
    assert finish is None
    assert np.shares_memory(flat, x)
    base = np.zeros((2, 2))
    flat, shape, finish = in_place(base.T, "x", copy=False)
    assert shape == (2, 2)
    flat[...] = [1.0, 2.0, 3.0, 4.0]
    assert not base.any()
    finish()
    assert base.tolist() == [[1, 3], [2, 4]]


def test_in_place_needs_no_way_back_for_shapes():
    for shape in ((), (6,), (2, 3)):
        flat, seen, finish = in_place(MetaArray(shape, np.dtype("float32")), "x", copy=True)
        assert flat.shape == (flat.size,)
        assert seen == shape
        assert finish is None


def test_in_place_refuses_what_cannot_be_written():
    x = np.zeros(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match=r"x is a read-only array.*Pass a copy"):
        in_place(x, "x", copy=True)


def test_what_is_taken():
    tensor = sd.ones(3)
    assert array_of(tensor, "x") is tensor.data
    leaf = sd.ones(3, requires_grad=True)
    assert writeable(leaf, "x") is leaf.data
    with pytest.raises(GradientError, match=r"x is a result that gradients flow through.*detach"):
        writeable(leaf * 2, "x")
    with pytest.raises(TypeError, match="x must be a numpy array or a simdist Tensor, got float"):
        array_of(3.0, "x")
    with pytest.raises(TypeError, match="dtype object"):
        array_of(np.array([None]), "x")


def test_a_matrix_counts_as_the_plain_array_over_its_memory():
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)
    plain = writeable(matrix, "x")
    assert type(plain) is np.ndarray
    assert np.shares_memory(plain, matrix)
    flat, shared = flatten(plain, copy=False)
    assert shared
    assert flat.shape == (4,)


def test_a_masked_array_is_refused():
    with pytest.raises(TypeError) as found:
        array_of(np.ma.array([1.0, 2.0], mask=[False, True]), "all_reduce: tensor")
    assert str(found.value) == (
        "all_reduce: tensor is a masked array: numbers travel, its mask would stay behind. Pass x.filled(value), and the "
        "mask as an array of its own if the others need it."
    )


def every_call(x, rank, world_size):
    """Each call of the package with arrays like ``x``, which is ``rank`` times something: name -> a function."""
    peer = 1 - rank

    def like():
        return x.copy()

    def exchange(send, recv):
        for first in (send, recv) if rank == 0 else (recv, send):
            first()

    def both(works):
        for work in works:
            work.wait()

    lists = [like() for _ in range(world_size)]
    return {
        "all_reduce: tensor": lambda: dist.all_reduce(like()),
        "reduce: tensor": lambda: dist.reduce(like(), dst=0),
        "broadcast: tensor": lambda: dist.broadcast(like(), src=0),
        "all_gather: ": lambda: dist.all_gather(lists, like()),
        "all_gather_into_tensor: ": lambda: dist.all_gather_into_tensor(np.zeros((2, *x.shape)), like()),
        "gather: ": lambda: dist.gather(like(), lists if rank == 0 else None, dst=0),
        "scatter: ": lambda: dist.scatter(like(), lists if rank == 0 else None, src=0),
        "reduce_scatter: ": lambda: dist.reduce_scatter(like(), lists),
        "reduce_scatter_tensor: ": lambda: dist.reduce_scatter_tensor(like(), np.zeros((2, *x.shape))),
        "isend: tensor": lambda: both([dist.isend(like(), peer), dist.irecv(like(), peer)]),
        "irecv: tensor": lambda: exchange(lambda: dist.send(np.ones(x.shape), peer), lambda: dist.recv(like(), peer)),
    }


def call_all_with_masked(rank, world_size):
    texts = {}
    for name, call in every_call(np.ma.array([1.0, 2.0], mask=[False, True]), rank, world_size).items():
        if name.startswith("irecv"):
            call = lambda: dist.recv(np.ma.array([1.0]), 1 - rank)  # noqa: E731
        try:
            call()
        except TypeError as error:
            texts[name] = str(error)
    return texts


def call_all_with_matrix(rank, world_size):
    calls = every_call(np.array([[1.0, 2.0]]).view(np.matrix), rank, world_size)
    for call in calls.values():
        call()
    x = np.array([[1.0 + rank, 2.0], [3.0, 4.0]]).view(np.matrix)
    dist.all_reduce(x)
    y = x.copy() * (rank + 1)
    work = dist.broadcast(y, src=1, async_op=True)
    work.wait()
    got = np.array([[0.0, 0.0], [0.0, 0.0]]).view(np.matrix)
    if rank == 0:
        dist.send(x.T, 1)
    else:
        dist.recv(got, 0)
    return list(calls), x.tolist(), y.tolist(), got.tolist()


def test_no_call_takes_a_masked_array():
    simulated, real = (sd.run(call_all_with_masked, world_size=2, backend=b).results for b in ("sim", "process"))
    assert simulated == real
    for rank, texts in enumerate(simulated):
        assert len(texts) == 11
        for name, text in texts.items():
            assert text.startswith(f"rank {rank}: {name}"), (name, text)
            assert "is a masked array: numbers travel, its mask would stay behind. Pass x.filled(value)" in text


def test_every_call_takes_a_matrix():
    simulated, real = (sd.run(call_all_with_matrix, world_size=2, backend=b).results for b in ("sim", "process"))
    assert simulated == real
    names, x, y, got = simulated[1]
    assert len(names) == 11
    assert (x, y) == ([[3, 4], [6, 8]], [[6, 8], [12, 16]])
    assert got == [[3, 6], [4, 8]]
