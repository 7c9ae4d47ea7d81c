"""The short cut's three ways agree: a table of steps, ranks in step, and messages told in a bundle."""

import numpy as np
import pytest

from simdist.comm import DEFAULT, Call, Members, Request
from simdist.comm.chunks import bounds
from simdist.comm.layout import FLAT
from simdist.sim.replay import Bundle, Hops, replay
from simdist.tensor import MetaArray


def calls(p, n, name="all_reduce", meta=False, divisor=0):
    made = []
    for r in range(p):
        algorithm = DEFAULT[name]
        x = MetaArray((n,), np.dtype("float64")) if meta else np.random.default_rng(r).standard_normal(n)
        cuts = None if algorithm.pieces(p, FLAT) == 1 else bounds(n, p)
        members = Members(0, tuple(range(p)), r, "world")
        request = Request(name, members, algorithm, 0, cuts, np.add, divisor, (name, (n,), x.dtype, "SUM", None), 8 * n)
        made.append(Call(request, 0, x))
    return made


def wire(src, dst):
    return 1e9, 1e-6


@pytest.mark.parametrize("p", [1, 2, 3, 8])
@pytest.mark.parametrize("divisor", [0, 7])
def test_in_step_is_the_table(p, divisor):
    n = 6 * p
    rows_a, rows_b = [], []
    a, b = calls(p, n, divisor=divisor), calls(p, n, divisor=divisor)
    in_step = replay(a, [0.1] * p, wire, Hops(1e9, 1e-6), rows_a)
    table = replay(b, [0.1] * p, wire, None, rows_b)
    assert in_step == table
    assert [c.flat.tobytes() for c in a] == [c.flat.tobytes() for c in b]
    assert all(isinstance(row, Bundle) for row in rows_a)
    assert sorted(row for bundle in rows_a for row in bundle.rows()) == sorted(rows_b)
    assert len(rows_b) == 2 * (p - 1) * p


def test_shapes_only_take_the_same_time():
    real = replay(calls(4, 10), [0.0, 1e-6, 2e-6, 0.0], wire, None, None)
    meta = replay(calls(4, 10, meta=True), [0.0, 1e-6, 2e-6, 0.0], wire, None, None)
    assert real == meta


def test_the_time_of_a_ring_is_the_textbook_formula():
    n, p = 1_000_000, 8
    finish = replay(calls(p, n, meta=True), [0.0] * p, wire, Hops(1e9, 1e-6), None)
    assert finish == [pytest.approx(2 * (p - 1) * 1e-6 + 2 * (p - 1) / p * 8 * n / 1e9, rel=1e-12)] * p


@pytest.mark.parametrize(("name", "rounds"), [("broadcast", 3), ("reduce", 3), ("barrier", 3)])
def test_the_time_of_a_tree_is_the_textbook_formula(name, rounds):
    n = 0 if name == "barrier" else 1000
    made = calls(8, n, name)
    finish = replay(made, [0.0] * 8, wire, None, None)
    assert max(finish) == pytest.approx(rounds * (1e-6 + 8 * n / 1e9), rel=1e-12)
