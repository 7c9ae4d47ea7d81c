"""Where do ranks meet, and what does such an address say about them?

torch's addresses: ``env://`` (the variables ``MASTER_ADDR``, ``MASTER_PORT``, ``RANK``, ``WORLD_SIZE``), ``tcp://host:port``,
``file:///path``; rank and world size are given beside the address or in it (``?rank=0&world_size=2``). ``sd.run`` has brought
its ranks together already, so there an address is read only to find what contradicts the run; ``rendezvous`` makes the
store for processes that somebody else has started.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from simdist.errors import GroupError

from .store import FileStore, Store, TCPStore
from .store.store import DEFAULT_TIMEOUT

__all__ = ["Address", "read_address", "register_rendezvous_handler", "rendezvous"]

_VARIABLES = {"rank": "RANK", "world_size": "WORLD_SIZE", "host": "MASTER_ADDR", "port": "MASTER_PORT"}
Handler = Callable[..., Iterator[tuple[Store, int, int]]]
_handlers: dict[str, Handler] = {}


@dataclass(frozen=True)
class Address:
    """What an address says.

    Attributes:
        scheme: ``"env"``, ``"tcp"``, ``"file"``, or one with a handler of its own.
        rank: the caller's rank, or -1: nobody said it.
        world_size: number of ranks, or -1.
        host: where to meet.
        port: on which port, or -1.
        path: in which file.
    """

    scheme: str
    rank: int = -1
    world_size: int = -1
    host: str = ""
    port: int = -1
    path: str = ""


def read_address(
    url: str, rank: int = -1, world_size: int = -1, environment: Mapping[str, str] | None = None
) -> Address:
    """Read an address. What is missing in it is -1 or empty.

    Args:
        url: the address.
        rank: what was given beside it, or -1.
        world_size: the same.
        environment: for ``env://``; None: this process's.

    Raises:
        TypeError: it is no text.
        GroupError: a scheme that nobody knows; something that is no number; rank or world size given twice.
    """
    if not isinstance(url, str):
        raise TypeError(f"an address is a text such as 'tcp://node0:29500', got {url!r}.")
    parts = urlsplit(url)
    known = ["env", "tcp", "file", *_handlers]
    if parts.scheme not in known:
        raise GroupError(
            f"{url!r}: there is no rendezvous of the kind {parts.scheme!r}. Known: {', '.join(f'{name}://' for name in known)}."
        )
    found = dict(parse_qsl(parts.query))
    for name, given in (("rank", rank), ("world_size", world_size)):
        if given != -1 and name in found:
            raise GroupError(f"{url!r} names {name}, and so does {name}={given}: give it once.")
        if given != -1:
            found[name] = str(given)
    if parts.scheme == "env":
        there = os.environ if environment is None else environment
        found = {name: there[variable] for name, variable in _VARIABLES.items() if variable in there} | found
    elif parts.scheme == "tcp":
        found |= {"host": parts.hostname or "", "port": str(_port(url))}
    return Address(
        parts.scheme,
        _number(url, "rank", found.get("rank", "-1")),
        _number(url, "world_size", found.get("world_size", "-1")),
        found.get("host", ""),
        _number(url, "port", found.get("port", "-1")),
        unquote(parts.netloc + parts.path) if parts.scheme == "file" else "",
    )


def _port(url: str) -> int:
    try:
        port = urlsplit(url).port
    except ValueError:
        port = None
    return -1 if port is None else port


def _number(url: str, name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise GroupError(f"{url!r}: {name} must be a whole number, got {text!r}.") from None


def complete(address: Address, url: str) -> None:
    """Refuse an address that lacks something.

    Raises:
        GroupError: names what is missing, and for ``env://`` the variable.
    """
    needed = {"env": ("rank", "world_size", "host", "port"), "tcp": ("host", "port", "rank", "world_size")}
    for name in needed.get(address.scheme, ("path", "rank", "world_size")):
        if getattr(address, name) in (-1, ""):
            what = f"the environment variable {_VARIABLES[name]}" if address.scheme == "env" else name
            raise GroupError(
                f"{url!r}: {what} is missing. Give rank= and world_size= (beside the address or in it: ?rank=0&world_size=2), "
                "and a host and a port, or a file."
            )


def rendezvous(
    url: str, rank: int = -1, world_size: int = -1, timeout: float | timedelta = DEFAULT_TIMEOUT, **options: Any
) -> Iterator[tuple[Store, int, int]]:
    """Meet at an address.

    Args:
        url: the address.
        rank: if it is not in the address.
        world_size: if it is not in the address.
        timeout: that of the store.
        options: for the handler of a scheme that somebody registered.

    Yields:
        (a store that all ranks share, the own rank, the number of ranks), once.

    Raises:
        GroupError: the address is not complete, or of no known kind.
        DistNetworkError, DistStoreError: the store cannot be made.
    """
    address = read_address(url, rank, world_size)
    if address.scheme in _handlers:
        yield from _handlers[address.scheme](url, rank=rank, world_size=world_size, timeout=timeout, **options)
        return
    complete(address, url)
    if address.scheme == "file":
        store: Store = FileStore(address.path, address.world_size, timeout)
    else:
        store = TCPStore(address.host, address.port, address.world_size, address.rank == 0, timeout)
    yield store, address.rank, address.world_size


def register_rendezvous_handler(scheme: str, handler: Handler) -> None:
    """From now on ``rendezvous("scheme://...")`` asks ``handler``.

    Args:
        scheme: the part before ``://``.
        handler: (url, rank=, world_size=, timeout=) -> an iterator of (store, rank, world size).

    Raises:
        GroupError: the scheme has a handler.
    """
    if scheme in ("env", "tcp", "file") or scheme in _handlers:
        raise GroupError(f"the rendezvous {scheme}:// exists already; give another scheme.")
    _handlers[scheme] = handler
