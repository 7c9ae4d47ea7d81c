"""How do ranks talk? Collective algorithms as steps over send and receive, each written once.

``step`` (what a rank does in one round) · ``ring``, ``binomial``, ``star``, ``pairwise``, ``double_tree`` and others (algorithms:
pure functions that give steps) · ``algorithm`` (the table of them) · ``chunks`` · ``call`` (one rank's part in one
collective, as data) · ``execute`` (runs steps over a transport) · ``transport`` (the seam to the world) ·
``definitions`` (what a collective means).
"""

from .algorithm import ALGORITHMS, DEFAULT, Algorithm, plan
from .call import Call, Members, Request
from .execute import execute
from .reduce_op import ARITHMETIC, PremulSum, ReduceOp
from .step import Step, Transfer
from .transport import Tag, Transport, Work

__all__ = [
    "ALGORITHMS", "ARITHMETIC", "DEFAULT", "Algorithm", "Call", "Members", "PremulSum", "ReduceOp", "Request", "Step",
    "Tag", "Transfer", "Transport", "Work", "execute", "plan",
]  # fmt: skip
