"""How fast is this rank really?

Two ways in which machines differ from their data sheet, both per rank and from one seed:

* a **straggler** takes a constant factor longer for everything it computes;
* **jitter**: each piece of work takes a random factor, log-normal with mean 1 and the given standard deviation of the
  logarithm (times of kernels are skewed to the right). Rank r draws from its own generator, named by (seed, r), so
  one rank's draws never depend on another's.
"""

from __future__ import annotations

import numpy as np

from simdist.errors import ClusterError

__all__ = ["Speed"]

_BLOCK = 256


class Speed:
    """Factors by which a rank's computing times are multiplied.

    Args:
        rank: whose.
        factor: the straggler's factor; 1.0 is the data sheet, 2.0 is half as fast.
        jitter: standard deviation of the logarithm of the random factor; 0 for none.
        seed: the run's seed.
    """

    def __init__(self, rank: int, factor: float, jitter: float, seed: int) -> None:
        if not factor > 0:
            raise ClusterError(f"stragglers[{rank}] must be a positive factor (2.0 = half as fast), got {factor!r}")
        if not jitter >= 0:
            raise ClusterError(f"jitter must be 0 or positive (0.05 = about 5 %), got {jitter!r}")
        self.factor, self.jitter = factor, jitter
        self._random = np.random.Generator(np.random.Philox(key=[seed % 2**64, rank])) if jitter else None
        self._block: list[float] = []

    def stretch(self, seconds: float) -> float:
        """How long work that should take ``seconds`` takes here, this time."""
        if self._random is None:
            return seconds * self.factor
        if not self._block:
            draws = self._random.standard_normal(_BLOCK)
            self._block = np.exp(self.jitter * draws - 0.5 * self.jitter**2).tolist()
        return seconds * self.factor * self._block.pop()
