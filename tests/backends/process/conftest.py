"""Worlds of endpoints inside the test's own process: a thread for each rank, the real sockets, no start-up."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from simdist.backends.process.endpoint import Endpoint
from simdist.backends.process.wires import Sockets


class World:
    """Connected endpoints, and a thread for each when a program runs on them."""

    def __init__(self, size: int, **options: Any) -> None:
        links: list[dict[int, socket.socket]] = [{} for _ in range(size)]
        for low in range(size):
            for high in range(low + 1, size):
                links[low][high], links[high][low] = socket.socketpair()
        options.setdefault("timeout", 20.0)
        self.ends = [Endpoint(rank, size, Sockets(links[rank]), **options) for rank in range(size)]

    def run(self, program: Callable[[Endpoint], Any]) -> list[Any]:
        """Run ``program(endpoint)`` on every rank; an exception is returned in place of the result."""
        results: list[Any] = [None] * len(self.ends)

        def body(rank: int) -> None:
            try:
                results[rank] = program(self.ends[rank])
            except BaseException as error:
                results[rank] = error
            self.ends[rank].leave()

        threads = [threading.Thread(target=body, args=(rank,)) for rank in range(len(self.ends))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
        return results

    def close(self) -> None:
        for end in self.ends:
            end.close()


@pytest.fixture
def world() -> Iterator[Callable[..., World]]:
    """Makes worlds and closes them."""
    made: list[World] = []

    def make(size: int, **options: Any) -> World:
        made.append(World(size, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
