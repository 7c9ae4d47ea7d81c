"""What does the tape cost? One training step, measured against the same step written by hand in numpy, in the same run.

A 64-128-128-10 multilayer perceptron, batch 32, float32: forward, backward and SGD. Rounds of both are interleaved; the median
of the ratios is printed (goal: at most 1.3), and, exactly, how many primitives a step announces.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from simdist import nn, optim
from simdist.tensor import Tensor, observe, tensor

SIZES, BATCH, ROUNDS, STEPS = [64, 128, 128, 10], 32, 41, 200


class Counter:
    """A listener that counts."""

    def __init__(self) -> None:
        self.phases: dict[str, int] = {}

    def primitive(self, name: str, phase: str, *_: Any) -> None:
        """Count one."""
        self.phases[phase] = self.phases.get(phase, 0) + 1

    def allocate(self, nbytes: int, kind: str) -> Any:
        """No memory is counted."""
        return None


def with_tape(model: nn.Module, x: Tensor, y: np.ndarray) -> Callable[[], None]:
    """The step with simdist."""
    optimizer = optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def by_hand(weights: list[np.ndarray], x: np.ndarray, y: np.ndarray) -> Callable[[], None]:
    """The step in numpy."""
    w1, b1, w2, b2, w3, b3 = weights
    rows = np.arange(len(y))

    def step() -> None:
        h1 = np.maximum(x @ w1.T + b1, 0)
        h2 = np.maximum(h1 @ w2.T + b2, 0)
        z = h2 @ w3.T + b3
        z -= z.max(axis=1, keepdims=True)
        p = np.exp(z)
        total = p.sum(axis=1, keepdims=True)
        _ = (np.log(total[:, 0]) - z[rows, y]).mean()
        p /= total
        p[rows, y] -= 1
        p /= len(y)
        d2 = (p @ w3) * (h2 > 0)
        d1 = (d2 @ w2) * (h1 > 0)
        gradients = [d1.T @ x, d1.sum(axis=0), d2.T @ h1, d2.sum(axis=0), p.T @ h2, p.sum(axis=0)]
        for weight, gradient in zip(weights, gradients, strict=True):
            weight -= 0.01 * gradient

    return step


def seconds(step: Callable[[], None]) -> float:
    """Of one step, on average over ``STEPS``."""
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    return (time.perf_counter() - start) / STEPS


def main() -> None:
    """Measure and print."""
    numbers = np.random.default_rng(0)
    x = numbers.standard_normal((BATCH, SIZES[0])).astype(np.float32)
    y = numbers.integers(0, SIZES[-1], BATCH)
    model = nn.MLP(SIZES)
    tape, hand = with_tape(model, tensor(x), y), by_hand([p.data.copy() for p in model.parameters()], x, y)
    counter = Counter()
    token = observe.listener.set(counter)
    tape()
    observe.listener.reset(token)
    with threadpool_limits(limits=1):
        seconds(tape), seconds(hand)
        pairs = [(seconds(tape), seconds(hand)) for _ in range(ROUNDS)]
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"{'-'.join(map(str, SIZES))} MLP, batch {BATCH}: forward, backward, SGD")
    print(f"  by hand   {statistics.median(b for _, b in pairs) * 1e6:8.1f} us a step")
    print(f"  simdist   {statistics.median(a for a, _ in pairs) * 1e6:8.1f} us a step")
    print(f"  ratio     {ratio:8.2f}    (goal: at most 1.30)")
    print(f"  primitives announced in a step: {counter.phases}")


if __name__ == "__main__":
    main()
