"""What do all ranks of a run share?

The clock, the network, the place where collectives meet, the machines, the rows of the trace, and how the run was
asked for. Ranks know the site; the site does not know the ranks.
"""

from __future__ import annotations

from typing import Any

from simdist.cluster import Cluster
from simdist.comm.choose import Chooser

from .commons import Turns
from .gathering import Gatherings
from .kernel import Kernel
from .level import LEVELS, MESSAGES
from .meeting import Meetings
from .network import Network

__all__ = ["Site"]


class Site:
    """What the ranks of one run have in common.

    Args:
        cluster: the machines.
        world_size: number of ranks.
        seed: names all random numbers of the run.
        device: ``"real"`` or ``"meta"``.
        checked: compare the ranks' calls with each other.
        traced: keep spans, messages and memory points.
        eager_limit: messages of at most this many bytes are sent without their receiver.
        timeout: explicit limit for any one wait, simulated seconds, or None.
        lazy: False for strict mode.
        shortcut: False to run every collective message by message.
        network: a name of ``sim.level.LEVELS``.
        chooser: which algorithms collectives use; None: the defaults.
    """

    def __init__(
        self,
        cluster: Cluster,
        world_size: int,
        *,
        seed: int = 0,
        device: str = "real",
        checked: bool = True,
        traced: bool = True,
        eager_limit: int = 0,
        timeout: float | None = None,
        lazy: bool = True,
        shortcut: bool = True,
        network: str = MESSAGES,
        chooser: Chooser | None = None,
    ) -> None:
        self.cluster, self.world_size = cluster, world_size
        self.chooser = chooser or Chooser(cluster)
        self.seed, self.device, self.checked, self.timeout = seed, device, checked, timeout
        self.spans: list[Any] | None = [] if traced else None
        self.flows: list[Any] | None = [] if traced else None
        self.memory: list[Any] | None = [] if traced else None
        self.kernel = Kernel(lazy=lazy)
        self.turns = Turns(self.kernel)
        self.things: dict[Any, Any] = {}
        self.network = Network(self.kernel, cluster, eager_limit, self.flows)
        level = LEVELS[network].make(self.kernel, self.network)
        self.meetings = (
            Meetings(self.kernel, self.network, self.spans, checked=checked, shortcut=shortcut)
            if level is None
            else Gatherings(self.kernel, self.network, self.spans, checked=checked, level=level)
        )
