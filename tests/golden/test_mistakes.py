"""Programs with a mistake, against what PyTorch 2.13 did on gloo: the class of the error, or that there was none.

torch's default debug level is ``checked=False``, ``DETAIL`` is ``checked=True``. Where a process of torch's died, an error is
asked for here. What differs on purpose is listed in ``DIFFERENT``, with our answer and the reason.
"""

import warnings

import pytest

import simdist as sd
from tests.golden.mistakes import PROGRAMS, WORLD
from tests.golden.recording import RECORDED, attempt

SECTION = RECORDED[next(name for name in RECORDED if name.startswith("errors"))]
NAMES = [name for name in SECTION if not name.startswith("noinit")]

REFUSED = object()
SIZES = (REFUSED, "torch reads what lies beyond the array, or leaves a part of it")
DIFFERENT = {
    "OFF/all_reduce/shape_mismatch 2 vs 3 elements": SIZES,
    "OFF/all_gather/shape mismatch across ranks": SIZES,
    "OFF/broadcast/shape mismatch src bigger": SIZES,
    "OFF/broadcast/shape mismatch src smaller": SIZES,
    "OFF/recv/buffer smaller than message (3 -> 2)": SIZES,
    "OFF/recv/buffer larger than message (3 -> 4)": SIZES,
    "OFF/recv/dtype differs same bytes (float32 -> int32)": (REFUSED, "bits of one type are no numbers of another"),
    "DETAIL/recv/dtype differs same bytes (float32 -> int32)": (REFUSED, "the same"),
    "OFF/all_reduce/dtype float32 vs int32": (
        [[1.0, 1.0 + 2**-23], [1065353216, 1065353217]],
        "bits of one type are read as the other's, as there; each half is added by another rank",
    ),
    "OFF/all_reduce/op SUM vs MAX": ([[5.0, 3.0]] * 2, "each half is combined as its own rank asks; gloo sums all"),
    "DETAIL/all_reduce/op SUM vs MAX": (REFUSED, "torch does not compare reductions"),
    "OFF/all_reduce(numpy)": ([[2.0, 2.0]] * 2, "numpy's arrays are what travels"),
    "OFF/send/non contiguous": ([None, [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]], "strided arrays are sent as they look"),
    "OFF/collective after a timed out one": ("the second works", "a wait that was given up leaves the group as it was"),
    "DETAIL/async all_reduce with shape mismatch: where it raises": (
        [{"call": "no error"}] * 2,
        "an asynchronous call never waits for the others, not even to compare",
    ),
}


def program(rank, world_size, name):
    warnings.simplefilter("ignore")
    return attempt(lambda: PROGRAMS[name](rank, world_size))


def of_rank(name, rank):
    """What torch's rank did: ``{"value": ...}``, ``{"error": ...}`` or ``{"process_died": ...}``."""
    found = SECTION[name]
    return found["all"] if "all" in found else found["per_rank"][rank]


def agrees(want, got):
    """Errors by class, numbers closely, everything else exactly; keys that ours does not answer are left out."""
    if isinstance(want, dict) and "error" in want:
        return isinstance(got, dict) and want["error"] in got.get("error", ())
    if isinstance(want, dict):
        return isinstance(got, dict) and all(agrees(want[key], got[key]) for key in got)
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(agrees, want, got))
    if isinstance(want, float):
        return got == pytest.approx(want, rel=1e-6)
    return want == got


@pytest.mark.parametrize("name", NAMES)
def test_what_comes_of_it(name):
    mode, _, mistake = name.partition("/")
    count = WORLD[mistake]
    found = attempt(lambda: sd.run(program, mistake, world_size=count, checked=mode == "DETAIL", timeout=3.0).results)
    stuck = isinstance(found, dict)  # the run was ended: who could go on had returned
    if name in DIFFERENT:
        ours, _ = DIFFERENT[name]
        if ours is REFUSED:
            assert stuck or all("RuntimeError" in got["error"] for got in found)
        elif ours == "the second works":
            assert [[got and got["error"] for got in pair] for pair in found] == [
                [["RuntimeError"], None],
                [None, None],
            ]
        else:
            assert found == ours
        return
    for rank in range(count):
        want = of_rank(name, rank)
        got = found if stuck else found[rank]
        if "process_died" in want or "error" in want:
            wanted = want.get("error", "RuntimeError")
            assert (stuck and "RuntimeError" in got["error"]) or wanted in got["error"], (rank, got)
        elif not stuck:
            assert agrees(want["value"], got), (rank, want, got)


def test_every_recorded_mistake_is_made_and_the_differences_are_known():
    assert {name.partition("/")[2] for name in NAMES} == set(PROGRAMS)
    assert not set(DIFFERENT) - set(NAMES)
