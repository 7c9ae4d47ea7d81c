"""torch's collectives: values as recorded from PyTorch, views, groups, roots, bad input; simulated and real."""

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.errors import CollectiveMismatchError, GradientError, ShapeError

BACKENDS = ["sim", "process"]


def run(fn, world_size=2, backend="sim", **options):
    return sd.run(fn, world_size=world_size, backend=backend, cluster="dgx-a100", **options).results


def everything(rank, world_size):
    """Every collective once, with inputs that differ by rank; returns what each left behind."""
    x = np.arange(6, dtype=np.float64).reshape(2, 3) + 10 * rank
    out = {}
    for op in (op for op in dist.ReduceOp if op.name in ("SUM", "AVG", "PRODUCT", "MIN", "MAX")):
        out[f"all_reduce {op.name}"] = y = x.copy()
        dist.all_reduce(y, op=op)
        out[f"reduce {op.name}"] = y = x.copy()
        dist.reduce(y, dst=world_size - 1, op=op)
    out["broadcast"] = y = x.copy()
    dist.broadcast(y, src=world_size - 1)
    out["all_gather"] = parts = [np.zeros_like(x) for _ in range(world_size)]
    dist.all_gather(parts, x)
    out["all_gather_into_tensor"] = y = np.zeros((world_size, 2, 3))
    dist.all_gather_into_tensor(y, x)
    big = np.arange(4.0 * world_size) + rank
    out["reduce_scatter_tensor"] = y = np.zeros(4)
    dist.reduce_scatter_tensor(y, big)
    out["reduce_scatter"] = y = np.zeros(4)
    dist.reduce_scatter(y, list(big.reshape(world_size, 4)))
    out["gather"] = parts = [np.zeros_like(x) for _ in range(world_size)] if rank == 1 % world_size else None
    dist.gather(x, parts, dst=1 % world_size)
    out["scatter"] = y = np.zeros(3)
    dist.scatter(y, [np.full(3, 7.0 + r) for r in range(world_size)] if rank == 0 else None, src=0)
    dist.barrier()
    return out


def expected(rank, world_size):
    xs = [np.arange(6, dtype=np.float64).reshape(2, 3) + 10 * r for r in range(world_size)]
    folds = {"SUM": np.sum, "AVG": np.mean, "PRODUCT": np.prod, "MIN": np.min, "MAX": np.max}
    out = {}
    for name, fold in folds.items():
        out[f"all_reduce {name}"] = fold(xs, axis=0)
        out[f"reduce {name}"] = fold(xs, axis=0) if rank == world_size - 1 else xs[rank]
    out["broadcast"] = xs[-1]
    out["all_gather"] = xs
    out["all_gather_into_tensor"] = np.stack(xs)
    total = sum(np.arange(4.0 * world_size) + r for r in range(world_size)).reshape(world_size, 4)
    out["reduce_scatter_tensor"] = out["reduce_scatter"] = total[rank]
    out["gather"] = xs if rank == 1 % world_size else None
    out["scatter"] = np.full(3, 7.0 + rank)
    return out


@pytest.mark.parametrize(
    ("backend", "world_size"), [("sim", n) for n in (1, 2, 3, 5, 8)] + [("process", 2), ("process", 3)]
)
def test_every_collective(backend, world_size):
    for rank, got in enumerate(run(everything, world_size, backend)):
        want = expected(rank, world_size)
        assert got.keys() == want.keys()
        for name, value in want.items():
            if value is None:
                assert got[name] is None
            else:
                np.testing.assert_allclose(got[name], value, rtol=1e-14, err_msg=f"{name} on rank {rank}")


@pytest.mark.parametrize("world_size", [2, 3])
def test_the_same_bytes_simulated_and_real(world_size):
    def program(rank, world_size):
        x = np.random.default_rng(rank).standard_normal(1001).astype(np.float32)
        dist.all_reduce(x)
        y = np.random.default_rng(rank).standard_normal(37 * world_size)
        z = np.zeros(37)
        dist.reduce_scatter_tensor(z, y, op=dist.ReduceOp.AVG)
        dist.reduce(y, dst=0)
        return x, y, z

    options = {"world_size": world_size, "cluster": "dgx-a100"}
    comparison = sd.compare(sd.run(program, **options), sd.run(program, backend="process", **options))
    assert comparison.identical, str(comparison)
    assert comparison.count == 3 * world_size


@pytest.mark.parametrize("backend", BACKENDS)
def test_asynchronous_results_appear_at_wait(backend):
    def program(rank, world_size):
        x, y = np.full(5, 1.0 + rank), sd.tensor(np.full(3, 10.0 + rank))
        works = [dist.all_reduce(x, async_op=True), dist.broadcast(y, src=1, async_op=True)]
        before = x.copy()  # no result: it belongs to the operation until the wait
        dist.barrier()  # goes behind them in the queue of the group
        assert [work.wait() for work in works] == [True, True]
        return before, x, y.numpy()

    for before, x, y in run(program, 2, backend):
        assert np.isnan(before).all()
        np.testing.assert_array_equal(x, np.full(5, 3.0))
        np.testing.assert_array_equal(y, np.full(3, 11.0))


