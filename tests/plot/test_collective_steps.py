"""Does the picture of a collective show what its algorithm does, for algorithms by name and for those of a run?"""

from __future__ import annotations

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.collectives import Step, Transfer
from simdist.comm.rehearsal import Held
from simdist.errors import TraceError, UnknownNameError
from simdist.plot.collective_steps import MAX_PANELS, cell_text, collective_steps, scene_of


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def program(rank: int, world_size: int) -> None:
    x = np.ones(world_size * 4)
    dist.all_reduce(x)
    dist.broadcast(x, src=2)
    pair = dist.new_group([1, 3])
    if rank in (1, 3):
        dist.all_gather([np.empty_like(x) for _ in range(2)], x, group=pair)


def test_a_panel_for_each_round_with_the_letters_of_what_is_held() -> None:
    panels = collective_steps("ring_all_reduce", world_size=3)
    assert [ax.get_title(loc="left") for ax in panels] == ["before", "round 1", "round 2", "round 3", "round 4"]
    assert texts(panels[0]) == ["A"] * 3 + ["B"] * 3 + ["C"] * 3
    assert texts(panels[1]) == ["A", "AC", "A", "B", "B", "AB", "BC", "C", "C"]
    assert texts(panels[-1]) == ["Σ"] * 9
    assert [label.get_text() for label in panels[0].get_yticklabels()] == ["rank 0: A", "rank 1: B", "rank 2: C"]


def test_what_has_just_arrived_has_a_border() -> None:
    panels = collective_steps("ring_all_reduce", world_size=3)
    borders = [[patch for patch in ax.patches if not patch.get_fill()] for ax in panels]
    assert [len(found) for found in borders] == [0, 3, 3, 3, 3]
    assert {str(patch.get_linestyle()) for patch in borders[1]} == {"-"}
    assert "-" not in {str(patch.get_linestyle()) for patch in borders[3]}


def test_the_title_says_what_it_is_and_how_to_read_it() -> None:
    text = collective_steps("ring_all_reduce", world_size=3)[0].figure.get_suptitle()  # type: ignore[union-attr]
    assert text.startswith("ring_all_reduce: 3 ranks · 4 rounds")
    for words in ("letters: whose data", "Σ: of all", "full border: just combined", "dotted border: just copied"):
        assert words in text
    text = collective_steps("dissemination_barrier", world_size=3)[0].figure.get_suptitle()  # type: ignore[union-attr]
    assert "of whom it knows that they have come" in text
    text = collective_steps("pairwise_all_to_all", world_size=3)[0].figure.get_suptitle()  # type: ignore[union-attr]
    assert "(source × 3 + destination)" in text


def test_where_data_only_move_empty_cells_have_no_letter() -> None:
    panels = collective_steps("binomial_broadcast", world_size=4, root=1)
    assert [texts(ax) for ax in panels] == [["B"], ["B"] * 2, ["B"] * 4]


def test_the_collectives_of_a_run_in_order_of_time() -> None:
    run = sd.run(program, world_size=4)
    scenes = [scene_of(run, k) for k in range(3)]
    assert [scene.collective for scene in scenes] == ["all_reduce", "broadcast", "all_gather"]
    assert [scene.names for scene in scenes] == [(0, 1, 2, 3), (0, 1, 2, 3), (1, 3)]
    assert set(scenes[1].stages[0].holds) == {(2, 0)}
    assert scenes[0].title.startswith("ring_all_reduce: all_reduce #0 · 4 ranks · 6 rounds · 128 B · program, ")
    assert " of group " in scenes[2].title
    assert scene_of(run, -1) == scenes[2]
    assert len(collective_steps(run, 1)) == 3
    with pytest.raises(IndexError, match=r"no collective 3: the run had 3, numbered from 0"):
        scene_of(run, 3)


@pytest.mark.process
def test_a_run_on_real_processes_has_the_same_steps() -> None:
    real, simulated = (sd.run(program, world_size=4, backend=backend) for backend in ("process", "sim"))
    for k in range(2):
        assert scene_of(real, k).stages == scene_of(simulated, k).stages
        assert "on 4 real processes (process)" in scene_of(real, k).title


