"""How does a function become a run?

``run`` calls ``fn(rank, world_size, *args)`` on every rank of a backend, with the default process group ready, and
returns a ``Run``. ``rank_entry`` is what happens inside each rank, the same on all backends: set the rank's context,
make the default process group, call the function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .backends import context
from .backends.program import Program
from .backends.registry import find
from .backends.settings import Outcome, Settings, level_for, whole
from .backends.world import World
from .cluster import Cluster, resolve
from .comm.algorithm import Algorithm
from .comm.choose import named
from .cost.collective_use import rated
from .distributed import lifetime
from .errors import DistError, UnknownNameError
from .progress import progress
from .result import Run
from .tensor import device as tensor_device
from .tensor import observe, random
from .trace import Trace

if TYPE_CHECKING:
    from .scaling import Scaling

__all__ = ["DEVICES", "rank_entry", "run", "speedup"]

DEVICES: dict[str, str] = {"real": "arrays with numbers", "meta": "shapes only: time and memory without arithmetic"}


def rank_entry(world: World, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Be a rank: set the context, make the default process group, call the function."""
    context.world.set(world)
    observe.listener.set(world.listener)
    lifetime.setup(world, implicit=True)
    return fn(world.rank, world.world_size, *args, **kwargs)


def _generator() -> random.Generator | None:
    world = context.current()
    if world is None:
        return None
    found: random.Generator | None = world.state.get("generator")
    if found is None:
        found = world.state["generator"] = random.Generator(world.seed)
    return found


def _device() -> str:
    world = context.current()
    return "real" if world is None else world.device


random.set_generator_source(_generator)
tensor_device.set_device_source(_device)


def run(
    fn: Callable[..., Any],
    *args: Any,
    world_size: int,
    cluster: str | Path | Cluster | None = None,
    backend: str = "sim",
    seed: int = 0,
    device: str = "real",
    network: str | None = None,
    eager_limit: int = 0,
    checked: bool = True,
    traced: bool = True,
    timeout: float | None = None,
    stragglers: Mapping[int, float] | None = None,
    jitter: float = 0.0,
    strict: bool = False,
    watchdog: float = 600.0,
    native_collectives: bool = False,
    algorithms: str | Mapping[str, str | Algorithm] | None = None,
    kwargs: Mapping[str, Any] | None = None,
) -> Run:
    """Call ``fn(rank, world_size, *args, **kwargs)`` on every rank and return what happened.

    Args:
        fn: the SPMD function; every rank gets its own copy of it and of the arguments.
        args: further arguments for it.
        world_size: number of ranks.
        cluster: the simulated machines: a name (``sd.clusters``), a ``Cluster``, a TOML file; None: ``"localhost"``.
            A named preset grows to as many nodes as the ranks need. Real backends take it too, and ignore its speed.
        backend: ``"sim"`` (simulated), ``"process"`` (local processes), ``"mpi"`` (the processes that ``mpiexec`` started: each
            of them calls ``run``, and gets the whole ``Run``), or a name that was given to ``sd.register_backend``.
        seed: of all random numbers.
        device: ``"real"``, or ``"meta"`` for shapes only.
        network: level of the network simulation (``docs/network.md``). None: ``"messages"`` for up to 64 ranks, else
            ``"coflow"``. The run's report names it, and warns if what happened was outside its range.
        eager_limit: messages of at most this many bytes are sent before their receiver is ready.
        checked: compare the ranks' calls with each other and explain differences.
        traced: keep a trace (without: faster, and no timeline, breakdown or other answer to what happened when).
        timeout: limit of any one wait, in seconds of the backend's clock. None: simulation needs none (a deadlock is
            seen at once), real processes have their default.
        stragglers: rank -> factor on all its computing times (2.0: half as fast). Simulation only.
        jitter: standard deviation of the logarithm of a random factor on each computing time. Simulation only.
        strict: simulate with one event per operation (slow; the oracle of the fast mode).
        watchdog: seconds of host time after which a simulated rank that never waits is stopped.
        native_collectives: use MPI's own collectives instead of simdist's algorithms (``backend="mpi"`` only); sums of
            floating-point numbers may then differ in the last bits.
        algorithms: collective -> name of the algorithm that performs it, where it is not to be the usual one:
            ``{"all_reduce": "recursive_doubling_all_reduce"}`` (``sd.collectives.algorithms()`` lists them), or
            ``"auto"`` for the fastest by estimate on this cluster. ``"auto"`` alone stands for all collectives.
        kwargs: keyword arguments for ``fn``.

    Raises:
        UnknownNameError: a backend, cluster, device, network level or algorithm that does not exist.
        ClusterError: more ranks than the cluster has devices, or a bad description.
        DeadlockError, DistTimeoutError, CollectiveMismatchError, RankFailedError: what went wrong between ranks.
        Exception: what a rank's function raised, with the rank and the time as a note.
    """
    launch = find(backend).load()
    if device not in DEVICES:
        raise UnknownNameError("device", device, DEVICES)
    world_size = whole("world_size", world_size, 1)
    settings = Settings(
        world_size=world_size,
        cluster=resolve("localhost" if cluster is None else cluster, world_size),
        seed=seed,
        device=device,
        checked=checked,
        traced=traced,
        network=level_for(world_size) if network is None else network,
        eager_limit=eager_limit,
        timeout=timeout,
        stragglers=dict(stragglers or {}),
        jitter=jitter,
        strict=strict,
        watchdog=watchdog,
        native_collectives=native_collectives,
        algorithms=named(algorithms or {}),
    )
    if native_collectives and backend != "mpi":
        raise ValueError(f"native_collectives=True hands collectives to an MPI library; backend={backend!r} has none.")
    if context.current() is not None:
        raise DistError(
            "sd.run was called inside a run. A rank cannot start a run of its own; return what the outer program needs and "
            "start the second run there."
        )
    program = Program(fn, args, kwargs)
    return _run(program, settings, backend, launch(program, rank_entry, settings))


