"""What can be asked of a run on real processes, and what comes back?

Both are plain frozen descriptions. `ProcessOptions` is pickled into every worker, so everything in it must be picklable; the
fields that this package does not read itself (seed, checked, device, cluster, extra) are carried for the entry function.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["WIRES", "ProcessOptions", "ProcessOutcome"]

WIRES: dict[str, str] = {
    "auto": "unix where the system has it, else tcp",
    "unix": "connected pairs of Unix sockets, handed to the workers: no name in the file system, nothing to clean up",
    "tcp": "TCP on the loopback address, each connection opened with a secret token",
}
"""How the ranks are connected, and what each choice means."""


@dataclass(frozen=True)
class ProcessOptions:
    """How to run.

    Attributes:
        timeout: seconds that one wait may last; None waits for ever.
        seed: seed of the run.
        checked: whether collectives are compared between ranks.
        device: ``"real"`` or ``"meta"``.
        cluster: the machine description that fixes the choice of algorithm (any picklable value).
        eager_limit: messages of at most so many bytes complete at the sender before they are matched.
        start_timeout: seconds until every worker must be ready.
        wire: a key of `WIRES`.
        extra: anything else the entry function understands.
    """

    timeout: float | None = 300.0
    seed: int = 0
    checked: bool = True
    device: str = "real"
    cluster: Any = None
    eager_limit: int = 0
    start_timeout: float = 60.0
    wire: str = "auto"
    extra: dict[str, Any] = field(default_factory=dict)


class ProcessOutcome(NamedTuple):
    """What a run gave: the result, the seconds and the payload (a trace, say) of each rank, in rank order."""

    results: list[Any]
    rank_times: list[float]
    payloads: list[Any]
