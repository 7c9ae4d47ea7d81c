"""Make a data-parallel step equal to the serial one.

The rows of a batch are shared out: rank 0 has the first ones, and the last rank has what is left,
which may be fewer. All ranks start from the same model. One step of training on all ranks together
must change it as one step on the whole batch in one process would. Write::

    data_parallel_step(model, optimizer, x, y, rank, world_size) -> None

``x`` (rows, features) float64 and ``y`` (rows,) integer classes are the rows of *this* rank. The
loss is the cross entropy, averaged over **all rows of the whole batch**. Take the gradient, bring
the ranks together (any function of ``simdist.distributed``), let ``optimizer.step()`` do the rest.
The function is called ten times.

After ten steps the parameters equal the serial ones within 1e-12, for 1, 2, 3 and 8 ranks, with an
uneven last share, and all ranks have the same bits. On 8 ranks a run takes at most a third of the
serial time, no rank holds more than half of the serial memory, and the ranks move about as many
bytes as an all-reduce of the gradients must: 2 (p-1) times their size in each step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from simdist import nn, optim
from simdist.launch import run
from simdist.learn.case import Case
from simdist.learn.classroom import classroom
from simdist.learn.exercise import Exercise
from simdist.learn.rule import Rule

__all__ = ["EXERCISE", "STARTER", "given", "gradient_bytes", "program", "serial", "spec"]

FEATURES, HIDDEN, CLASSES = 64, 64, 10
LEARNING_RATE, MOMENTUM = 0.2, 0.9

STARTER = '''\
import numpy as np
import simdist.distributed as dist
from simdist.nn import functional as F


def data_parallel_step(model, optimizer, x, y, rank, world_size):
    """One step of training on the rows of all ranks together."""
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    raise NotImplementedError  # your program: what do the ranks have to tell each other?
    optimizer.step()
'''

HINTS = (
    "Rank 0 has 4 rows, rank 7 has 1. If you average the two means, how much does each row count?",
    "The mean over all rows is (the sum over all rows) / (how many rows there are). Both are sums over ranks,"
    " and so is the gradient of the first: let each rank take the gradient of its *sum* divided by the "
    "*total* count, then add up the gradients.",
    "count = np.array([float(len(y))]); dist.all_reduce(count). loss = F.cross_entropy(model(x), y, "
    "reduction='sum') / count[0]. After backward: for p in model.parameters(): dist.all_reduce(p.grad). Then "
    "optimizer.step().",
)


def _model() -> tuple[nn.Module, optim.Optimizer]:
    model = nn.MLP([FEATURES, HIDDEN, CLASSES], dtype=np.float64)
    return model, optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)


def _batch(case: Case) -> tuple[Any, Any]:
    numbers = np.random.default_rng(case.seed)
    return numbers.standard_normal((case.size, FEATURES)), numbers.integers(0, CLASSES, case.size)


def given(case: Case, rank: int) -> tuple[Any, Any]:
    """The rows of a rank, (x, y): ceil(rows / p) of them, the last rank what is left."""
    x, y = _batch(case)
    share = -(-case.size // case.world_size)
    mine = slice(rank * share, (rank + 1) * share)
    return x[mine], y[mine]


def serial_step(model: nn.Module, optimizer: optim.Optimizer, x: Any, y: Any) -> None:
    """The slow, obvious step: all rows in one place."""
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()


def _flat(model: nn.Module) -> Any:
    return np.concatenate([parameter.data.reshape(-1) for parameter in model.parameters()])


def _serial_rank(rank: int, world_size: int, case: Case) -> Any:
    model, optimizer = _model()
    for _ in range(case.steps):
        serial_step(model, optimizer, *_batch(case))
    return _flat(model)


@cache
def serial(case: Case) -> tuple[Any, float, int]:
    """Serial training on one simulated accelerator.

    Returns:
        All parameters, flat; the seconds of the whole run; the most bytes held at one time.
    """
    done = run(_serial_rank, case, world_size=1, cluster=classroom(1), seed=case.seed)
    return done.results[0], done.time, done.memory[0].peak


def spec(case: Case) -> list[Any]:
    """All parameters after serial training, once for each rank."""
    return [serial(case)[0]] * case.world_size


def program(fn: Callable[..., Any], rows: tuple[Any, Any], case: Case, rank: int) -> Any:
    """Call the learner's function for every step; the result is all parameters, flat."""
    model, optimizer = _model()
    for _ in range(case.steps):
        fn(model, optimizer, *rows, rank, case.world_size)
    return _flat(model)


def gradient_bytes(case: Case) -> int:
    """Bytes of all gradients of one step."""
    count: int = FEATURES * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES
    return 8 * count


def _traffic(case: Case) -> float:
    """Bytes that all ranks together must move: every all-reduce moves 2 (p-1) times its buffer."""
    return 2.0 * (case.world_size - 1) * gradient_bytes(case) * case.steps


EXERCISE = Exercise(
    name="data_parallel_step",
    title="make a data-parallel step equal to the serial one",
    statement=__doc__ or "",
    starter=STARTER,
    hints=HINTS,
    cases=(
        Case(8, 2045, 31, measured=True, steps=10),
        Case(1, 29, 32, steps=10),
        Case(2, 29, 33, steps=10),
        Case(3, 29, 34, steps=10),
        Case(8, 29, 35, steps=10),
    ),
    given=given,
    spec=spec,
    program=program,
    rules=(
        Rule("numbers", lambda _: 1e-12, everywhere=True),
        Rule("agreement", lambda _: 0.0, everywhere=True),
        Rule("time", lambda case: serial(case)[1] / 3, lambda case: serial(case)[1] / case.world_size, formula="serial/3"),
        Rule("wire", lambda case: 1.1 * _traffic(case), _traffic, formula="2(p-1) gradients a step"),
        Rule("memory", lambda case: serial(case)[2] / 2, lambda case: 2.0 * gradient_bytes(case), formula="serial/2"),
    ),
)  # fmt: skip