def test_is_completed_lets_the_clock_move():
    def program(rank, world_size):
        work = dist.all_reduce(np.zeros(1 << 20, np.float32), async_op=True)
        polls = 0
        while not work.is_completed():
            polls += 1
        return polls, sd.current_time()

    polls, time = run(program)[0]
    assert polls > 1
    assert time == pytest.approx(polls * 1e-6, abs=1.1e-6)


# -- views and strange arrays -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_views_and_layouts(backend):
    """Case 14: strided inputs keep their values, in-place results go through the view into the base and nowhere else."""

    def program(rank, world_size):
        out = {}
        column = (np.array([[0, 0], [1, 1]]) + 10 * rank)[:, 0]
        parts = [np.zeros(2, np.int64) for _ in range(2)] if rank == 0 else None
        dist.gather(column, parts, dst=0)
        out["a"] = parts
        for name, view in (("T", lambda b: b.T), ("rows", lambda b: b[1:]), ("stride", lambda b: b[:, ::2])):
            base = np.arange(6).reshape(2, 3) + 10 * rank
            dist.all_reduce(view(base))
            out[name] = base
        halves = np.zeros(4)
        dist.all_gather([halves[:2], halves[2:]], np.array([rank, rank + 0.5]))
        out["c"] = halves
        gathered = np.zeros((4, 2), np.int64)
        dist.all_gather_into_tensor(gathered, (np.arange(4).reshape(2, 2) + 10 * rank).T)
        out["d"] = gathered
        base = np.arange(6).reshape(3, 2) + 100 * rank
        dist.broadcast(base.T, src=0)
        out["e"] = base.T
        scalar = np.array(2.0 + rank)
        dist.all_reduce(scalar)
        out["0-d"] = scalar
        empty = np.zeros((0, 3))
        dist.all_reduce(empty)
        out["empty"] = empty
        return out

    zero, one = run(program, 2, backend)
    np.testing.assert_array_equal(zero["a"], [[0, 1], [10, 11]])
    for got in (zero, one):
        np.testing.assert_array_equal(got["T"], [[10, 12, 14], [16, 18, 20]])
        np.testing.assert_array_equal(got["c"], [0, 0.5, 1, 1.5])
        np.testing.assert_array_equal(got["d"], [[0, 2], [1, 3], [10, 12], [11, 13]])
        np.testing.assert_array_equal(got["e"], [[0, 2, 4], [1, 3, 5]])
        assert got["0-d"] == 5.0
        assert got["empty"].shape == (0, 3)
    np.testing.assert_array_equal(zero["rows"], [[0, 1, 2], [16, 18, 20]])
    np.testing.assert_array_equal(one["rows"], [[10, 11, 12], [16, 18, 20]])
    np.testing.assert_array_equal(zero["stride"], [[10, 1, 14], [16, 4, 20]])
    np.testing.assert_array_equal(one["stride"], [[10, 11, 14], [16, 14, 20]])


def test_overlapping_outputs_are_refused():
    def program(rank, world_size):
        same = np.zeros(2)
        dist.all_gather([same, same], np.zeros(2))

    with pytest.raises(ValueError, match=r"tensor_list\[0\] and \[1\] share memory"):
        run(program)


# -- groups -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_global_and_group_ranks(backend):
    """Case 18: src and dst are global ranks, group_src and group_dst positions in the group."""

    def program(rank, world_size):
        group = dist.new_group([3, 1])
        out = {"rank": dist.get_rank(group), "size": dist.get_world_size(group)}
        if rank not in (1, 3):
            x = np.array([rank])
            with pytest.warns(UserWarning, match="of which it is no member"):
                out["none"] = dist.all_reduce(x, group=group)
            out["x"] = int(x[0])
            return out
        x = np.array([rank])
        dist.broadcast(x, src=3, group=group)
        out["src"] = int(x[0])
        x = np.array([rank])
        dist.broadcast(x, group_src=0, group=group)
        out["group_src"] = int(x[0])
        with pytest.raises(ValueError, match=r"src=0 is not in ProcessGroup.* src is a global rank; .* use group_src"):
            dist.broadcast(x, src=0, group=group)
        out["global"] = dist.get_global_rank(group, 1)
        out["group"] = dist.get_group_rank(group, 3)
        out["ranks"] = dist.get_process_group_ranks(group)
        return out

    results = run(program, 4, backend)
    assert [r["rank"] for r in results] == [-1, 0, -1, 1]
    assert [r["size"] for r in results] == [-1, 2, -1, 2]
    for r in (results[0], results[2]):
        assert r["none"] is None
    assert [results[0]["x"], results[2]["x"]] == [0, 2]
    for r in (results[1], results[3]):
        assert (r["src"], r["group_src"], r["global"], r["group"], r["ranks"]) == (3, 1, 3, 1, [1, 3])