def _run(program: Program, settings: Settings, backend: str, outcome: Outcome) -> Run:
    meta: dict[str, str | int | float] = {
        "name": program.name, "backend": backend, "cluster": settings.cluster.name, "network": settings.network,
        "seed": settings.seed, "device": settings.device,
    }  # fmt: skip
    trace = Trace(
        rated(outcome.spans),
        outcome.flows,
        outcome.memory,
        world_size=settings.world_size,
        end=outcome.time,
        meta=meta,
        is_kept=settings.traced,
    )
    notes = list(outcome.notes)
    if settings.device == "meta":
        notes.append("shapes only (device='meta'): results hold no numbers, .item() and float() give nan")
    return Run(
        program.name,
        outcome.results,
        outcome.time,
        outcome.rank_times,
        settings.world_size,
        backend,
        settings.cluster.name,
        settings.network,
        settings.seed,
        trace,
        outcome.memory_use,
        notes,
        settings.cluster,
    )


def speedup(
    fn: Callable[..., Any],
    *args: Any,
    world_sizes: Sequence[int] = (1, 2, 4, 8),
    mode: str = "strong",
    scaled: str | None = None,
    kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Scaling:
    """Run ``fn`` at several world sizes and put the times together.

    Args:
        fn: as for ``run``.
        args: further arguments for it.
        world_sizes: the numbers of ranks, in rising order; the first is the base of the speed-up.
        mode: ``"strong"`` (the whole work stays the same: ``fn`` shares it out) or ``"weak"`` (each rank's work stays
        the same).
        scaled: for weak scaling: the keyword argument of ``fn`` (in ``kwargs``) that is multiplied by the number of
            ranks, for example ``"batch_size"``; None if ``fn`` does a fixed amount of work per rank by itself.
        kwargs: keyword arguments for ``fn``.
        options: everything else goes to ``run`` (cluster, backend, device, seed ...).

    Raises:
        ValueError: an unknown mode, world sizes that do not rise, ``scaled`` not in ``kwargs``.
        Everything that ``run`` raises.
    """
    sizes = [whole("world_sizes", size, 1) for size in world_sizes]
    if not sizes or any(a >= b for a, b in pairwise(sizes)):
        raise ValueError(f"world_sizes must rise, got {list(world_sizes)}.")
    if mode not in ("strong", "weak"):
        raise UnknownNameError("scaling mode", mode, ("strong", "weak"))
    given = dict(kwargs or {})
    if scaled is not None and (mode != "weak" or scaled not in given):
        raise ValueError(f"scaled={scaled!r} needs mode='weak' and a start value in kwargs={{{scaled!r}: ...}}.")
    from .scaling import Scaling

    options.setdefault("traced", False)
    options.setdefault("network", level_for(sizes[-1]))  # one level for the whole curve
    times, names = [], []
    for size in progress(sizes, "speed-up"):
        now = given | ({scaled: given[scaled] * size // sizes[0]} if scaled is not None else {})
        done = run(fn, *args, world_size=size, kwargs=now, **options)
        times.append(done.time)
        names.append(done.cluster)
    return Scaling(tuple(sizes), tuple(times), mode, getattr(fn, "__name__", "run"), names[-1])
