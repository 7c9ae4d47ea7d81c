"""Arrays belong to an asynchronous operation until its wait: what is noticed, where, and in which words."""

import gc
import re

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.distributed.loan import poison, stamp
from simdist.errors import BufferInUseError, DistTimeoutError

BACKENDS = ["sim", "process"]
HERE = r"test_loan.py:\d+"


def run(fn, backend="sim", world_size=2, **options):
    return sd.run(fn, world_size=world_size, backend=backend, **options).results


def noticed(call):
    """The text of the error that ``call`` raises, or None."""
    try:
        call()
    except BufferInUseError as error:
        return str(error)
    return None


# -- stamps and marks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 7, 1021, 8 * 1021, 100_000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.complex128, bool])
def test_a_stamp_shows_a_change_of_one_element_and_an_exchange(n, dtype):
    x = (np.arange(n) % 7).astype(dtype)
    before = stamp(x)
    assert stamp(x.copy()) == before
    for at in sorted({0, n // 2, n - 1}):
        y = x.copy()
        y[at] = not y[at]
        assert stamp(y) != before
    if n > 7 and dtype is not bool:
        assert stamp(x[::-1]) != before


def test_a_stamp_sees_through_strides():
    base = np.arange(12.0).reshape(3, 4)
    before = stamp(base[:, 1])
    base[:, 2] = 7.0
    assert stamp(base[:, 1]) == before
    base[2, 1] = 7.0
    assert stamp(base[:, 1]) != before
    assert stamp(np.float64(3.0)) == stamp(np.array(3.0))


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(np.float32, np.nan), (np.complex64, np.nan), (np.int16, -32768), (np.uint8, 255), (bool, True)],
)
def test_what_is_no_result_cannot_be_mistaken_for_one(dtype, value):
    x = np.ones(3, dtype)
    poison(x)
    assert x.tolist() == [value] * 3 or all(np.isnan(x))


# -- every operation --------------------------------------------------------------------------------------------------------


def arrays(rank):
    return np.full(4, rank + 1.0), np.zeros(8), [np.zeros(4) for _ in range(2)]


OPERATIONS = {
    # name -> (start, written on rank 0, read on rank 0), as positions in (x, double, pair)
    "all_reduce": (lambda x, double, pair: dist.all_reduce(x, async_op=True), "x", ""),
    "broadcast": (lambda x, double, pair: dist.broadcast(x, src=1, async_op=True), "x", ""),
    "broadcast, source": (lambda x, double, pair: dist.broadcast(x, src=0, async_op=True), "", "x"),
    "reduce": (lambda x, double, pair: dist.reduce(x, dst=0, async_op=True), "x", ""),
    "reduce, elsewhere": (lambda x, double, pair: dist.reduce(x, dst=1, async_op=True), "", "x"),
    "all_gather": (lambda x, double, pair: dist.all_gather(pair, x, async_op=True), "pair", "x"),
    "all_gather_into_tensor": (
        lambda x, double, pair: dist.all_gather_into_tensor(double, x, async_op=True), "double", "x",
    ),
    "gather": (
        lambda x, double, pair: dist.gather(x, pair if dist.get_rank() == 0 else None, dst=0, async_op=True), "pair", "x",
    ),
    "scatter": (
        lambda x, double, pair: dist.scatter(x, pair if dist.get_rank() == 0 else None, src=0, async_op=True), "x", "pair",
    ),
    "reduce_scatter_tensor": (
        lambda x, double, pair: dist.reduce_scatter_tensor(x, double, async_op=True), "x", "double",
    ),
    "reduce_scatter": (lambda x, double, pair: dist.reduce_scatter(x, pair, async_op=True), "x", "pair"),
    "all_to_all": (
        lambda x, double, pair: dist.all_to_all(pair, [x.copy(), x.copy()], async_op=True), "pair", "",
    ),
    "all_to_all_single": (
        lambda x, double, pair: dist.all_to_all_single(double, np.ones(8), async_op=True), "double", "",
    ),
    "isend": (
        lambda x, double, pair: dist.isend(x, 1) if dist.get_rank() == 0 else dist.irecv(x, 0), "", "x",
    ),
    "irecv": (
        lambda x, double, pair: dist.irecv(x, 1) if dist.get_rank() == 0 else dist.isend(x, 0), "x", "",
    ),
}  # fmt: skip


