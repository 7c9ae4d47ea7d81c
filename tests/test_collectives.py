from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.collectives import Step, Transfer
from simdist.comm import ALGORITHMS, DEFAULT
from simdist.cost import collectives as cost
from simdist.errors import AlgorithmError, UnknownNameError


def mine(rank: int, size: int) -> Iterator[Step]:
    """Everybody sends its whole buffer round a ring of places, one after the other: correct and slow."""
    everything = tuple(range(size))
    if rank:
        yield Step(recv=Transfer(rank - 1, everything), combine=True)
    if rank < size - 1:
        yield Step(send=Transfer(rank + 1, everything))
        yield Step(recv=Transfer(rank + 1, everything))
    else:
        yield Step(finish=everything)
    if rank:
        yield Step(send=Transfer(rank - 1, everything))


@pytest.fixture
def registered() -> Iterator[str]:
    sd.collectives.register("all_reduce", name="mine")(mine)
    yield "mine"
    sd.collectives.unregister("mine")


def test_a_learner_s_algorithm_stands_beside_the_others_and_runs_everywhere(registered: str) -> None:
    league = sd.collectives.league("all_reduce", cluster="dgx-a100", world_size=8, nbytes=1 << 20)
    assert registered in [standing.algorithm for standing in league.standings]
    assert registered in str(league) and registered in league._repr_html_()
    formulas = {standing.algorithm: standing.formula for standing in league.standings}
    assert formulas["ring_all_reduce"] == "2(p-1) a + 2(p-1)/p n b" and formulas[registered] == ""
    assert str(league).endswith(f'algorithms="auto" takes {league.auto}') and league.remark in league._repr_html_()

    def program(rank: int, world_size: int) -> float:
        x = np.full(10, float(rank))
        dist.all_reduce(x)
        return float(x[0])

    for backend in ("sim", "process"):
        run = sd.run(program, world_size=3, backend=backend, algorithms={"all_reduce": registered})
        assert run.results == [3.0] * 3


@pytest.mark.parametrize("collective", DEFAULT)
@pytest.mark.parametrize("nbytes", [0, 64, 1 << 20])
def test_nobody_beats_the_bound(collective: str, nbytes: int) -> None:
    for cluster in ("dgx-a100", "pc-10gbe"):
        league = sd.collectives.league(collective, cluster=cluster, world_size=8, nbytes=nbytes)
        assert {s.algorithm for s in league.standings} == set(sd.collectives.algorithms(collective))
        assert all(s.seconds >= league.bound * (1 - 1e-12) for s in league.standings)
        assert list(league.standings) == sorted(league.standings, key=lambda s: s.seconds)


TEXTBOOK = [
    ("ring_all_reduce", "ring"), ("recursive_doubling_all_reduce", "recursive_doubling"),
    ("halving_doubling_all_reduce", "halving_doubling"), ("ring_reduce_scatter", "ring"),
    ("ring_all_gather", "ring"), ("bruck_all_gather", "bruck"), ("binomial_broadcast", "binomial"),
    ("binomial_reduce", "binomial"), ("star_reduce", "star"), ("star_gather", "star"),
    ("binomial_gather", "binomial"), ("binomial_scatter", "binomial"),
    ("pairwise_all_to_all", "pairwise"), ("dissemination_barrier", "dissemination"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "formula"), TEXTBOOK)
@pytest.mark.parametrize("size", [2, 4, 8])
def test_the_time_on_an_idle_network_is_the_textbook_s(name: str, formula: str, size: int) -> None:
    nbytes = 0 if name == "dissemination_barrier" else 8 << 17
    cluster = sd.clusters.get("dgx-a100", num_devices=size)
    route = cluster.route(0, 1)
    collective = ALGORITHMS[name].collective
    league = sd.collectives.league(collective, cluster=cluster, world_size=size, nbytes=nbytes)
    seconds = next(s.seconds for s in league.standings if s.algorithm == name)
    assert seconds == pytest.approx(
        cost.seconds(collective, formula, size, nbytes, route.latency, route.bandwidth), rel=1e-12
    )


@pytest.mark.parametrize("name", ["star_broadcast", "star_scatter"])
@pytest.mark.parametrize("size", [2, 4, 8])
def test_a_star_that_sends_pays_the_latency_once(name: str, size: int) -> None:
    """The textbook pays it for each message; here a sender is free when its last byte has left."""
    cluster, collective = sd.clusters.get("dgx-a100", num_devices=size), ALGORITHMS[name].collective
    route = cluster.route(0, 1)
    league = sd.collectives.league(collective, cluster=cluster, world_size=size, nbytes=8 << 17)
    seconds = next(s.seconds for s in league.standings if s.algorithm == name)
    textbook = cost.seconds(collective, "star", size, 8 << 17, route.latency, route.bandwidth)
    assert seconds == pytest.approx(textbook - (size - 2) * route.latency, rel=1e-12)


def test_small_buffers_want_few_rounds_and_large_ones_few_bytes() -> None:
    small, large = (
        sd.collectives.league("all_reduce", cluster="dgx-a100", world_size=8, nbytes=n) for n in (64, 1 << 28)
    )
    assert small.standings[0].algorithm == "recursive_doubling_all_reduce"
    assert large.standings[0].distance == pytest.approx(1.0, abs=0.01)
    assert large.standings[-1].algorithm == "star_all_reduce"


def test_between_nodes_the_hierarchy_wins() -> None:
    league = sd.collectives.league("all_reduce", cluster="dgx-a100", world_size=32, nbytes=1 << 26)
    seconds = {s.algorithm: s.seconds for s in league.standings}
    assert seconds["hierarchical_all_reduce"] < 0.5 * seconds["ring_all_reduce"]


def lazy(rank: int, size: int) -> Iterator[Step]:
    """Does nothing."""
    yield from ()


def test_a_wrong_algorithm_is_refused_with_the_chunk() -> None:
    text = "lazy on 2 ranks: at the end chunk 0 of rank 0 holds chunk 0 of rank 0, but it must hold the contributions"
    with pytest.raises(AlgorithmError, match=re.escape(text)):
        sd.collectives.register("all_reduce")(lazy)
    assert "lazy" not in ALGORITHMS


def test_names_are_checked() -> None:
    with pytest.raises(UnknownNameError, match="no collective named 'allreduce'"):
        sd.collectives.register("allreduce")
    with pytest.raises(UnknownNameError, match="no collective named 'allreduce'"):
        sd.collectives.league("allreduce")
    with pytest.raises(ValueError, match="there is an algorithm 'ring_all_reduce' already"):
        sd.collectives.register("all_reduce", name="ring_all_reduce")(mine)
    with pytest.raises(UnknownNameError, match="no registered algorithm named 'ring_all_reduce'"):
        sd.collectives.unregister("ring_all_reduce")


def test_a_console_shows_the_table_a_browser_a_html_table() -> None:
    from IPython.core.formatters import DisplayFormatter

    league = sd.collectives.league("broadcast", world_size=4)
    shown = DisplayFormatter().format(league)[0]
    assert shown["text/plain"] == str(league)
    assert shown["text/html"] == league._repr_html_()
