"""What is asked before there is a group, and arguments of init_process_group, against what PyTorch 2.13 did.

What differs on purpose is listed in ``DIFFERENT``, with our answer and the reason.
"""

import os

import numpy as np

import simdist as sd
import simdist.distributed as dist
from tests.golden.recording import RECORDED, attempt, same

SECTION = next(name for name in RECORDED if name.startswith("errors"))
NO_VARIABLES = (None, "in a run the ranks are known; a variable that is there must not contradict")
DIFFERENT = {
    "env:// no variables": NO_VARIABLES,
    "env:// RANK only": NO_VARIABLES,
    "env:// RANK, WORLD_SIZE only": NO_VARIABLES,
    "timeout not timedelta": (None, "limits may be numbers of seconds"),
    "is_initialized after failures": (True, "sd.run has made the group"),
}


def told(name):
    return RECORDED[SECTION][f"noinit/{name}"]["all"]["value"]


def test_outside_a_run_there_is_no_group():
    asked = {
        "is_initialized": dist.is_initialized,
        "get_rank": dist.get_rank,
        "get_world_size": dist.get_world_size,
        "get_backend": dist.get_backend,
        "barrier": dist.barrier,
        "all_reduce": lambda: dist.all_reduce(np.ones(1)),
        "new_group": lambda: dist.new_group([0]),
        "destroy_process_group": dist.destroy_process_group,
        "is_available": dist.is_available,
        "group.WORLD": lambda: str(dist.group.WORLD),
        "send": lambda: dist.send(np.ones(1), 0),
        "is_torchelastic_launched": dist.is_torchelastic_launched,
        "get_process_group_ranks(None)": lambda: dist.get_process_group_ranks(None),
    }
    assert asked.keys() == told("uninitialized").keys()
    for name, call in asked.items():
        same(told("uninitialized")[name], attempt(call), name)


def begin(**arguments):
    """A call of init_process_group; ``...`` stands for a new store."""

    def call():
        given = {name: dist.HashStore() if value is ... else value for name, value in arguments.items()}
        return dist.init_process_group(given.pop("backend", "gloo"), **given)

    return call


def arguments(rank, world_size):
    found = {}
    variables = {"RANK": "0", "WORLD_SIZE": "1"}
    for name, count in (("no variables", 0), ("RANK only", 1), ("RANK, WORLD_SIZE only", 2)):
        os.environ.update(list(variables.items())[:count])
        found[f"env:// {name}"] = attempt(begin(init_method="env://"))
        dist.destroy_process_group()
    for variable in variables:
        del os.environ[variable]
    dist.init_process_group()
    calls = {
        "unknown scheme": begin(init_method="foo://x", rank=0, world_size=1),
        "unknown backend": begin(backend="nope", init_method="file://./x", rank=0, world_size=1),
        "tcp without rank": begin(init_method="tcp://127.0.0.1:29999", world_size=1),
        "store and init_method": begin(init_method="file://./x", store=..., rank=0, world_size=1),
        "store without rank": begin(store=...),
        "rank >= world_size (store)": begin(store=..., rank=3, world_size=2),
        "is_initialized after failures": dist.is_initialized,
    }
    found |= {name: attempt(call) for name, call in calls.items()}
    dist.destroy_process_group()
    found["timeout not timedelta"] = attempt(begin(store=..., rank=0, world_size=1, timeout=5))
    dist.destroy_process_group()
    found["world 1 with HashStore"] = attempt(begin(store=..., rank=0, world_size=1))
    found["then"] = [dist.get_rank(), dist.get_world_size()]
    x = np.array([3.0])
    dist.all_reduce(x)
    found["world 1 all_reduce"] = x.tolist()
    dist.destroy_process_group()
    found["re-init after destroy"] = attempt(begin(store=..., rank=0, world_size=1))
    return found


def test_arguments_of_init_process_group(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    found = sd.run(arguments, world_size=1).results[0]
    default_limit = "default pg timeout (s)"  # a limit that nobody names is none in simulation
    assert {*found, default_limit} == {*told("init arguments")}
    for name, got in found.items():
        want, _ = DIFFERENT.get(name, (told("init arguments")[name], ""))
        same(want, got, name)
