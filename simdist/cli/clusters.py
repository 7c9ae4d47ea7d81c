"""``simdist clusters``: which machines can be simulated, and where does each number come from?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from simdist import plot
from simdist.cli.failure import UsageError, taught
from simdist.cli.output import print_json, print_table
from simdist.cli.picture import check, save
from simdist.cluster import presets
from simdist.units import format_bytes, format_flops, format_rate, format_time

__all__ = ["clusters"]


@taught
def clusters(
    name: Annotated[str | None, typer.Argument(help="One machine; without it, all of them.")] = None,
    sources: Annotated[bool, typer.Option("--sources", help="Where each number comes from.")] = False,
    toml: Annotated[
        bool, typer.Option("--toml", help="The description as a file to edit and to use with --cluster.")
    ] = False,
    picture: Annotated[Path | None, typer.Option(metavar="PNG", help="Draw devices, switches and cables.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the machines that simdist knows, or describe one.

    **Examples:** `simdist clusters`, `simdist clusters dgx-a100 --sources`, `simdist clusters dgx1-v100 --picture dgx1.png`,
    and a machine of your own: `simdist clusters dgx-a100 --toml > mine.toml`, edit, `simdist run ... --cluster mine.toml`
    """
    check(picture)
    if name is None:
        if picture is not None:
            raise UsageError(
                "--picture draws one machine: name it, for example simdist clusters dgx-a100 --picture a.png."
            )
        _print_all(as_json)
    elif picture is not None:
        typer.echo(f"picture: {save(plot.topology(name), picture)}")
    elif toml:
        typer.echo(presets.get(name).to_toml())
    elif sources:
        rows = presets.sources(name)
        if as_json:
            print_json([dict(zip(("key", "value", "source"), row, strict=True)) for row in rows])
        else:
            print_table(("key", "value", "source"), [(key, _human(key, value), source) for key, value, source in rows])
    else:
        facts = _facts(name)
        if as_json:
            print_json(facts)
        else:
            print_table(("what", "value"), [(key, _human(key, value)) for key, value in facts.items()])


def _print_all(as_json: bool) -> None:
    every = [_facts(name) for name in presets.names()]
    if as_json:
        print_json(every)
        return
    columns = ("name", "devices", "accelerator", "memory", "memory_bandwidth")
    print_table(columns, [[_human(key, facts[key]) for key in columns] for facts in every])


def _facts(name: str) -> dict[str, Any]:
    cluster = presets.get(name)
    device = cluster.device(0)
    peaks = {f"peak_flops {dtype}": rate for dtype, rate in dict(device.peak_flops).items()}
    facts: dict[str, Any] = {
        "name": name,
        "devices": cluster.num_devices,
        "accelerator": device.name,
        "memory": device.memory,
        "memory_bandwidth": device.memory_bandwidth,
        "launch_overhead": device.launch_overhead,
        **peaks,
    }
    if cluster.num_devices > 1:
        route = cluster.route(0, 1)
        facts |= {"latency 0 -> 1": route.latency, "bandwidth 0 -> 1": route.bandwidth}
    return facts


UNITS = (
    ("memory_bandwidth", format_rate),
    ("bandwidth", format_rate),
    ("memory", format_bytes),
    ("launch_overhead", format_time),
    ("latency", format_time),
    ("peak_flops", format_flops),
)
"""Which printer a fact takes, by the beginning of its name or of its last part; the first row that fits decides."""


def _human(key: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{inner} {_human(key, item)}" for inner, item in value.items())
    names = (key, key.rpartition(".")[2])
    printer = next((show for start, show in UNITS if any(name.startswith(start) for name in names)), None)
    return printer(value) if printer and isinstance(value, int | float) else str(value)
