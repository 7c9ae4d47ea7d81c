"""How does it look? Pictures of runs, machines and algorithms.

Of runs: ``timeline``, ``memory``, ``breakdown``, ``speedup``. Of machines: ``topology``, with a run's use of their links. Of
algorithms: ``collective_steps`` (what is where, round by round) and ``algorithms`` (which is the fastest at which size).

Nothing outside this package imports matplotlib, and here it is loaded with the first picture. Every function draws on the axes it
is given or makes a figure of its own, returns the axes, shows nothing and changes no settings of matplotlib. Who asked for a
figure closes it.
"""

from .algorithms import algorithms
from .breakdown import breakdown
from .collective_steps import collective_steps
from .memory import memory
from .speedup import speedup
from .timeline import timeline
from .topology import topology

__all__ = ["algorithms", "breakdown", "collective_steps", "memory", "speedup", "timeline", "topology"]
