"""What the tests of pictures share: no window, no figure left open, and small traces."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import pytest

from simdist.trace import Trace


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    """Draw without a window; a picture must leave matplotlib's settings as they were."""
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    pyplot.close("all")


@pytest.fixture
def two_ranks() -> Trace:
    """Two ranks, rank 1 slower; an all-reduce hidden in part behind the backward pass; one message."""
    work = {"group": "world", "collective": "all_reduce"}
    return Trace(
        [
            (0, "main", "launch", "linear", 0.0, 0.5, None),
            (0, "main", "forward", "linear", 0.5, 2.0, None),
            (0, "main", "backward", "linear", 2.0, 5.0, None),
            (0, "main", "wait", "all_reduce #0", 5.0, 6.0, {"op": "all_reduce #0", "for": [1]}),
            (0, "main", "communication", "all_reduce #0", 6.0, 8.0, work),
            (0, "main", "optimizer", "sgd", 8.0, 9.0, None),
            (0, "main", "idle", "done", 9.0, 10.0, None),
            (0, "comm:0", "wait", "all_reduce #0", 4.0, 6.0, {"op": "all_reduce #0", "for": [1]}),
            (0, "comm:0", "communication", "all_reduce #0", 6.0, 8.0, work),
            (1, "main", "forward", "linear", 0.0, 3.0, None),
            (1, "main", "backward", "linear", 3.0, 7.0, None),
            (1, "main", "communication", "all_reduce #0", 7.0, 8.0, work),
            (1, "main", "optimizer", "sgd", 8.0, 10.0, None),
            (1, "comm:0", "communication", "all_reduce #0", 6.0, 8.0, work),
        ],
        [(0, 1, 6.0, 6.0, 8.0, 1000, "all_reduce #0")],
        [
            (0, 0.0, "parameters", 1000),
            (0, 1.0, "activations", 500),
            (0, 2.0, "activations", 3000),
            (0, 2.0, "workspace", 4000),
            (0, 2.0, "workspace", 0),
            (0, 4.0, "gradients", 1000),
            (0, 5.0, "activations", 0),
            (1, 0.0, "parameters", 1000),
        ],
        world_size=2,
        end=10.0,
        meta={"name": "train", "backend": "sim", "cluster": "dgx-a100", "network": "messages"},
    )
