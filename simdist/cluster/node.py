"""What is in one machine?

Accelerators, the cables between them, and network cards. Three layouts of the cables inside:

* ``"switch"``: each accelerator has one ``fabric`` link to a switch that itself never is the bottleneck (NVSwitch);
* ``"mesh"``: every pair has its own ``fabric`` link;
* ``"wires"``: the pairs of ``wires`` have that many ``fabric`` links, side by side (hybrid cube mesh of a DGX-1).

``host`` is the way over the machine's own bus (PCIe): a link from each accelerator to the vertex ``host``, for pairs that
have no fabric link. Accelerators never forward other accelerators' messages.

A network card belongs to a contiguous share of the accelerators. With as many cards as accelerators each accelerator *has*
its card, and no traffic of others passes it; with fewer, they share.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from simdist.cluster import field
from simdist.cluster.accelerator import Accelerator
from simdist.cluster.link import Link
from simdist.errors import ClusterError

__all__ = ["LAYOUTS", "Node"]

LAYOUTS = ("switch", "mesh", "wires")


@dataclass(frozen=True)
class Node:
    """One machine.

    Args:
        accelerators: at least one.
        fabric: the cable between accelerators; None if there is none.
        layout: ``"switch"``, ``"mesh"`` or ``"wires"``.
        wires: (i, j, number of fabric links) for each wired pair of accelerators; for layout ``"wires"`` only.
        host: the cable from each accelerator to the machine's bus, or None.
        num_nics: network cards, at most one for each accelerator.
        nic: one card's cable into the network, or None.
        name: for people.

    Raises:
        ClusterError: no accelerators, accelerators that cannot reach each other, more cards than accelerators.
    """

    accelerators: tuple[Accelerator, ...]
    fabric: Link | None = None
    layout: str = "switch"
    wires: tuple[tuple[int, int, int], ...] = ()
    host: Link | None = None
    num_nics: int = 0
    nic: Link | None = None
    name: str = "node"

    def __post_init__(self) -> None:
        object.__setattr__(self, "accelerators", tuple(self.accelerators))
        object.__setattr__(self, "wires", tuple(sorted(tuple(wire) for wire in self.wires)))
        self._check_types()
        field.choice(self._thing, "layout", self.layout, LAYOUTS)
        self._check_wires()
        self._check_nics()
        self._check_inside()

    @property
    def _thing(self) -> str:
        return f"node {self.name!r}"

    def _check_types(self) -> None:
        if not self.accelerators:
            raise ClusterError(f"{self._thing}: accelerators is empty. A node has at least one accelerator.")
        for device in self.accelerators:
            if not isinstance(device, Accelerator):
                raise ClusterError(f"{self._thing}: accelerators must hold Accelerator objects, got {device!r}.")
        for key in ("fabric", "host", "nic"):
            value = getattr(self, key)
            if value is not None and not isinstance(value, Link):
                raise ClusterError(f"{self._thing}: {key} must be a Link or None, got {value!r}.")

    def _check_wires(self) -> None:
        if self.wires and self.layout != "wires":
            raise ClusterError(f"{self._thing}: wires are given but layout is {self.layout!r}. Set layout='wires'.")
        seen: dict[tuple[int, int], int] = {}
        for wire in self.wires:
            if len(wire) != 3:
                raise ClusterError(f"{self._thing}: wires must hold (i, j, number of links), got {wire!r}.")
            i, j, number = (field.count(self._thing, "wires", part) for part in wire)
            if i == j or max(i, j) >= len(self.accelerators) or number < 1:
                raise ClusterError(
                    f"{self._thing}: wires has {wire!r}; it must join two different accelerators of "
                    f"0..{len(self.accelerators) - 1} with at least one link."
                )
            if (min(i, j), max(i, j)) in seen:
                raise ClusterError(f"{self._thing}: wires names the pair {(i, j)} twice. Add up the numbers of links.")
            seen[min(i, j), max(i, j)] = number

    def _check_nics(self) -> None:
        num_nics = field.count(self._thing, "num_nics", self.num_nics)
        if num_nics > len(self.accelerators):
            raise ClusterError(
                f"{self._thing}: num_nics is {num_nics} for {len(self.accelerators)} accelerators. Give one card for each "
                f"accelerator at most, with the bandwidth of the cards that it has together."
            )
        if (num_nics > 0) != (self.nic is not None):
            raise ClusterError(
                f"{self._thing}: num_nics is {num_nics} and nic is {self.nic!r}. Give both, or neither (num_nics=0, nic=None)."
            )

    def _check_inside(self) -> None:
        if len(self.accelerators) == 1 or self.host is not None:
            return
        if self.fabric is None:
            raise ClusterError(
                f"{self._thing}: {len(self.accelerators)} accelerators and no cable between them. "
                f"Give fabric=Link(...) or host=Link(...)."
            )
        if self.layout == "wires":
            wired = {(min(i, j), max(i, j)) for i, j, _ in self.wires}
            for pair in combinations(range(len(self.accelerators)), 2):
                if pair not in wired:
                    raise ClusterError(
                        f"{self._thing}: no route from accelerator {pair[0]} to accelerator {pair[1]}. Accelerators do not "
                        f"forward: add the pair to wires, or give host=Link(...) as the way over the machine's bus."
                    )

    @property
    def owns_nics(self) -> bool:
        """Whether each accelerator has a network card to itself."""
        return self.num_nics == len(self.accelerators)

    def nic_of(self, index: int) -> int:
        """Which card accelerator ``index`` of this node uses."""
        return index * self.num_nics // len(self.accelerators)
