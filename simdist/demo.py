"""What is simdist about? One function, trained on simulated accelerators and on real processes, compared and drawn.

``train`` is an ordinary SPMD program: nothing in it knows who runs it. ``show`` runs it

1. on 8 simulated accelerators (one DGX A100), until it reads handwritten digits well;
2. on 4 simulated accelerators and on 4 real processes of this machine, whose weights must agree bit for bit;
3. for a few steps with the timeline drawn and the trace saved;
4. and, with a network wide enough to be worth it, on 1 to 64 simulated accelerators: the speed-up curve.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import simdist as sd
from simdist import nn, optim
from simdist.cli.picture import save
from simdist.nn.parallel import DistributedDataParallel as DDP
from simdist.units import format_time

__all__ = ["CLUSTER", "WORLD_SIZES", "Demo", "identical_weights", "show", "train", "wide_step"]

CLUSTER = "dgx-a100"
WORLD_SIZES = (1, 2, 4, 8, 16, 32, 64)


def train(rank: int, world_size: int, steps: int = 240) -> dict[str, Any]:
    """Train a small network on the handwritten digits; every rank gets its share of each batch of 128."""
    model = DDP(nn.MLP([64, 128, 10]))
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for x, y in sd.data.digits(batch_size=128, rank=rank, world_size=world_size, steps=steps):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {"loss": loss.item(), "accuracy": accuracy(model), "weights": model.state_dict()}


def accuracy(model: Any) -> float:
    """The share of the 360 held-out digits that the model reads rightly."""
    _, _, x, y = sd.data.digits_split()
    with sd.no_grad():
        scores = model(sd.tensor(x)).numpy()
    return float((scores.argmax(axis=1) == y).mean())


def wide_step(rank: int, world_size: int, rows: int = 65536, steps: int = 3) -> None:
    """A few steps of a network wide enough to keep an accelerator busy; run it with ``device="meta"``: shapes and times only."""
    model = DDP(nn.MLP([64, 4096, 4096, 10]))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    share = rows // world_size
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(sd.zeros(share, 64)), sd.zeros(share, dtype="int64"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Demo(NamedTuple):
    """What the demo found out."""

    accuracy: float
    """On the held-out digits, after training on 8 simulated accelerators."""
    identical: bool
    """Every weight of every rank agrees bit for bit between 4 simulated and 4 real ranks."""
    num_weights: int
    simulated_time: float
    """Seconds that the training would take on the simulated node."""
    real_time: float
    """Seconds that 4 real processes took."""
    speedup: list[float]
    """For ``WORLD_SIZES``."""
    files: list[str]


def identical_weights(a: Any, b: Any) -> bool:
    """Whether two runs of ``train`` ended with the same bits in every weight on every rank."""
    return a.world_size == b.world_size and all(
        mine["weights"].keys() == theirs["weights"].keys()
        and all(_bits(mine["weights"][name]) == _bits(theirs["weights"][name]) for name in mine["weights"])
        for mine, theirs in zip(a.results, b.results, strict=True)
    )


def _bits(weight: Any) -> tuple[tuple[int, ...], str, bytes]:
    array = weight.numpy()
    return array.shape, str(array.dtype), array.tobytes()


def show(out: Path, say: Callable[[str], Any] = print) -> Demo:
    """Run the demo.

    Args:
        out: directory for ``timeline.png``, ``speedup.png`` and ``trace.json``; made if it is not there.
        say: takes each line of the story.

    Returns:
        What was found out.
    """
    out.mkdir(parents=True, exist_ok=True)
    say("This function runs on every rank. Nothing in it knows whether the ranks are simulated or real:\n")
    say(inspect.getsource(train))
    simulated = sd.run(train, world_size=8, cluster=CLUSTER)
    score = simulated.results[0]["accuracy"]
    say(f"1. Trained on 8 simulated accelerators ({CLUSTER}): {score:.1%} of 360 unseen digits are read rightly.")
    say(f"   The node would need {format_time(simulated.time)} for it.\n")

    small = sd.run(train, world_size=4, cluster=CLUSTER)
    real = sd.run(train, world_size=4, cluster=CLUSTER, backend="process")
    identical = identical_weights(small, real)
    count = sum(weight.numpy().size for weight in real.results[0]["weights"].values())
    verdict = "agree bit for bit" if identical else "DIFFER"
    say("2. The same function on 4 simulated accelerators and on 4 real processes of this machine:")
    say(f"   all {count:,} weights of all 4 ranks {verdict}.")
    say(f"   {format_time(small.time)} simulated, {format_time(real.time)} measured.\n")

    scaling, files = _draw(out)
    say("3. Drawn and saved:")
    say(f"   {files[0]}: who did what when, for three steps\n   {files[1]}: the same, to open at ui.perfetto.dev")
    say(f"   {files[2]}: the speed-up of a wide network on 1 to 64 accelerators\n")
    say(str(scaling))
    say(
        "   Why it bends: up to 8 the gradients stay inside one node; beyond, they cross the slower network between nodes."
    )
    return Demo(score, identical, count, simulated.time, real.time, [float(s) for s in scaling.speedup], files)


def _draw(out: Path) -> tuple[Any, list[str]]:
    files = [out / "timeline.png", out / "trace.json", out / "speedup.png"]
    few = sd.run(train, 3, world_size=8, cluster=CLUSTER)
    save(few.timeline(), files[0])
    few.save_trace(files[1])
    scaling = sd.speedup(wide_step, cluster=CLUSTER, world_sizes=list(WORLD_SIZES), device="meta")
    save(scaling.plot(), files[2])
    return scaling, [str(file) for file in files]
