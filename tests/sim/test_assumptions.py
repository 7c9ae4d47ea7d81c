"""A run says when its level of network simulation was outside its range, and is silent when it was not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simdist as sd
import simdist.distributed as dist
from simdist.sim.level import LEVELS

TIMED = [name for name in LEVELS if name != "messages"]


def notes(program: Any, network: str, *args: Any, **options: Any) -> list[str]:
    run = sd.run(program, *args, world_size=8, cluster="dgx-a100", network=network, **options)
    return [note for note in run.notes if note.startswith("network=")]


def quiet(rank: int, world_size: int, op: str) -> None:
    sd.compute(seconds=1e-5 * rank * (op != "broadcast"))
    x = np.ones(1 << 12, np.float32)
    if op == "broadcast":
        dist.broadcast(x, src=0)
    else:
        dist.all_reduce(x)


def late(rank: int, world_size: int) -> None:
    sd.compute(seconds=1e-5 * rank)
    dist.reduce(np.ones(1 << 12, np.float32), dst=0)


def two_at_once(rank: int, world_size: int, size: int) -> None:
    sd.compute(seconds=1e-6)
    groups = [dist.new_group(list(range(world_size))) for _ in range(2)]
    works = [dist.all_reduce(np.ones(size, np.float32), group=group, async_op=True) for group in groups]
    for work in works:
        work.wait()


def beside_a_message(rank: int, world_size: int) -> None:
    sd.compute(seconds=1e-6)
    work = dist.all_reduce(np.ones(1 << 20, np.float32), async_op=True)
    if rank == 0:
        dist.send(np.ones(1 << 20, np.float32), dst=1)
    if rank == 1:
        dist.recv(np.ones(1 << 20, np.float32), src=0)
    work.wait()


@pytest.mark.parametrize("network", LEVELS)
@pytest.mark.parametrize("op", ["all_reduce", "broadcast"])
def test_inside_its_range_a_level_is_silent(network: str, op: str) -> None:
    # who comes late to an all-reduce holds up everybody, at every level; a broadcast starts together here
    assert notes(quiet, network, op) == []


@pytest.mark.parametrize("network", TIMED)
def test_late_members_of_a_rooted_collective(network: str) -> None:
    assert notes(late, network) == [
        f"network={network!r} lets nobody go on before the last member has come. In 1 of 1 collectives that is too late for "
        "some: in reduce #0 of group 'world' the members came up to 70 us apart. network='messages' lets each go on when its "
        "own messages are done."
    ]


@pytest.mark.parametrize("network", ["formula", "steps"])
def test_company_on_the_links(network: str) -> None:
    assert notes(two_at_once, network, 1 << 20) == [
        f"network={network!r} gives each collective its links for itself, but 1 of 2 collectives shared one: all_reduce #0 of "
        "group 'group 1' with all_reduce #0 of group 'group 2', at 1 us. So the run seems faster than it would be. "
        "network='coflow' shares links, 'messages' too."
    ]


@pytest.mark.parametrize("network", ["formula", "steps"])
def test_messages_of_the_user_are_company_too(network: str) -> None:
    (note,) = notes(beside_a_message, network)
    assert "all_reduce #0 of group 'world' with a message from rank 0 to rank 1 (tag 0), at 1 us." in note
    assert notes(beside_a_message, network, traced=False) == []  # nobody has kept the messages


@pytest.mark.parametrize("network", ["coflow", "coflow-fluid"])
def test_latencies_and_bytes_at_once(network: str) -> None:
    (note,) = notes(two_at_once, network, 1 << 20)
    assert note.startswith(
        f"network={network!r} knows only bounds of what happens in the latencies of collectives that share links: "
        "1 of 2 collectives, such as all_reduce #0 of group 'group 2', of whose time"
    )
    assert note.endswith("The truth lies between network='coflow-fluid' and 'coflow'; 'messages' knows it.")
    assert notes(two_at_once, network, 1 << 9) == []  # hardly any bytes: nothing to share


def test_the_report_names_the_level_and_warns() -> None:
    report = sd.run(late, world_size=8, cluster="dgx-a100", network="steps").report()
    assert "network: steps" in report
    assert "note: network='steps' lets nobody go on" in report


@pytest.mark.parametrize(("world_size", "network"), [(64, "messages"), (65, "coflow")])
def test_who_names_no_level_gets_the_one_that_fits_the_number_of_ranks(world_size: int, network: str) -> None:
    run = sd.run(quiet, "all_reduce", world_size=world_size, cluster="dgx-a100", device="meta")
    assert run.network == network


def test_a_curve_has_one_level(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = []
    original = sd.launch.run  # type: ignore[attr-defined]

    def run(*args: Any, **options: Any) -> Any:
        levels.append(options["network"])
        return original(*args, **options)

    monkeypatch.setattr("simdist.launch.run", run)
    sd.speedup(two_at_once, 8, world_sizes=[1, 2, 128], cluster="dgx-a100")
    assert levels == ["coflow"] * 3
