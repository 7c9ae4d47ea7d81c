from __future__ import annotations

import json
from pathlib import Path

import pytest

from simdist.cli.clusters import UNITS
from simdist.cluster import Cluster, presets


def test_the_list_has_a_line_for_each(call) -> None:
    shown = call("clusters")
    assert shown.exit_code == 0
    lines = shown.output.splitlines()
    assert lines[0].split()[:2] == ["name", "devices"]
    assert [line.split()[0] for line in lines[1:]] == presets.names()


def test_the_list_as_json_has_seconds_and_bytes(call) -> None:
    every = {facts["name"]: facts for facts in json.loads(call("clusters", "--json").output)}
    assert list(every) == presets.names()
    assert every["dgx-a100"]["devices"] == 8
    assert every["dgx-a100"]["memory"] == presets.get("dgx-a100").device(0).memory


@pytest.mark.parametrize("name", presets.names())
def test_each_can_be_described(call, name: str) -> None:
    shown = call("clusters", name)
    assert shown.exit_code == 0
    for word in (name, presets.get(name).device(0).name, "FLOP/s"):
        assert word in shown.output


def test_one_as_json(call) -> None:
    facts = json.loads(call("clusters", "dgx-a100", "--json").output)
    assert facts["bandwidth 0 -> 1"] == presets.get("dgx-a100").route(0, 1).bandwidth


@pytest.mark.parametrize("name", presets.names())
def test_each_number_has_a_source(call, name: str) -> None:
    rows = json.loads(call("clusters", name, "--sources", "--json").output)
    assert rows
    assert all(row["key"] and row["source"] for row in rows)


def test_sources_as_a_table(call) -> None:
    shown = call("clusters", "dgx-a100", "--sources")
    assert shown.exit_code == 0
    assert shown.output.splitlines()[0].split() == ["key", "value", "source"]


def test_numbers_have_units_for_a_person(call) -> None:
    shown = call("clusters", "dgx-a100", "--sources").output
    assert "bfloat16 312 TFLOP/s" in shown
    assert "80 GB" in shown
    assert "e+" not in shown


def test_a_description_as_toml_can_be_used_again(call, tmp_path: Path) -> None:
    text = call("clusters", "dgx-a100", "--toml").output
    path = tmp_path / "mine.toml"
    path.write_text(text)
    assert Cluster.from_toml(path) == presets.get("dgx-a100")


@pytest.mark.parametrize("option", [(), ("--toml",), ("--sources",), ("--json",)])
def test_an_unknown_name_is_wrong_use_with_the_nearest(call, option: tuple[str, ...]) -> None:
    shown = call("clusters", "dgx-a10", *option)
    assert shown.exit_code == 2
    assert "there is no cluster named 'dgx-a10'. Did you mean 'dgx-a100'" in shown.stderr
    assert shown.stdout == ""


def test_the_first_row_that_fits_is_the_printer() -> None:
    starts = [start for start, _ in UNITS]
    assert starts.index("memory_bandwidth") < starts.index("memory")


def test_one_is_drawn(call, tmp_path: Path) -> None:
    path = tmp_path / "a100.png"
    shown = call("clusters", "dgx-a100", "--picture", path)
    assert (shown.exit_code, shown.output) == (0, f"picture: {path}\n")
    assert path.read_bytes()[:4] == b"\x89PNG"
    shown = call("clusters", "--picture", path)
    assert shown.exit_code == 2
    assert "--picture draws one machine: name it" in shown.stderr
