"""What did a run give?

A ``Run`` is a value: what the ranks returned, how long it took, the trace, the memory; and ways to look at it. It can
be saved and loaded again. Everything that is drawn is drawn by ``simdist.plot``, which is imported when it is first
asked for.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .backends.settings import MemoryUse
from .cluster import Cluster
from .cost.collective_use import CollectiveUse, collective_use, table_text
from .cost.link_use import LinkUse, link_use
from .trace import Trace, breakdown, steps
from .units import format_bytes, format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .trace.at import Moment
    from .trace.critical_path import CriticalPath

__all__ = ["Run", "load_run"]

_FORMAT = 1


@dataclass(frozen=True)
class Run:
    """What happened in one run of one function.

    Attributes:
        name: the function's name.
        results: what each rank returned, by rank.
        time: seconds of the whole run (simulated, or measured on a real backend).
        rank_times: when each rank returned, seconds.
        world_size: number of ranks.
        backend: ``"sim"``, ``"process"``, ...
        cluster: the cluster's name.
        network: the level of the network's simulation.
        seed: the run's seed.
        trace: spans, messages, memory points.
        memory: the use of each rank's accelerator memory (empty on a real backend).
        notes: what a person should know about this run.
        machines: the cluster itself, or None if it is not known.
    """

    name: str
    results: list[Any]
    time: float
    rank_times: list[float]
    world_size: int
    backend: str
    cluster: str
    network: str
    seed: int
    trace: Trace
    memory: list[MemoryUse] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    machines: Cluster | None = None

    def __repr__(self) -> str:
        return (
            f"Run({self.name!r}, world_size={self.world_size}, backend={self.backend!r}, cluster={self.cluster!r}, "
            f"time={format_time(self.time)!r})"
        )

    # -- words ------------------------------------------------------------------------------------------------------

    @cached_property
    def breakdown(self) -> breakdown.Breakdown:
        """Where each rank's time went.

        Raises:
            TraceError: the run kept no trace.
        """
        return breakdown.breakdown(self.trace)

    def report(self, step: int | None = None) -> str:
        """Where the time went, as a text: the mean over ranks of each part, and the extreme ranks; the parts sum to the time.

        Of the whole run also the collectives: bytes, time from the last rank's entry until all are done, and the bandwidths as
        nccl-tests defines them (``busbw`` compares with the speed of a link).

        Args:
            step: only this training step (0 is the first, -1 the last; a step ends with an optimizer's updates); None for
                the whole run.

        Raises:
            TraceError: a step of a run that kept no trace.
            IndexError: there is no such step.
        """
        number = steps.count(self.trace)
        measured = "simulated" if self.backend == "sim" else "measured"
        if step is not None:
            part = steps.cut(self.trace, step)
            head = f"{self.name}: step {step % number} of {number}, {self.where()}, {format_time(part.end)} {measured}"
            return f"{head}\n{breakdown.report_text(part)}"
        lines = [
            f"{self.name}: {self.world_size} ranks, {self.where()}, {format_time(self.time)} {measured}",
            breakdown.report_text(self.trace),
            *([table_text(use)] if (use := collective_use(self.trace)) else []),
        ]
        if number:
            last = steps.cut(self.trace, -1).end
            lines.append(f"{number} steps; the last one took {format_time(last)} (run.report(step=-1) shows its parts)")
        if self.memory:
            fullest = max(self.memory, key=lambda use: use.peak)
            lines.append(
                f"memory: at most {format_bytes(fullest.peak)} of {format_bytes(fullest.capacity)}, on rank {fullest.rank} "
                f"at {format_time(fullest.peak_time)}"
            )
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def where(self) -> str:
        """What the run ran on, for titles."""
        if self.backend == "sim":
            return f"simulated on {self.cluster} (network: {self.network})"
        return f"on {self.world_size} real processes ({self.backend})"

    def at(self, t: float) -> Moment:
        """What every rank and stream is doing at time ``t`` (seconds), what it waits for, and whom to blame.

        Raises:
            TraceError: the run kept no trace.
            ValueError: ``t`` is outside the run.
        """
        from .trace.at import at

        return at(self.trace, t)

    def critical_path(self) -> CriticalPath:
        """The chain of work and messages that determined the time of the run.

        Raises:
            TraceError: the run kept no trace.
        """
        from .trace.critical_path import critical_path

        return critical_path(self.trace)

    def links(self) -> list[LinkUse]:
        """What every directed link of the cluster carried, for how long, and what share of its capacity that is.

        Returns:
            One row (name, bytes, seconds busy, utilisation) per link, by the cluster's numbers; from the recorded messages, so an
            untraced run gives zeros.

        Raises:
            ValueError: the run does not know its cluster.
        """
        if self.machines is None:
            raise ValueError(
                f"this run knows only the name of its cluster, {self.cluster!r}: run it again for its links."
            )
        return link_use(self.machines, self.trace.flows(), self.time)

    def collectives(self) -> list[CollectiveUse]:
        """What the collectives moved and how fast, with the bandwidths that nccl-tests would print.

        Returns:
            One row (name, size of the group, number, bytes, seconds, algbw, busbw) for each name and size of group.

        Raises:
            TraceError: the run kept no trace.
        """
        self.trace.need("table of collectives")
        return collective_use(self.trace)

    # -- pictures ---------------------------------------------------------------------------------------------------

    def timeline(
        self,
        ranks: Sequence[int] | None = None,
        start: float | None = None,
        end: float | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw one row per rank and stream: what it did when.

        Args:
            ranks: which ranks (None: all, or a choice if they are many).
            start: from when, seconds.
            end: until when, seconds.
            ax: matplotlib axes to draw on, or None for new ones.

        Raises:
            TraceError: the run kept no trace, or nothing happened in it.
            ValueError: a rank that is not in the run, or an end that is not after the start.
        """
        from .plot.timeline import timeline

        return timeline(self.trace, ranks=ranks, start=start, end=end, ax=ax)

    def memory_plot(self, rank: int = 0, ax: Axes | None = None) -> Axes:
        """Draw the memory of ``rank`` over time, by class.

        Raises:
            TraceError: the run kept no trace, was on real processes, or the rank held no memory.
            ValueError: a rank that is not in the run.
        """
        from .plot.memory import memory

        capacity = self.memory[rank].capacity if 0 <= rank < len(self.memory) else None
        return memory(self.trace, rank=rank, capacity=capacity, ax=ax)

    def breakdown_plot(self, ax: Axes | None = None) -> Axes:
        """Draw where each rank's time went, as stacked bars.

        Raises:
            TraceError: the run kept no trace, or nothing happened in it.
        """
        from .plot.breakdown import breakdown as draw

        return draw(self.breakdown, ax=ax, title=f"{self.name}: {self.where()}")

    # -- files ------------------------------------------------------------------------------------------------------

    def save_trace(self, path: str | Path) -> Path:
        """Write the trace for Perfetto (a ``.json`` file) or for Holistic Trace Analysis (a folder).

        Args:
            path: a name that ends in ``.json`` (or ``.json.gz``) for one file; any other name is a folder with one file
                per rank.

        Raises:
            TraceError: the run kept no trace.
        """
        self.trace.need("trace to save")
        path = Path(path)
        if path.name.endswith((".json", ".json.gz")):
            from .trace import chrome

            chrome.write(self.trace, path)
        else:
            from .trace import hta

            hta.write(self.trace, path)
        return path

    def save(self, path: str | Path) -> Path:
        """Write the whole run to a file, to be read by ``sd.load_run`` (Python's pickle: load only files you trust)."""
        path = Path(path)
        with path.open("wb") as file:
            pickle.dump({"simdist run": _FORMAT, "run": self}, file, protocol=5)
        return path


def load_run(path: str | Path) -> Run:
    """Read a run that ``Run.save`` wrote.

    Raises:
        ValueError: the file is no saved run.
        FileNotFoundError: there is no such file.
    """
    with Path(path).open("rb") as file:
        try:
            found = pickle.load(file)
            if found["simdist run"] == _FORMAT:
                run: Run = found["run"]
                return run
        except (pickle.UnpicklingError, KeyError, TypeError, EOFError):
            pass
    raise ValueError(f"{path} is not a run saved by this version of simdist (run.save('name.run') writes one).")