def chosen(name, x, double, pair):
    return {"x": [x], "double": [double], "pair": pair, "": []}[name]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_write_is_told_at_the_wait_with_both_lines(name, backend):
    start, written, read = OPERATIONS[name]

    def train(rank, world_size):
        texts = []
        for touched in range(len(written.split()) + len(read.split())):
            mine = arrays(rank)
            work = start(*mine)
            before = [np.isnan(x).all() for x in chosen(written, *mine)] if rank == 0 else [True]
            assert all(before), "what will be overwritten holds no numbers"
            if rank == 0:
                target = chosen((written.split() + read.split())[touched], *mine)[-1]
                target[1] = 7.0
            texts.append(noticed(work.wait))
        again = arrays(rank)
        start(*again).wait()
        return texts, [bool(np.isnan(x).any()) for x in (again[0], again[1], *again[2])]

    (texts, nans), (others, _) = run(train, backend)
    assert not any(nans)
    assert others == [None] * len(texts)
    for text in texts:
        what = name.partition(",")[0]
        assert re.fullmatch(
            rf"rank 0 at .*: an array \(\d,\) float64 of {what} .* \({HERE}\) was changed before wait\(\) \({HERE}\): it belongs "
            r"to the operation until wait\(\) returns. Wait before you change it, or work on a copy: x.copy\(\).",
            text,
        )
        places = re.findall(HERE, text)
        assert places[0] != places[1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_tensor_is_guarded_against_reads_where_they_happen(backend):
    def train(rank, world_size):
        x = sd.tensor([1.0, 2.0])
        work = dist.all_reduce(x, async_op=True)
        texts = [noticed(lambda: (x * 2).sum()), noticed(lambda: x.tolist()), noticed(lambda: x.add_(1.0))]
        shown = repr(x)
        work.wait()
        return texts, shown, x.tolist(), (x * 2).tolist()

    for texts, shown, value, double in run(train, backend):
        for text in texts:
            assert re.fullmatch(
                rf"rank \d at .*: the Tensor \(2,\) float32 is used \({HERE}\) while it belongs to all_reduce #0 of group "
                rf"'world' \({HERE}\): its result is there when wait\(\) has returned. Wait first, or compute with "
                "something else meanwhile.",
                text,
            )
        assert "lent to all_reduce #0 of group 'world' (test_loan.py:" in shown
        assert value == [2.0, 4.0]
        assert double == [4.0, 8.0]


def test_a_gradient_is_guarded():
    def train(rank, world_size):
        w = sd.tensor([1.0, 2.0], requires_grad=True)
        (w * w).sum().backward()
        work = dist.all_reduce(w.grad, async_op=True)
        text = noticed(lambda: w.detach().sub_(w.grad))
        work.wait()
        return text, w.grad.tolist()

    for text, grad in run(train):
        assert "the Tensor (2,) float32 is used" in text
        assert grad == [4.0, 8.0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_array_has_one_owner(backend):
    def train(rank, world_size):
        x, peer = np.ones((2, 4)), 1 - rank
        first = dist.irecv(x[0], peer)
        calls = [
            lambda: dist.isend(x[0], peer),
            lambda: dist.send(x, peer),
            lambda: dist.all_reduce(x),
            lambda: dist.irecv(x[0, 2:], peer),
            lambda: dist.broadcast(x[0], src=rank, async_op=True),
        ]
        texts = [noticed(call) for call in calls]
        second = dist.isend(x[1], peer)
        third = dist.isend(x[1], peer, tag=3)  # two may read
        texts += [noticed(lambda: dist.recv(x[1], peer, tag=3)), noticed(lambda: dist.all_reduce(x[1]))]
        got = np.zeros(4)
        fourth = dist.irecv(got, peer, tag=3)
        for work in (first, second, third, fourth):
            work.wait()
        dist.all_reduce(x)
        return texts, x.tolist(), got.tolist()

    for texts, x, got in run(train, backend):
        owners = ["irecv from rank"] * 5 + ["isend to rank"] * 2
        for text, owner in zip(texts, owners, strict=True):
            assert re.fullmatch(
                rf"rank \d at .*: .* \({HERE}\) is given an array that belongs to {owner} \d \(tag \d\) \({HERE}\) until "
                r"wait\(\) returns. Wait first, or give it another array.",
                text,
            )
        assert x == [[2.0] * 4] * 2
        assert got == [1.0] * 4


def test_disjoint_parts_of_one_array_are_free():
    """The halo of a grid is received while its inside is computed."""

    def train(rank, world_size):
        u = np.zeros((4, 6))
        u[:, 1:5] = rank + 1.0
        peer = 1 - rank
        works = [dist.irecv(u[:, 0], peer, tag=rank), dist.isend(u[:, 4], peer, tag=peer)]
        u[:, 2:4] += 10.0
        for work in works:
            work.wait()
        return u[0].tolist()

    assert run(train) == [[2.0, 1.0, 11.0, 11.0, 1.0, 0.0], [1.0, 2.0, 12.0, 12.0, 2.0, 0.0]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_unchecked_nothing_is_guarded(backend):
    def train(rank, world_size):
        x = sd.tensor([1.0 + rank] * 2)
        work = dist.all_reduce(x, async_op=True)
        early = x.tolist()
        x.add_(5.0)
        work.wait()
        return early, x.tolist()

    assert run(train, backend, checked=False) == [([1.0] * 2, [3.0] * 2), ([2.0] * 2, [3.0] * 2)]


def test_after_a_time_out_it_is_still_lent_and_after_a_failure_it_is_not():
    def train(rank, world_size):
        x = sd.tensor([1.0])
        if rank == 1:
            sd.sleep(1.0)
        work = dist.all_reduce(x, async_op=True)
        text = None
        if rank == 0:
            with pytest.raises(DistTimeoutError):
                work.wait(0.5)
            text = noticed(x.tolist)
        work.wait()
        y = sd.tensor([1.0])
        failing = dist.all_reduce(y, async_op=True) if rank == 0 else dist.broadcast(y, src=0, async_op=True)
        with pytest.raises(dist.DistError):
            failing.wait()
        return text, x.tolist(), len(y.tolist())

    (text, *rest), other = run(train)
    assert "is used" in text
    assert rest == [[2.0], 1]
    assert other == (None, [2.0], 1)


def test_seen_completion_ends_the_loan():
    def train(rank, world_size):
        x = sd.tensor([1.0])
        work = dist.all_reduce(x, async_op=True)
        while not work.is_completed():
            pass
        return x.tolist()

    assert run(train) == [[2.0]] * 2


def test_a_loan_ends_with_its_work_and_leaves_no_cycle():
    def train(rank, world_size):
        gc.collect()
        gc.disable()
        try:
            x = np.ones(4)
            dist.isend(x, 1 - rank)  # nobody waits for it
            got = sd.tensor([0.0] * 4, dtype=np.float64)
            work = dist.irecv(got, 1 - rank)
            work.wait()
            del work
            dist.recv(x, 1 - rank, tag=3) if rank == 0 else dist.send(x, 0, tag=3)
            state = len(got.tolist())
        finally:
            gc.enable()
        return state

    assert run(train) == [4, 4]


def test_shapes_and_empty_arrays_need_no_guard():
    def train(rank, world_size):
        work = dist.all_reduce(np.zeros(0), async_op=True)
        work.wait()
        return "done"

    assert run(train) == ["done"] * 2
    meta = sd.run(_meta, world_size=2, device="meta")
    assert meta.results == [(2,), (2,)]


def _meta(rank, world_size):
    x = sd.tensor([1.0, 2.0])
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    return x.shape
