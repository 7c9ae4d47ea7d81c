"""Which machines can be built, and what is said of those that cannot?"""

from __future__ import annotations

import pytest

from simdist.cluster import Accelerator, Link, Node
from simdist.errors import ClusterError

A = Accelerator("a", {"float32": 1e12}, 1e9, 1e9)
CABLE = Link(1e9, 1e-6, name="cable")


def test_a_node_is_a_value() -> None:
    assert Node([A, A], fabric=CABLE) == Node((A, A), fabric=CABLE)  # type: ignore[arg-type]
    assert hash(Node((A,))) == hash(Node((A,)))


def test_wires_are_kept_sorted() -> None:
    one = Node((A,) * 3, fabric=CABLE, layout="wires", wires=((1, 2, 1), (0, 1, 2), (0, 2, 1)))
    assert one.wires == ((0, 1, 2), (0, 2, 1), (1, 2, 1))


@pytest.mark.parametrize(
    ("num_nics", "cards", "owned"),
    [(4, [0, 1, 2, 3], True), (2, [0, 0, 1, 1], False), (3, [0, 0, 1, 2], False), (1, [0, 0, 0, 0], False)],
)
def test_cards_belong_to_contiguous_shares_of_the_accelerators(num_nics: int, cards: list[int], owned: bool) -> None:
    node = Node((A,) * 4, fabric=CABLE, num_nics=num_nics, nic=CABLE)
    assert [node.nic_of(j) for j in range(4)] == cards
    assert node.owns_nics is owned


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"accelerators": ()}, "node 'n': accelerators is empty. A node has at least one accelerator."),
        ({"accelerators": ("a",)}, "node 'n': accelerators must hold Accelerator objects, got 'a'."),
        ({"fabric": 5}, "node 'n': fabric must be a Link or None, got 5."),
        (
            {"layout": "swich", "fabric": CABLE},
            "node 'n': layout must be one of 'switch', 'mesh', 'wires', got 'swich'.",
        ),
        ({}, "node 'n': 2 accelerators and no cable between them. Give fabric=Link(...) or host=Link(...)."),
        (
            {"fabric": CABLE, "num_nics": 3, "nic": CABLE},
            "node 'n': num_nics is 3 for 2 accelerators. Give one card for each",
        ),
        ({"fabric": CABLE, "num_nics": 1}, "node 'n': num_nics is 1 and nic is None. Give both, or neither"),
        ({"fabric": CABLE, "nic": CABLE}, "node 'n': num_nics is 0 and nic is Link("),
        ({"fabric": CABLE, "num_nics": -1}, "node 'n': num_nics must be an integer of at least 0, got -1."),
        (
            {"fabric": CABLE, "wires": ((0, 1, 1),)},
            "node 'n': wires are given but layout is 'switch'. Set layout='wires'.",
        ),
        (
            {"fabric": CABLE, "layout": "wires", "wires": ((0, 1),)},
            "node 'n': wires must hold (i, j, number of links), got (0, 1).",
        ),
        (
            {"fabric": CABLE, "layout": "wires", "wires": ((0, 2, 1),)},
            "node 'n': wires has (0, 2, 1); it must join two different accelerators of 0..1 with at least one link.",
        ),
        (
            {"fabric": CABLE, "layout": "wires", "wires": ((0, 0, 1),)},
            "node 'n': wires has (0, 0, 1); it must join two different",
        ),
        (
            {"fabric": CABLE, "layout": "wires", "wires": ((0, 1, 0),)},
            "node 'n': wires has (0, 1, 0); it must join two different",
        ),
        (
            {"fabric": CABLE, "layout": "wires", "wires": ((0, 1, 1), (1, 0, 1))},
            "node 'n': wires names the pair (1, 0) twice. Add up the numbers of links.",
        ),
    ],
)
def test_a_node_that_cannot_be_is_refused(arguments: dict[str, object], text: str) -> None:
    with pytest.raises(ClusterError) as error:
        Node(**({"accelerators": (A, A), "name": "n"} | arguments))  # type: ignore[arg-type]
    assert str(error.value).startswith(text)


def test_wires_that_leave_a_pair_without_a_route_need_a_host() -> None:
    wires = ((0, 1, 1), (1, 2, 1))
    with pytest.raises(ClusterError) as error:
        Node((A,) * 3, fabric=CABLE, layout="wires", wires=wires, name="n")
    assert str(error.value) == (
        "node 'n': no route from accelerator 0 to accelerator 2. Accelerators do not forward: add the pair to wires, or "
        "give host=Link(...) as the way over the machine's bus."
    )
    assert Node((A,) * 3, fabric=CABLE, layout="wires", wires=wires, host=CABLE).host == CABLE


def test_one_accelerator_needs_no_cable() -> None:
    assert Node((A,)).fabric is None