def test_groups_of_bad_ranks():
    def program(rank, world_size, ranks):
        dist.new_group(ranks)

    for ranks, text in (([0, 2], "rank 2 is not in 0..1"), ([1, 1], "names a rank twice"), ([-1], "rank -1 is not")):
        with pytest.raises(ValueError, match=text):
            sd.run(program, ranks, world_size=2)


def test_group_rank_lookups_refuse_strangers():
    def program(rank, world_size):
        group = dist.new_group([0])
        with pytest.raises(ValueError, match="group rank 1 is not in"):
            dist.get_global_rank(group, 1)
        with pytest.raises(ValueError, match="global rank 1 is not in"):
            dist.get_group_rank(group, 1)

    run(program)


# -- bad input ----------------------------------------------------------------------------------------------------------


def attempt(call):
    def program(rank, world_size):
        call(rank)

    return run(program)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda r: dist.all_reduce([1.0, 2.0]), TypeError, "must be a numpy array or a simdist Tensor, got list"),
        (lambda r: dist.all_reduce(np.array(["a"])), TypeError, "only arrays of numbers can be sent"),
        (lambda r: dist.all_reduce(np.broadcast_to(1.0, (3,))), ValueError, "read-only array"),
        (lambda r: dist.all_reduce(np.arange(3), op=dist.ReduceOp.AVG), ValueError, "an average is not a whole number"),
        (lambda r: dist.all_reduce(np.zeros(3), op="sum"), TypeError, "op must be a ReduceOp"),
        (lambda r: dist.all_reduce(sd.ones(3, requires_grad=True) * 2), GradientError, "gradients flow through"),
        (lambda r: dist.broadcast(np.zeros(3)), ValueError, "give either src .* or group_src"),
        (lambda r: dist.broadcast(np.zeros(3), src=0, group_src=0), ValueError, "not both or none"),
        (lambda r: dist.broadcast(np.zeros(3), group_src=9), ValueError, "group_src=9, but"),
        (lambda r: dist.reduce_scatter_tensor(np.zeros(2), np.zeros(5)), ShapeError, "2 times as many elements"),
        (lambda r: dist.all_gather_into_tensor(np.zeros(5), np.zeros(2)), ShapeError, "2 times as many elements"),
        (lambda r: dist.all_gather([np.zeros(2)], np.zeros(2)), ValueError, "has 1 arrays, the group has 2 ranks"),
        (lambda r: dist.all_gather([np.zeros(2), np.zeros(3)], np.zeros(2)), ShapeError, r"\[1\] is \(3,\) float64, expected"),
        (lambda r: dist.gather(np.zeros(2), None, dst=0), ValueError, "the dst rank must give gather_list"),
        (lambda r: dist.scatter(np.zeros(2), [np.zeros(2)] * 2, src=0), ValueError, "must be given on the src rank only"),
        (lambda r: dist.send(np.zeros(2), dst=r), ValueError, "is a message to itself"),
        (lambda r: dist.send(np.zeros(2), dst=7), ValueError, "there is no such rank"),
    ],
)  # fmt: skip
def test_bad_arguments(call, error, text):
    with pytest.raises(error, match=text):
        attempt(call)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("calls", "texts"),
    [
        (
            (lambda: dist.all_reduce(np.zeros(4)), lambda: dist.broadcast(np.zeros(4), src=0)),
            ("all_reduce", "broadcast"),
        ),
        ((lambda: dist.all_reduce(np.zeros(4)), lambda: dist.all_reduce(np.zeros(5))), ("(4,)", "(5,)")),
        (
            (lambda: dist.all_reduce(np.zeros(4)), lambda: dist.all_reduce(np.zeros(4, np.float32))),
            ("float64", "float32"),
        ),
    ],
)
def test_mismatched_calls_are_an_error_on_both_ranks(backend, calls, texts):
    """Case 21 a-c: sequence number, operation, shape and dtype of each."""

    def program(rank, world_size):
        try:
            calls[rank]()
        except CollectiveMismatchError as error:
            return str(error)
        return "no error"

    for text in run(program, 2, backend):
        assert "collective 0 of group 'world'" in text
        for part in texts:
            assert part in text, text


def test_mismatch_names_both_lines_in_simulation():
    def program(rank, world_size):
        if rank == 0:
            dist.all_reduce(np.zeros(4))
        else:
            dist.all_reduce(np.zeros(5))

    with pytest.raises(CollectiveMismatchError, match=r"test_collectives.py:\d+.*test_collectives.py:\d+"):
        run(program)


def test_unchecked_runs_match_by_order_as_bare_libraries_do():
    """Two all-reduces of equal shape, swapped on one rank: silently wrong sums."""

    def program(rank, world_size):
        a, b = np.array([1.0, 10.0][rank]), np.array([2.0, 20.0][rank])
        for x in (a, b) if rank == 0 else (b, a):
            dist.all_reduce(x)
        return float(a), float(b)

    assert run(program, checked=False)[0] == (21.0, 12.0)


def test_outside_a_run():
    with pytest.raises(dist.DistError, match=r"outside a run.*sd.run\(train, world_size=4\)"):
        dist.all_reduce(np.zeros(3))
