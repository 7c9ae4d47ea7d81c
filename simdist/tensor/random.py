"""Where do random numbers come from when every one of them has an address?

``value = f(seed, name, index)``: the counter-based generator Philox4x64-10 (Salmon et al., "Parallel Random Numbers: As Easy as
1, 2, 3", SC'11; numpy's implementation) with the key made from seed and name, and the counter set to the index. So a shard of a
parameter is the slice of the whole, in any order of construction and on any number of ranks.

What is drawn "next" (the masks of dropout) has an address too: the number of the call is part of it. A ``Generator`` counts the
calls; every rank has one of its own, and ``manual_seed`` begins a new one, so seeding again repeats the masks, as in torch.

A normal number is made of two uniform ones of its own (Box and Muller 1958), so index i costs the numbers 2 i and 2 i + 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

__all__ = [
    "Generator", "bits", "current_generator", "current_seed", "manual_seed", "normal", "set_generator_source", "uniform",
]  # fmt: skip


class Generator:
    """A seed, and how often each drawer of masks has drawn since it was set.

    Args:
        seed: the first part of every address.
    """

    __slots__ = ("_calls", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = int(seed)
        self._calls: WeakKeyDictionary[object, int] = WeakKeyDictionary()

    def next_call(self, drawer: object) -> int:
        """The number of this call of ``drawer`` (a module, a function): 0, 1, 2 ..."""
        number = self._calls.get(drawer, 0)
        self._calls[drawer] = number + 1
        return number


_last = [Generator(0)]
_source: list[Callable[[], Generator | None]] = [lambda: None]


def set_generator_source(source: Callable[[], Generator | None]) -> None:
    """Ask ``source`` for the generator first; where it returns None that of the last ``manual_seed`` counts."""
    _source[0] = source


def manual_seed(seed: int) -> None:
    """Begin a new generator for this process (a rank of a run has its own: the launcher's source goes first)."""
    _last[0] = Generator(seed)


def current_generator() -> Generator:
    """Where new parameters get their seed, and dropout its seed and the number of its call."""
    return _source[0]() or _last[0]


def current_seed() -> int:
    """The seed that new parameters and dropout masks are drawn from."""
    return current_generator().seed


def bits(seed: int, name: str, start: int, count: int) -> npt.NDArray[np.uint64]:
    """The 64-bit numbers at addresses (seed, name, start .. start + count - 1)."""
    digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=16).digest()
    generator = np.random.Philox(key=np.frombuffer(digest, dtype="<u8").astype(np.uint64))
    generator.advance(start // 4)  # one step of the counter gives four numbers
    skip = start % 4
    return np.asarray(generator.random_raw(skip + count), dtype=np.uint64)[skip:]


def uniform(seed: int, name: str, start: int, count: int) -> npt.NDArray[np.float64]:
    """Numbers in [0, 1), float64, one for each index."""
    result: npt.NDArray[np.float64] = (bits(seed, name, start, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return result


def normal(seed: int, name: str, start: int, count: int) -> npt.NDArray[np.float64]:
    """Numbers of the standard normal distribution, float64, one for each index."""
    pairs = uniform(seed, name, 2 * start, 2 * count)
    radius = np.sqrt(-2.0 * np.log1p(-pairs[0::2]))  # 1 - u lies in (0, 1]: the logarithm is finite
    result: npt.NDArray[np.float64] = radius * np.cos(2.0 * np.pi * pairs[1::2])
    return result
