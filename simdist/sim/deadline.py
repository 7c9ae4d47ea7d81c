"""How does a wait end that takes too long?

An event at the time of the limit throws an error into the task, if it still waits. The limit is in simulated seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .kernel import Kernel, Task

__all__ = ["limit"]


@contextmanager
def limit(kernel: Kernel, task: Task, seconds: float | None, error: Callable[[], Exception]) -> Iterator[None]:
    """While the block waits, it may take ``seconds`` (None: any time); then ``error()`` is raised in it.

    Args:
        kernel: the clock.
        task: the running task, which waits in the block.
        seconds: how long it may wait.
        error: makes the error.
    """
    if seconds is None:
        yield
        return
    end, armed = task.now + seconds, True

    def expire() -> None:
        if armed and task.waiting is not None:
            task.now = max(task.now, end)
            kernel.throw(task, error())

    kernel.at(end, expire)
    try:
        yield
    finally:
        armed = False
