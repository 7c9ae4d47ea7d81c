from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.cluster import Accelerator, Cluster, Link, Node, fabric, presets
from simdist.comm import ALGORITHMS, DEFAULT
from simdist.comm.choose import MOST_PIECES, Chooser, named
from simdist.comm.layout import FLAT
from simdist.errors import UnknownNameError

WORLD = tuple(range(16))


def chooser(**overrides: str) -> Chooser:
    return Chooser(presets.get("dgx-a100", num_devices=16), named(overrides))


def test_unless_told_otherwise_it_is_the_default() -> None:
    for collective, row in DEFAULT.items():
        assert chooser().choose(collective, WORLD, 1000) == (row, FLAT)


def test_an_algorithm_that_knows_nodes_is_told_them() -> None:
    row, layout = chooser(all_reduce="hierarchical_all_reduce").choose("all_reduce", (0, 1, 8, 9, 2), 1000)
    assert row is ALGORITHMS["hierarchical_all_reduce"]
    assert layout.nodes == ((0, 1, 4), (2, 3))


def test_the_number_of_pieces_is_the_best_one() -> None:
    made = chooser(broadcast="chain_broadcast")
    route = made.cluster.route(0, 8) if made.cluster is not None else None
    assert route is not None
    nbytes = 1 << 20
    _, layout = made.choose("broadcast", WORLD, nbytes)

    def seconds(pieces: int) -> float:
        return (16 - 2 + pieces) * (route.latency + nbytes / pieces / route.bandwidth)

    best = min(range(1, MOST_PIECES + 1), key=seconds)
    assert layout.pieces > 1 and seconds(layout.pieces) == pytest.approx(seconds(best), rel=0.01)
    assert made.choose("broadcast", WORLD, 0)[1].pieces == 1
    assert made.choose("broadcast", (0, 1), nbytes)[1].pieces == 1


def test_auto_takes_the_least_estimate_of_all() -> None:
    for collective in DEFAULT:
        for nbytes in (0, 1000, 10**6, 10**8):
            made = chooser(**{collective: "auto"})
            row, layout = made.choose(collective, WORLD, nbytes)
            rows = [other for other in ALGORITHMS.values() if other.collective == collective]
            seconds = [made.seconds(other, WORLD, nbytes) for other in rows]
            assert row is rows[seconds.index(min(seconds))]  # of equal ones the first
            assert layout == chooser(**{collective: row.name}).choose(collective, WORLD, nbytes)[1]


def test_auto_on_equal_links_changes_where_the_formulas_cross() -> None:
    """Case 26's switch, 5 us and 10 GB/s: below the crossing of the closed forms one algorithm, above it the other."""
    device = Accelerator("chip", {"float32": 1e12}, 1e9, 1e9)
    cluster = Cluster("switch", (Node((device,) * 8, fabric=Link(10e9, 2.5e-6)),))
    made, group = Chooser(cluster, {"all_reduce": None}), tuple(range(8))
    rows = {name: ALGORITHMS[name] for name in ("ring_all_reduce", "recursive_doubling_all_reduce")}
    for name, row in rows.items():
        assert made.seconds(row, group, 440_000) == pytest.approx(147e-6, rel=1e-9), name
    # halving and doubling are cheaper than the ring at every size: 6 a + 7/4 n b meets 3 (a + n b) at 120 kB
    assert made.choose("all_reduce", group, 119_999)[0] is rows["recursive_doubling_all_reduce"]
    assert made.choose("all_reduce", group, 120_001)[0] is ALGORITHMS["halving_doubling_all_reduce"]


DEVICE = Accelerator("chip", {"float32": 1e12}, 1e9, 1e9)
QUAD = Node((DEVICE,) * 4, fabric=Link(100e9, 1e-6), num_nics=4, nic=Link(12e9, 3e-6))
MACHINES: dict[str, tuple[str | Cluster, float, float]] = {
    "dgx-a100": ("dgx-a100", 1.12, 0.03),
    "pc-10gbe": ("pc-10gbe", 1.12, 0.03),
    "oversubscribed": (fabric.leaf_spine(QUAD, 4, 2, ratio=4.0), 1.25, 0.08),
}


@pytest.mark.parametrize(("machines", "worst", "missed"), MACHINES.values(), ids=MACHINES)
def test_what_auto_takes_is_nearly_the_winner_of_the_league(
    machines: str | Cluster, worst: float, missed: float
) -> None:
    """Rounds wait for each other in the estimate; pipelines over unequal links are faster than it believes."""
    ratios = []
    for collective in ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce", "scatter", "all_to_all"):
        for size in (5, 8, 24):
            for nbytes in (64, 4096, 65536, 1 << 20, 64 << 20):
                league = sd.collectives.league(
                    collective, cluster=machines, world_size=size, nbytes=nbytes // size * size
                )
                seconds = {s.algorithm: s.seconds for s in league.standings}
                ratios.append(seconds[league.auto] / league.standings[0].seconds)
    assert max(ratios) < worst
    assert sum(ratio > 1.05 for ratio in ratios) <= missed * len(ratios)
    assert np.mean(ratios) < 1.02


