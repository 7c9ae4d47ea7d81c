"""Where do ranks leave each other notes? Stores of keys and values.

``store`` (what can be asked) · ``values`` (what happens to a key) · ``board`` (who waits for it, in threads and in simulation) ·
``hash_store`` (within one process) · ``tcp_store`` with ``tcp_server``, ``tcp_client`` and ``tcp_line`` (over the network) ·
``file_store`` with ``file_table`` (over a disk) · ``prefix_store`` (a part of another store).
"""

from .file_store import FileStore
from .hash_store import HashStore
from .prefix_store import PrefixStore
from .store import Store
from .tcp_store import TCPStore

__all__ = ["FileStore", "HashStore", "PrefixStore", "Store", "TCPStore"]
