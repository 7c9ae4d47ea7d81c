"""Where do ranks leave each other notes? Stores of keys and values.

``store`` (the rules) · ``hash_store`` (within one process) · ``prefix_store`` (a part of another store).
"""

from .hash_store import HashStore
from .prefix_store import PrefixStore
from .store import Store

__all__ = ["HashStore", "PrefixStore", "Store"]
