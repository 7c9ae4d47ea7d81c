"""Buckets by torch's rule: every assignment that was recorded from PyTorch."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdist.distributed.bucket import assign, caps, first_buckets, rebuilt_buckets
from simdist.units import MiB

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "data" / "ddp_buckets.json").read_text())
F32, F64 = np.dtype("float32"), np.dtype("float64")


@pytest.mark.parametrize("case", GOLDEN["compute_bucket_assignment_by_size"])
def test_assignment_by_size(case):
    dtypes = [np.dtype(name.removeprefix("torch.")) for name in case["dtypes"]]
    nbytes = [int(np.prod(s)) * d.itemsize for s, d in zip(case["shapes"], dtypes, strict=True)]
    found = assign(range(len(nbytes)), nbytes, dtypes, case["limits"])
    assert sorted(list(b.indices) for b in found) == case["buckets"]


def test_thirty_layers_of_512():
    """30 x Linear(512, 512): one bucket of 30.06 MiB first, then 1.00, 25.05, 4.01 MiB."""
    sizes = [512 * 512 * 4, 512 * 4] * 30
    dtypes = [F32] * 60
    (first,) = first_buckets(sizes, dtypes)
    assert first.indices == tuple(range(60))
    arrival = [i + 1 - 2 * (i % 2) for i in range(60)][::-1]
    arrival = [i for layer in range(29, -1, -1) for i in (2 * layer + 1, 2 * layer)]
    rebuilt = rebuilt_buckets(arrival, sizes, dtypes, None)
    assert [round(sum(sizes[i] for i in b.indices) / MiB, 2) for b in rebuilt] == [1.0, 25.05, 4.01]


def test_caps():
    assert caps(None) == (MiB, 25 * MiB)
    assert caps(25) == (25 * MiB,)
    assert caps(0.01) == (10485,)


def test_mixed_dtypes_stand_where_their_last_gradient_comes():
    sizes, dtypes = [4, 4, 8, 8, 4, 4], [F32, F32, F64, F64, F32, F32]
    assert [b.indices for b in first_buckets(sizes, dtypes)] == [(2, 3), (0, 1, 4, 5)]
    assert [b.indices for b in rebuilt_buckets([5, 4, 3, 2, 1, 0], sizes, dtypes, 25)] == [(3, 2), (5, 4, 1, 0)]


@given(
    st.lists(st.tuples(st.integers(0, 5000), st.booleans()), min_size=1, max_size=30),
    st.lists(st.integers(1, 9000), min_size=1, max_size=3),
    st.randoms(use_true_random=False),
)
def test_every_parameter_is_in_exactly_one_bucket(parameters, limits, random):
    sizes, dtypes = [s for s, _ in parameters], [F64 if d else F32 for _, d in parameters]
    order = list(range(len(sizes)))
    random.shuffle(order)
    found = assign(order, sizes, dtypes, limits)
    assert sorted(i for b in found for i in b.indices) == sorted(order)
    for bucket in found:
        assert {dtypes[i] for i in bucket.indices} == {bucket.dtype}
        assert sum(sizes[i] for i in bucket.indices[:-1]) < max(limits), "a bucket is closed as soon as it is full"
