"""Does the picture of memory show who holds what, when, and the peak that the report names?"""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import simdist as sd
from simdist import nn, optim
from simdist.errors import TraceError
from simdist.plot.memory import curves, memory
from simdist.trace import Trace
from simdist.units import format_bytes


def words(ax: Axes) -> str:
    return "\n".join(text.get_text() for text in ax.texts)


def legend(ax: Axes) -> list[str]:
    found = ax.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


def test_curves_are_what_is_held_from_each_time_on(two_ranks: Trace) -> None:
    times, held = curves(two_ranks, 0)
    assert list(held) == ["parameters", "gradients", "activations", "workspace"]
    assert times.tolist() == [0, 0, 1, 2, 2, 4, 5]
    assert held["parameters"].tolist() == [0, 1000, 1000, 1000, 1000, 1000, 1000]
    assert held["activations"].tolist() == [0, 0, 500, 3000, 3000, 3000, 0]
    assert held["gradients"].tolist() == [0, 0, 0, 0, 0, 1000, 1000]


def test_what_is_taken_and_freed_at_one_instant_is_seen(two_ranks: Trace) -> None:
    _, held = curves(two_ranks, 0)
    assert held["workspace"].tolist() == [0, 0, 0, 4000, 0, 0, 0]


def test_other_ranks_are_left_out(two_ranks: Trace) -> None:
    assert list(curves(two_ranks, 1)[1]) == ["parameters"]


def test_the_peak_is_marked(two_ranks: Trace) -> None:
    ax = memory(two_ranks, rank=0)
    assert words(ax) == "peak 8 kB at 2 s"
    assert ax.get_ylim()[1] > 8000
    assert ax.get_xlim() == (0, 10)


def test_the_stack_in_the_order_of_the_legend(two_ranks: Trace) -> None:
    ax = memory(two_ranks)
    assert legend(ax) == ["workspace", "activations", "gradients", "parameters"]
    bottom, *_, top = ax.collections
    assert bottom.get_datalim(ax.transData).y0 == 0
    assert top.get_datalim(ax.transData).y1 == 8000


def test_axes_and_title(two_ranks: Trace) -> None:
    ax = memory(two_ranks)
    assert ax.get_ylabel() == "memory of rank 0 (kB)"
    assert ax.get_xlabel() == "simulated time (s)"
    assert ax.get_title(loc="left").startswith("train: 2 ranks · simulated on dgx-a100")


def test_a_capacity_that_matters_is_a_line(two_ranks: Trace) -> None:
    ax = memory(two_ranks, capacity=16000)
    assert [16000.0, 16000.0] in [list(line.get_ydata()) for line in ax.lines]
    assert "capacity 16 kB" in words(ax)
    assert ax.get_ylim()[1] > 16000


def test_a_capacity_far_away_is_a_sentence(two_ranks: Trace) -> None:
    ax = memory(two_ranks, capacity=160_000)
    assert "capacity 160 kB: 5.0% used" in words(ax)
    assert ax.get_ylim()[1] < 20_000
    assert "less than 0.1% used" in words(memory(two_ranks, capacity=80 * 10**9))


def test_given_axes_are_used(two_ranks: Trace) -> None:
    ax = Figure().subplots()
    assert memory(two_ranks, ax=ax) is ax


@pytest.mark.parametrize("rank", [-1, 2])
def test_a_rank_that_is_not_there(two_ranks: Trace, rank: int) -> None:
    with pytest.raises(ValueError, match=rf"there is no rank {rank} to draw: the ranks of this run are 0\.\.1\."):
        memory(two_ranks, rank=rank)


def test_a_run_without_memory_points_says_why() -> None:
    reasons = [
        ({"is_kept": False}, r"the run kept no trace \(traced=False\): run it again with traced=True"),
        (
            {"meta": {"backend": "process"}},
            "real processes have no accelerator whose memory is counted; draw a simulated run",
        ),
        ({}, "rank 0 held none on its accelerator, for it made no tensors"),
    ]
    for options, text in reasons:
        with pytest.raises(TraceError, match=f"there is no memory to draw: {text}"):
            memory(Trace([], world_size=1, end=1.0, **options))


def test_very_many_points_keep_their_peak() -> None:
    points = [(0, i * 1e-6, "activations", (i * 7919) % 1000) for i in range(50_000)]
    points[31_234] = (0, 31_234e-6, "activations", 5_000)
    ax = memory(Trace([], (), points, world_size=1, end=0.05))
    assert words(ax) == "peak 5 kB at 31.2 ms"
    assert len(ax.lines[0].get_xdata()) <= 4001
    ax.figure.canvas.draw()


def step(rank: int, world_size: int) -> None:
    model = nn.MLP([64, 256, 10])
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loss = nn.functional.cross_entropy(model(sd.zeros(32, 64)), sd.zeros(32, dtype="int64"))
    loss.backward()
    optimizer.step()


def test_a_run_shows_the_peak_of_its_report() -> None:
    run = sd.run(step, world_size=1, cluster="dgx-a100")
    ax = run.memory_plot()
    assert f"peak {format_bytes(run.memory[0].peak)}" in words(ax)
    assert "capacity 80 GB" in words(ax)
    assert {"parameters", "gradients", "optimizer state", "activations"} <= set(legend(ax))
    assert sum(sizes.max() for sizes in curves(run.trace, 0)[1].values()) >= run.memory[0].peak


def test_the_curves_are_arrays_of_equal_length(two_ranks: Trace) -> None:
    times, held = curves(two_ranks, 0)
    assert all(isinstance(sizes, np.ndarray) and sizes.shape == times.shape for sizes in held.values())
