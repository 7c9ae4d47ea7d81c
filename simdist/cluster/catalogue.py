"""How does a person pick a cluster?

``sd.clusters.dgx_a100``, ``sd.clusters["dgx-a100"]``, ``sd.clusters.get("dgx-a100", num_devices=64)``: all of them look into
``presets``. ``resolve`` is what ``sd.run(cluster=...)`` does with whatever it is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from simdist.cluster import presets
from simdist.cluster.cluster import Cluster
from simdist.errors import ClusterError, UnknownNameError

__all__ = ["Catalogue", "clusters", "resolve"]


class Catalogue:
    """The presets as attributes (``dgx_a100``) and as items (``"dgx-a100"``)."""

    def __getattr__(self, name: str) -> Cluster:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return presets.get(name.replace("_", "-"))
        except UnknownNameError as error:
            # hasattr and copy rely on AttributeError
            raise AttributeError(str(error)) from None

    def __getitem__(self, name: str) -> Cluster:
        return presets.get(name)

    def get(self, name: str, num_devices: int | None = None) -> Cluster:
        """The cluster of that name with at least ``num_devices`` devices; see ``presets.get``."""
        return presets.get(name, num_devices)

    def names(self) -> list[str]:
        """Every name."""
        return presets.names()

    def about(self, name: str) -> str:
        """One line on what it is.

        Raises:
            UnknownNameError: no such name.
        """
        presets.get(name)
        return presets.PRESETS[name].about

    def sources(self, name: str) -> list[tuple[str, object, str]]:
        """(key, value, source) of every number of a preset."""
        return presets.sources(name)

    def __iter__(self) -> Iterator[str]:
        return iter(presets.names())

    def __len__(self) -> int:
        return len(presets.PRESETS)

    def __contains__(self, name: object) -> bool:
        return name in presets.PRESETS

    def __dir__(self) -> list[str]:
        return [name.replace("-", "_") for name in presets.names()] + ["about", "get", "names", "sources"]

    def __repr__(self) -> str:
        return f"<clusters: {', '.join(presets.names())}>"


clusters = Catalogue()
"""What ``simdist.clusters`` is."""


def resolve(spec: str | Path | Cluster, world_size: int) -> Cluster:
    """A cluster with room for ``world_size`` ranks.

    Args:
        spec: a preset's name (it grows if it can), a ``Cluster``, or the path of a TOML file.
        world_size: number of ranks.

    Raises:
        UnknownNameError: no preset of that name.
        ClusterError: too few devices, no such file, a bad description, or something that is none of the three.
    """
    if isinstance(spec, Cluster):
        cluster = spec
    elif isinstance(spec, Path) or (isinstance(spec, str) and spec.endswith(".toml")):
        cluster = Cluster.from_toml(spec)
    elif isinstance(spec, str):
        row = presets.PRESETS.get(spec)
        grows = row is not None and row.step and isinstance(world_size, int) and world_size > 0
        cluster = presets.get(spec, world_size if grows else None)
    else:
        raise ClusterError(f"cluster must be a preset's name, a Cluster or the path of a .toml file, got {spec!r}.")
    cluster.check_world_size(world_size)
    return cluster
