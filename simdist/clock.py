"""What time is it, and how does one charge work by hand?

The clock is that of the backend in use: simulated seconds in simulation, seconds since the common start on real
processes.
"""

from __future__ import annotations

import math

from .backends import context
from .tensor import random

__all__ = ["compute", "current_time", "manual_seed", "sleep"]


def current_time() -> float:
    """Seconds since the start of the run, on this rank's clock.

    Raises:
        DistError: outside a run.
    """
    return context.require("sd.current_time").now()


def sleep(seconds: float) -> None:
    """Let time pass on this rank without using its accelerator.

    Args:
        seconds: how long; a tiny negative number (the rounding of a difference) counts as 0.

    Raises:
        ValueError: negative or not a number.
        DistError: outside a run.
    """
    context.require("sd.sleep").sleep(_duration("sleep", seconds))


def compute(
    flops: float = 0.0,
    bytes: float = 0.0,
    seconds: float | None = None,
    name: str = "compute",
    dtype: str = "float32",
) -> None:
    """Charge work to this rank's accelerator by hand, for programs whose arithmetic is not done with Tensors.

    Args:
        flops: floating point operations.
        bytes: bytes moved between the accelerator and its memory.
        seconds: how long it takes; replaces what the roofline says of flops and bytes, which are not looked at then.
        name: how it is called in the trace.
        dtype: which peak rate counts.

    On a real backend it does nothing: there, work takes the time it takes.

    Raises:
        ValueError: a negative amount.
        DistError: outside a run.
    """
    world = context.current() or context.require("sd.compute")
    if seconds is not None:
        world.charge("compute", name, seconds if 0.0 <= seconds < math.inf else _duration("compute", seconds))
    elif flops >= 0 and bytes >= 0:
        world.compute(flops, bytes, name, dtype)
    else:
        what, amount = ("bytes", bytes) if flops >= 0 else ("flops", flops)
        raise ValueError(f"sd.compute({what}={amount!r}): the amount must be 0 or positive.")


def _duration(what: str, seconds: float) -> float:
    """``seconds``, with the rounding error of a difference of equal times counted as 0."""
    if -1e-12 < seconds < 0:
        return 0.0
    if not seconds >= 0 or math.isinf(seconds):
        raise ValueError(f"sd.{what}(seconds={seconds!r}): time cannot go backwards; give 0 or a positive number.")
    return float(seconds)


def manual_seed(seed: int) -> None:
    """Start all random numbers that follow from ``seed``: inside a run those of this rank, outside those of the process.

    Parameters built afterwards and the masks of dropout follow from it; seeding again with the same number repeats the masks.
    """
    world = context.current()
    if world is not None:
        world.state["generator"] = random.Generator(seed)
    else:
        random.manual_seed(int(seed))
