"""When does it happen? The simulator: a clock, ranks, streams, a network, memory.

``kernel`` (the clock and who runs next) · ``waiting`` · ``message`` and ``network`` (when a message arrives) · ``flow`` and
``fairness`` (who gets how much of a link; ``link_classes``) · ``coflow`` (a collective as one flow) ·
``meeting`` (where the members of a collective meet) · ``replay`` (a whole collective at once) · ``stream``
(communication beside computation) · ``site`` (what all ranks share) · ``transport`` · ``rank`` (what one simulated
rank has) · ``billing`` (what a primitive costs) · ``memory`` · ``speed`` (stragglers, jitter) · ``deadlock`` (why
nothing can run) · ``job`` (one run).
"""

from .job import Job
from .kernel import Kernel
from .level import LEVELS
from .rank import SimRank

__all__ = ["LEVELS", "Job", "Kernel", "SimRank"]
