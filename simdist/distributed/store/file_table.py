"""How do several processes keep keys in one file?

As a table of an SQLite database, which locks the file, on every system. Each visit opens it and is one transaction: nobody
sees half of a change, and a process that dies leaves nothing locked.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from simdist.errors import DistStoreError

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["FileTable", "visit"]

_PATIENCE = 60.0  # seconds that another process may keep the file
_TABLES = (
    "create table if not exists keys (key text primary key, value blob not null)",
    "create table if not exists users (present integer not null, gone integer not null)",
)


class FileTable(MutableMapping[str, bytes]):
    """The table as a mapping, during one visit.

    Attributes:
        connection: the open database.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def __getitem__(self, key: str) -> bytes:
        row = self.connection.execute("select value from keys where key = ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        return bytes(row[0])

    def __setitem__(self, key: str, value: bytes) -> None:
        self.connection.execute("insert or replace into keys values (?, ?)", (key, value))

    def __delitem__(self, key: str) -> None:
        if not self.connection.execute("delete from keys where key = ?", (key,)).rowcount:
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter([key for (key,) in self.connection.execute("select key from keys")])

    def __len__(self) -> int:
        return int(self.connection.execute("select count(*) from keys").fetchone()[0])

    def count(self, present: int, gone: int) -> tuple[int, int]:
        """Add to how many users there are and how many have left; both sums."""
        row = self.connection.execute("select present, gone from users").fetchone()
        sums = (row or (0, 0))[0] + present, (row or (0, 0))[1] + gone
        self.connection.execute("delete from users")
        self.connection.execute("insert into users values (?, ?)", sums)
        return sums


@contextmanager
def visit(path: str) -> Iterator[FileTable]:
    """The table in the file at ``path``, for one transaction; what changes it is kept if nothing is raised.

    Raises:
        DistStoreError: it cannot be opened, or is something else.
    """
    import sqlite3

    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as connection:
            connection.execute("pragma synchronous = off")  # it need not survive a power cut
            connection.execute("begin immediate")
            for table in _TABLES:
                connection.execute(table)
            yield FileTable(connection)
            connection.execute("commit")
    except sqlite3.Error as error:
        raise DistStoreError(
            f"FileStore cannot use {path!r}: {error}. Name a new file, in a folder that exists and that every process can "
            "write to."
        ) from error