def test_a_group_in_another_order_keeps_it() -> None:
    def turned(rank: int, world_size: int) -> None:
        group = dist.new_group([3, 0, 2], sort_ranks=False)
        if rank in (3, 0, 2):
            dist.broadcast(np.ones(4), src=0, group=group)

    scene = scene_of(sd.run(turned, world_size=4, cluster="dgx-a100"))
    assert scene.names == (3, 0, 2)
    assert set(scene.stages[0].holds) == {(1, 0)}


def test_a_run_s_layout_is_the_one_that_the_algorithm_had() -> None:
    run = sd.run(program, world_size=4, cluster="pc-10gbe", algorithms={"broadcast": "chain_broadcast"})
    assert scene_of(run, 1).pieces == 1  # so few bytes are not worth a pipeline
    assert scene_of("chain_broadcast").pieces == 4


def test_questions_that_cannot_be_answered() -> None:
    run = sd.run(program, world_size=4, traced=False)
    with pytest.raises(TraceError, match="there is no collective to draw: the run kept no trace"):
        collective_steps(run)
    with pytest.raises(TraceError, match="no collective to draw"):
        collective_steps(sd.run(lambda rank, world_size: sd.sleep(1.0), world_size=2))
    with pytest.raises(UnknownNameError, match="Did you mean 'ring_all_reduce'"):
        collective_steps("ring_allreduce")
    with pytest.raises(ValueError, match=r"32 ranks with 32 chunks cannot be read in a picture \(at most 16 ranks"):
        collective_steps("ring_all_reduce", world_size=32)
    with pytest.raises(IndexError, match="no round 7: there are 6 rounds, and 0 is before the first"):
        collective_steps("ring_all_reduce", rounds=[7])
    with pytest.raises(ValueError, match="leaves nothing to draw"):
        collective_steps("ring_all_reduce", rounds=[])


def test_rounds_can_be_chosen_and_of_many_the_first_and_the_last_are_drawn() -> None:
    assert [ax.get_title(loc="left") for ax in collective_steps("ring_all_reduce", rounds=[2, 0])] == [
        "round 2",
        "before",
    ]
    panels = collective_steps("ring_all_gather", world_size=16, rounds=range(2))
    assert len(panels) == 2
    panels = collective_steps("star_reduce", world_size=16)
    assert len(panels) == 16 == MAX_PANELS
    panels = collective_steps("star_all_reduce", world_size=12)
    assert [ax.get_title(loc="left") for ax in panels][7:9] == ["round 7", "round 15"]
    assert "16 of 23 panels shown" in panels[0].figure.get_suptitle().replace("\n", " · ")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("ranks", "text"),
    [
        ([0], "A"),
        ([2, 0], "AC"),
        ([3, 1, 2, 4], "B–E"),
        ([7, 0, 1, 6], "G–B"),
        ([0, 2, 4, 6], "ACEG"),
        ([0, 1, 2, 4, 5, 6], "6/8"),
        (list(range(8)), "Σ"),
        ([0, 0, 1], "AAB"),
    ],
)
def test_the_text_of_a_cell(ranks: list[int], text: str) -> None:
    assert cell_text(tuple(Held(rank, 3) for rank in ranks), 3, 8, True) == text


def test_a_chunk_in_another_column_has_its_number() -> None:
    assert cell_text((Held(1, 2),), 0, 4, False) == "B2"
    assert cell_text((Held(0, 0),), 0, 1, True) == "A"


def test_a_learner_s_algorithm_is_drawn_like_the_others() -> None:
    def mine(rank: int, size: int, root: int):
        if rank != root:
            yield Step(recv=Transfer(root, (0,)))
        for other in range(size):
            if rank == root != other:
                yield Step(send=Transfer(other, (0,)))

    sd.collectives.register("broadcast", name="mine", pieces=lambda size, layout: 1)(mine)
    try:
        assert len(sd.plot.collective_steps("mine", world_size=4)) == 4
    finally:
        sd.collectives.unregister("mine")


def test_every_text_fits_into_the_picture() -> None:
    for name in ("ring_all_reduce", "pairwise_all_to_all", "dissemination_barrier"):
        figure = collective_steps(name, world_size=3)[0].figure
        figure.canvas.draw()
        title = figure._suptitle.get_window_extent()  # type: ignore[union-attr]
        assert title.x0 >= 0 and title.x1 <= figure.bbox.width
