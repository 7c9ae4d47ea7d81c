"""The user's clock: case 34 (e) and (f)."""

import pytest

import simdist as sd


def in_a_rank(fn, **options):
    return sd.run(lambda rank, world_size: fn(), world_size=1, cluster="dgx-a100", **options)


def test_sleep_and_compute_move_the_clock():
    def program():
        sd.sleep(0.25)
        sd.compute(seconds=0.5)
        return sd.current_time()

    assert in_a_rank(program).results == [0.75]


def test_compute_by_flops_and_bytes_follows_the_roofline():
    accelerator = sd.clusters.get("dgx-a100").device(0)

    def program(**work):
        sd.compute(**work)
        return sd.current_time()

    by_bytes = in_a_rank(lambda: program(bytes=1e9)).time
    assert by_bytes == pytest.approx(1e9 / accelerator.memory_bandwidth, rel=1e-12)
    by_flops = in_a_rank(lambda: program(flops=1e12, dtype="float16")).time
    assert by_flops == pytest.approx(1e12 / accelerator.peak("float16"), rel=1e-12)


def test_the_rounding_of_a_difference_is_no_time():
    assert in_a_rank(lambda: sd.sleep(0.3 - (0.1 + 0.2))).time == 0.0


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), -1e-9])
def test_time_cannot_go_backwards(bad):
    with pytest.raises(ValueError, match="time cannot go backwards"):
        in_a_rank(lambda: sd.sleep(bad))
    with pytest.raises(ValueError, match="time cannot go backwards"):
        in_a_rank(lambda: sd.compute(seconds=bad))


def test_amounts_of_work_cannot_be_negative():
    with pytest.raises(ValueError, match=r"sd.compute\(flops=-1\)"):
        in_a_rank(lambda: sd.compute(flops=-1))
    with pytest.raises(ValueError, match=r"sd.compute\(bytes=nan\)"):
        in_a_rank(lambda: sd.compute(bytes=float("nan")))


def test_given_seconds_flops_and_bytes_are_not_looked_at():
    assert in_a_rank(lambda: sd.compute(flops=-1, bytes=1e15, seconds=0.5)).time == 0.5


def charged_by_hand(rank, world_size, work):
    began = sd.current_time()
    sd.compute(**work)
    return sd.current_time() - began


@pytest.mark.parametrize("work", [{"seconds": 1e6}, {"flops": 1e30}, {"bytes": 1e30}])
def test_on_a_real_process_charged_work_takes_no_time(work):
    (took,) = sd.run(charged_by_hand, work, world_size=1, backend="process").results
    assert took < 100.0


def test_the_seed_of_a_rank():
    from simdist.tensor import random

    def program():
        first = random.current_seed()
        sd.manual_seed(11)
        return first, random.current_seed()

    outside = random.current_seed()
    assert in_a_rank(program, seed=5).results == [(5, 11)]
    assert random.current_seed() == outside
    sd.manual_seed(3)
    assert random.current_seed() == 3
    sd.manual_seed(outside)
