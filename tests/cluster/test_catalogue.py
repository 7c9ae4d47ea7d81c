"""How does a person pick a cluster?"""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from simdist.cluster import Cluster, clusters, presets, resolve
from simdist.errors import ClusterError, UnknownNameError


def test_attribute_item_and_get_are_the_same() -> None:
    assert clusters.dgx_a100 is clusters["dgx-a100"] is clusters.get("dgx-a100")
    assert clusters.get("dgx-a100", num_devices=20).num_devices == 24


def test_dir_lists_every_name_as_an_attribute() -> None:
    listed = [name for name in dir(clusters) if name not in ("about", "get", "names", "sources")]
    assert listed == sorted(name.replace("-", "_") for name in presets.names())
    assert all(isinstance(getattr(clusters, name), Cluster) for name in listed)


def test_it_is_a_collection_of_names() -> None:
    assert list(clusters) == clusters.names() == presets.names()
    assert len(clusters) == len(presets.names())
    assert "dgx-a100" in clusters
    assert "dgx-z9" not in clusters
    assert repr(clusters).startswith("<clusters: atlas-900, dgx-a100")
    assert clusters.sources("laptop") == presets.sources("laptop")


def test_about_is_one_line() -> None:
    assert clusters.about("dgx-a100") == "8 A100 80GB behind NVSwitch (NVLink3), 8 HDR 200 Gbit/s cards"
    with pytest.raises(UnknownNameError, match="there is no cluster named 'dgx'"):
        clusters.about("dgx")


def test_an_unknown_attribute_is_an_attribute_error_that_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match=r"there is no cluster named 'dgx-a1000'\. Did you mean 'dgx-a100'"):
        _ = clusters.dgx_a1000
    assert not hasattr(clusters, "nothing")
    assert list(copy.copy(clusters)) == list(clusters)
    with pytest.raises(UnknownNameError):
        clusters["dgx-a1000"]


def test_resolve_grows_a_preset_to_the_world() -> None:
    assert resolve("dgx-a100", 64).num_devices == 64
    assert resolve("dgx-a100", 3).num_devices == 8
    assert resolve("localhost", 9).num_devices == 9


def test_resolve_takes_a_cluster_as_it_is() -> None:
    mine = clusters.dgx_a100
    assert resolve(mine, 8) is mine
    with pytest.raises(ClusterError, match="world_size=9, but cluster 'dgx-a100' has 8 devices"):
        resolve(mine, 9)


def test_resolve_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    clusters.pc_10gbe.save(path)
    assert resolve(path, 2) == resolve(str(path), 2) == clusters.pc_10gbe
    with pytest.raises(ClusterError, match=r"there is no cluster file 'nowhere\.toml'"):
        resolve("nowhere.toml", 2)


@pytest.mark.parametrize(
    ("spec", "world_size", "text"),
    [
        ("laptop", 5, "world_size=5, but cluster 'laptop' has 4 devices."),
        ("dgx-a100", 0, "world_size must be an integer of at least 1, got 0."),
        ("dgx-a100", -3, "world_size must be an integer of at least 1, got -3."),
        ("dgx-a100", 2.0, "world_size must be an integer of at least 1, got 2.0."),
        (7, 2, "cluster must be a preset's name, a Cluster or the path of a .toml file, got 7."),
    ],
)
def test_resolve_refuses_with_a_reason(spec: object, world_size: int, text: str) -> None:
    with pytest.raises(ClusterError) as error:
        resolve(spec, world_size)  # type: ignore[arg-type]
    assert str(error.value).startswith(text)


def test_resolve_names_the_nearest_preset() -> None:
    with pytest.raises(UnknownNameError, match=r"there is no cluster named 'dgx-h10'\. Did you mean 'dgx-h100'"):
        resolve("dgx-h10", 4)
