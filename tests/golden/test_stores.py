"""Every answer of the four stores, against what was recorded from PyTorch 2.13; outside a run, and in a simulated rank.

What differs on purpose is listed in ``DIFFERENT``, with the reason.
"""

import builtins
import json
from datetime import timedelta
from pathlib import Path

import pytest

import simdist as sd
import simdist.distributed as dist
from simdist import errors

RECORDED = json.loads((Path(__file__).parent / "data" / "collectives.json").read_text())
SECTION = next(name for name in RECORDED if name.startswith("errors"))
STORES = RECORDED[SECTION]["noinit/stores"]["all"]["value"]

DIFFERENT = {
    ("FileStore", "delete_key"): ([True, False], "torch says True for a key that is gone already"),
    ("FileStore", "list_keys"): (["ap", "c", "m1", "m2", "n"], "torch lists its own key, without its first letter"),
    ("TCPStore", "add on non-numeric (last call)"): (ValueError, "torch's server dies of it; here it goes on"),
}


def answers(store, limit):
    wait = timedelta(seconds=limit)
    store.set_timeout(wait)
    return {
        "set/get": lambda: (store.set("a", "x"), store.get("a"))[1],
        "get type": lambda: type(store.get("a")).__name__,
        "get missing (blocks to timeout)": lambda: store.get("missing"),
        "wait missing": lambda: store.wait(["missing"], wait),
        "add new": lambda: store.add("n", 5),
        "add again": lambda: store.add("n", 2),
        "get counter": lambda: store.get("n"),
        "add negative": lambda: store.add("n", -3),
        "check": lambda: [store.check(["a"]), store.check(["zz"]), store.check(["a", "zz"])],
        "num_keys": store.num_keys,
        "delete_key": lambda: [store.delete_key("a"), store.delete_key("a")],
        'compare_set absent, expected ""': lambda: store.compare_set("c", "", "v1"),
        "compare_set absent, expected other": lambda: store.compare_set("c9", "zz", "v1"),
        "compare_set wrong expected": lambda: store.compare_set("c", "no", "v2"),
        "compare_set right": lambda: store.compare_set("c", "v1", "v2"),
        "get after": lambda: store.get("c"),
        "multi_set/get": lambda: (store.multi_set(["m1", "m2"], ["1", "2"]), store.multi_get(["m1", "m2"]))[1],
        "append": lambda: (store.append("ap", "x"), store.append("ap", "y"), store.get("ap"))[2],
        "has_extended_api": store.has_extended_api,
        "timeout": lambda: store.timeout.total_seconds() / limit,
        "list_keys": store.list_keys,
        "queue_push/pop": lambda: [
            store.queue_push("q", "x"), store.queue_push("q", "y"), store.queue_pop("q"), store.queue_len("q"),
        ][2:],
        "add on non-numeric (last call)": lambda: (store.set("s", "abc"), store.add("s", 1))[1],
    }  # fmt: skip


def plain(value):
    return [plain(x) for x in value] if isinstance(value, list) else str(value) if isinstance(value, bytes) else value


def compare(name, store, limit):
    asked = answers(store, limit)
    assert asked.keys() == STORES[name].keys()
    for question, call in asked.items():
        want, _ = DIFFERENT.get((name, question), (STORES[name][question], ""))
        if isinstance(want, dict):
            want = getattr(errors, want["error"], None) or getattr(builtins, want["error"])
        if isinstance(want, type):
            with pytest.raises(want):
                call()
        else:
            assert plain(call()) == want, (name, question)


def make(name, path):
    return {
        "HashStore": dist.HashStore,
        "FileStore": lambda: dist.FileStore(path, 1),
        "TCPStore": lambda: dist.TCPStore("127.0.0.1", 0, 1, True),
        "PrefixStore(HashStore)": lambda: dist.PrefixStore("p", dist.HashStore()),
    }[name]()


@pytest.mark.parametrize("name", STORES)
def test_outside_a_run(name, tmp_path):
    compare(name, make(name, tmp_path / "f"), 0.02)


@pytest.mark.parametrize("name", STORES)
def test_in_a_simulated_rank(name, tmp_path):
    def program(rank, world_size):
        compare(name, make(name, tmp_path / "f"), 1.0)
        return round(sd.current_time(), 3)

    assert sd.run(program, world_size=1).results == [2.0]


def test_the_differences_are_known_to_the_recording():
    assert all(question in STORES[name] for name, question in DIFFERENT)
