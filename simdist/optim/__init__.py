"""How do parameters move?

SGD, Adam and AdamW with torch's arguments, defaults and state dicts.
"""

from .adam import Adam, AdamW
from .optimizer import Optimizer, OptimizerError
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "OptimizerError"]
