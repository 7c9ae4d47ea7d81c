"""Who carries the bytes? One backend simulates, another one is real; nothing above asks which.

``world`` (what one rank sees of its backend) · ``context`` (which rank is running) · ``settings`` (what a backend
gets and gives) · ``program`` (the function, by value) · ``sim`` · ``process`` and ``process_world`` (local processes)
· ``mpi`` · ``custom`` (a transport of one's own) · ``registry`` (by name) · ``stoppable_endpoint`` (when another rank has
failed) · ``output`` (who printed that) · ``watchdog`` (endless loops).
"""

from .context import current
from .registry import BACKENDS, register_backend, unregister_backend
from .world import World

__all__ = ["BACKENDS", "World", "current", "register_backend", "unregister_backend"]