def test_names_are_checked() -> None:
    with pytest.raises(UnknownNameError, match=r"no choice of algorithms named 'fastest'\. Known: auto"):
        named("fastest")
    with pytest.raises(UnknownNameError, match=r"Did you mean 'auto'"):
        named({"all_reduce": "atuo"})
    with pytest.raises(
        UnknownNameError, match=r"no algorithm for all_reduce named 'ring_allreduce'\. Did you mean 'ring_all_reduce'"
    ):
        named({"all_reduce": "ring_allreduce"})
    with pytest.raises(UnknownNameError, match="no collective named 'allreduce'"):
        named({"allreduce": "ring_all_reduce"})
    with pytest.raises(UnknownNameError, match="no algorithm for broadcast named 'ring_all_reduce'"):
        named({"broadcast": "ring_all_reduce"})


def everything(rank: int, world_size: int) -> list[bytes]:
    """One of each collective that has a choice."""
    x = np.random.default_rng(rank).standard_normal(24)
    dist.all_reduce(x)
    y = np.random.default_rng(rank).standard_normal(24)
    dist.broadcast(y, 1)
    z = np.random.default_rng(rank).standard_normal(24)
    dist.reduce(z, 1)
    gathered = np.empty(24 * world_size)
    dist.all_gather_into_tensor(gathered, x + rank)
    parts = [np.empty(24) for _ in range(world_size)] if rank == 1 else None
    dist.gather(x * rank, parts, dst=1)
    mine = np.empty(24)
    dist.scatter(mine, parts, src=1)
    blocks = np.empty(world_size * 2)
    dist.all_to_all_single(blocks, np.arange(world_size * 2.0) + 100 * rank)
    part = np.empty(24)
    dist.reduce_scatter_tensor(part, gathered)
    return [a.tobytes() for a in (x, y, z, gathered, mine, blocks, part)]


CHOICES: list[dict[str, Any]] = [
    {row.collective: row.name} for row in ALGORITHMS.values() if row is not DEFAULT[row.collective]
]


@pytest.mark.parametrize("algorithms", CHOICES, ids=lambda choice: next(iter(choice.values())))
def test_every_algorithm_can_be_asked_for(algorithms: dict[str, str]) -> None:
    """The numbers are those of the default (to rounding), the same at every level, and the details name the algorithm."""
    runs = [
        sd.run(everything, world_size=5, cluster="dgx-a100", algorithms=algorithms, network=network)
        for network in ("messages", "steps", "formula")
    ]
    usual = sd.run(everything, world_size=5, cluster="dgx-a100")
    assert runs[0].results == runs[1].results == runs[2].results
    for ours, theirs in zip(runs[0].results, usual.results, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(np.frombuffer(a), np.frombuffer(b), rtol=1e-12, atol=1e-12)
    name = next(iter(algorithms.values()))
    assert name in {(span.details or {}).get("algorithm") for span in runs[0].trace.spans(kind="communication")}


def test_auto_is_the_same_at_every_level_and_the_trace_tells_who_was_chosen() -> None:
    runs = [
        sd.run(everything, world_size=5, cluster="dgx-a100", algorithms="auto", network=network)
        for network in ("messages", "coflow", "steps", "formula")
    ]
    assert all(run.results == runs[0].results for run in runs)
    used = {(span.details or {}).get("algorithm") for span in runs[0].trace.spans(kind="communication")}
    assert {"recursive_doubling_all_reduce", "bruck_all_gather", "bruck_all_to_all"} <= used


def test_real_processes_choose_the_same_by_the_description_of_the_cluster() -> None:
    simulated = sd.run(everything, world_size=3, cluster="pc-10gbe", algorithms="auto")
    real = sd.run(everything, world_size=3, cluster="pc-10gbe", algorithms="auto", backend="process")
    assert simulated.results == real.results


def test_auto_is_no_slower_than_the_usual_ones() -> None:
    """Five ranks and 192 bytes: a ring has eight rounds where doubling has four."""

    def small(rank: int, world_size: int) -> None:
        dist.all_reduce(np.zeros(24))

    usual, chosen = (sd.run(small, world_size=5, cluster="dgx-a100", algorithms=a) for a in (None, "auto"))
    assert chosen.time < 0.6 * usual.time


def test_real_processes_use_the_same_algorithm() -> None:
    algorithms = {
        "all_reduce": "recursive_doubling_all_reduce",
        "broadcast": "chain_broadcast",
        "gather": "binomial_gather",
    }
    simulated = sd.run(everything, world_size=3, cluster="dgx-a100", algorithms=algorithms)
    real = sd.run(everything, world_size=3, cluster="dgx-a100", algorithms=algorithms, backend="process")
    assert simulated.results == real.results


def test_the_command_line(tmp_path: Any) -> None:
    from typer.testing import CliRunner

    from simdist.cli import app

    path = tmp_path / "chosen.py"
    path.write_text(
        "import numpy as np, simdist.distributed as dist\ndef f(rank, world_size):\n    dist.all_reduce(np.zeros(4))\n"
    )
    shown = CliRunner().invoke(
        app(), ["run", f"{path}:f", "--algorithm", "all_reduce=star_all_reduce", "--network", "steps"]
    )
    assert shown.exit_code == 0, shown.output
    for words, text in (
        (["--algorithm", "all_reduce=sta_all_reduce"], "Did you mean 'star_all_reduce'"),
        (["--algorithm", "star"], "--algorithm 'star' is neither auto nor collective=name"),
        (["--network", "step"], "Did you mean 'steps'"),
    ):
        shown = CliRunner().invoke(app(), ["run", f"{path}:f", *words])
        assert shown.exit_code == 2
        assert re.search(re.escape(text), shown.stderr)
