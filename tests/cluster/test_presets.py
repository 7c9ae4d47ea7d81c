"""Are the presets what their sources say, and does every number have a source?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simdist.cluster import Cluster, presets
from simdist.errors import ClusterError, UnknownNameError
from simdist.units import GB, TB, gbit, tflops, us

RATES = Path(__file__).parents[1] / "golden" / "data" / "vtrain_step_rates.json"


def test_the_promised_names_are_there() -> None:
    promised = "laptop localhost dgx1-v100 dgx-a100 dgx-h100 dgx-h200 dgx-b200 atlas-900 pc-10gbe pc-25gbe pc-100gbe"
    assert presets.names() == sorted(promised.split())


@pytest.mark.parametrize("name", presets.names())
def test_every_preset_is_whole(name: str) -> None:
    cluster = presets.get(name)
    assert cluster.name == name
    assert cluster.num_devices == presets.PRESETS[name].default
    assert Cluster.from_toml(cluster.to_toml()) == cluster
    for dst in range(1, cluster.num_devices):
        route = cluster.route(0, dst)
        assert route.latency > 0
        assert 1e9 < route.bandwidth < 1e12
        assert cluster.route(dst, 0).bandwidth == route.bandwidth


@pytest.mark.parametrize("name", presets.names())
def test_every_number_has_a_source(name: str) -> None:
    rows = presets.sources(name)
    keys = [key for key, _, _ in rows]
    node = presets.get(name).nodes[0]
    expected = {"peak_flops", "memory", "memory_bandwidth", "launch_overhead", "efficiency"}
    expected |= {f"{cable}.{part}" for cable in ("fabric", "host", "nic") for part in ("bandwidth", "latency")
                 if getattr(node, cable) is not None}  # fmt: skip
    assert expected <= set(keys)
    assert all(len(source) > 15 for _, _, source in rows)
    assert all(value is not None for _, value, _ in rows)


@pytest.mark.parametrize("name", presets.names())
def test_a_device_without_a_source_for_efficiency_says_so(name: str) -> None:
    curve = presets.get(name).device(0).efficiency
    source = {key: source for key, _, source in presets.sources(name)}["efficiency"]
    assert (not curve) == source.startswith("no source: the peak is taken")


@pytest.mark.parametrize(
    ("name", "half", "single", "ceiling", "memory", "bandwidth", "fabric", "nic"),
    [
        ("dgx-a100", 312, 156, 271.2 / 312, 80, 2.0, 300, 200),
        ("dgx-h100", 989, 495, 794.5 / 989, 80, 3.35, 450, 400),
        ("dgx-h200", 989, 495, 794.5 / 989, 141, 4.8, 450, 400),
        ("dgx-b200", 2250, 1125, 1745 / 2250, 180, 8.0, 900, 400),
    ],
)
def test_the_published_numbers(
    name: str, half: float, single: float, ceiling: float, memory: float, bandwidth: float, fabric: float, nic: float
) -> None:
    cluster = presets.get(name, num_devices=16)
    device = cluster.device(0)
    assert device.peak("float16") == device.peak("bfloat16") == tflops(half)
    assert device.peak("float32") == tflops(single)
    assert device.memory == memory * GB
    assert device.memory_bandwidth == bandwidth * TB
    assert 0.95 * ceiling < device.matmul_efficiency(32768, 32768, 32768) < ceiling
    assert cluster.route(0, 7).bandwidth == fabric * GB
    assert cluster.route(0, 7).latency == pytest.approx(0.6 * us)
    assert cluster.route(0, 8).bandwidth == gbit(nic)
    assert cluster.route(0, 8).latency == pytest.approx(2.7 * us)
    assert all(cluster.route(a, b).owned for a in range(16) for b in range(16))


def test_a_dgx1_has_six_nvlinks_on_each_accelerator_and_shares_its_cards() -> None:
    cluster = presets.get("dgx1-v100", num_devices=16)
    degree = [0] * 8
    for i, j, wires in cluster.nodes[0].wires:
        degree[i] += wires
        degree[j] += wires
    assert degree == [6] * 8
    assert cluster.route(0, 3).bandwidth == 50 * GB
    assert cluster.route(0, 1).bandwidth == 25 * GB
    assert cluster.route(0, 5).bandwidth == 15.5 * GB  # no NVLink: over PCIe
    assert not cluster.route(0, 8).owned
    assert cluster.route(0, 8).links[1:3] == cluster.route(1, 9).links[1:3]


def test_an_ascend_server_is_two_meshes_of_four() -> None:
    cluster = presets.get("atlas-900")
    assert {cluster.route(0, dst).bandwidth for dst in (1, 2, 3)} == {gbit(240)}
    assert {cluster.route(0, dst).bandwidth for dst in (4, 5, 6, 7)} == {31 * GB}


@pytest.mark.parametrize(("name", "rate"), [("pc-10gbe", 10), ("pc-25gbe", 25), ("pc-100gbe", 100)])
def test_pcs_differ_in_their_ethernet_only(name: str, rate: float) -> None:
    cluster = presets.get(name)
    assert cluster.route(0, 1).bandwidth == gbit(rate)
    assert cluster.device(0) == presets.get("pc-10gbe").device(0)
    assert cluster.route(0, 1).owned


@pytest.mark.parametrize(
    ("name", "asked", "got"),
    [
        ("dgx-a100", None, 8), ("dgx-a100", 1, 8), ("dgx-a100", 8, 8), ("dgx-a100", 9, 16), ("dgx-a100", 64, 64),
        ("localhost", 2, 4), ("localhost", 5, 5), ("pc-10gbe", 11, 11), ("laptop", 4, 4),
    ],
)  # fmt: skip
def test_a_preset_grows_by_whole_nodes(name: str, asked: int | None, got: int) -> None:
    assert presets.get(name, asked).num_devices == got


def test_the_same_question_gives_the_same_object() -> None:
    assert presets.get("dgx-a100", 9) is presets.get("dgx-a100", 16)


def test_an_unknown_name_gets_the_nearest() -> None:
    for ask in (presets.get, presets.sources):
        with pytest.raises(UnknownNameError, match=r"there is no cluster named 'dgx-a10'\. Did you mean 'dgx-a100'"):
            ask("dgx-a10")


def test_a_preset_of_fixed_size_does_not_grow() -> None:
    with pytest.raises(ClusterError) as error:
        presets.get("laptop", 5)
    assert str(error.value).startswith(
        "cluster 'laptop' has 4 devices and does not grow to 5. Take one that grows (atlas-900, "
    )


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "8"])
def test_a_number_of_devices_is_a_positive_integer(count: object) -> None:
    with pytest.raises(ClusterError) as error:
        presets.get("dgx-a100", count)  # type: ignore[arg-type]
    assert str(error.value) == f"clusters.get('dgx-a100'): num_devices must be an integer of at least 1, got {count!r}."


def test_no_measured_training_step_is_faster_than_the_a100s_curve() -> None:
    """Whole steps do more than multiply, so their rate bounds the curve from below."""
    device = presets.get("dgx-a100").device(0)
    rows = json.loads(RATES.read_text())["rows"]
    assert len(rows) > 50
    for row in rows:
        assert row["share_of_peak"] < device.matmul_efficiency(row["m"], row["n"], row["k"])
