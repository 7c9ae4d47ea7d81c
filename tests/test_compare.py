import numpy as np
import pytest

import simdist as sd


def run_of(*results):
    return sd.run(lambda rank, world_size: results[rank], world_size=len(results))


def test_equal_bits():
    value = {"w": sd.tensor([1.0, 2.0]), "list": [1, "a", (2.5, None)], "nan": float("nan")}
    comparison = sd.compare(run_of(value, 1), run_of(value, 1))
    assert comparison
    assert comparison.identical
    assert comparison.count == 7
    assert str(comparison).endswith("all 7 values agree bit for bit")


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (
            {"w": np.array([1.0, 2.0])},
            {"w": np.array([1.0, np.nextafter(2.0, 3)])},
            "rank 0['w']: 1 of 2 elements differ",
        ),
        ({"w": np.zeros(2)}, {"w": np.zeros(3)}, "(2,) float64 and (3,) float64"),
        ({"w": np.zeros(2)}, {"w": np.zeros(2, np.float32)}, "(2,) float64 and (2,) float32"),
        ({"w": 0}, {"v": 0}, "has keys ['w'] and ['v']"),
        ([1, 2], [1], "rank 0: has 2 and 1 entries"),
        (1, 1.0, "1 and 1.0"),
        ("a", "b", "'a' and 'b'"),
        (np.array([0.0]), np.array([-0.0]), "0 of 1 elements differ"),
    ],
)
def test_differences(a, b, text):
    comparison = sd.compare(run_of(a), run_of(b))
    assert not comparison
    assert text in str(comparison)


def test_many_differences_are_summed_up():
    comparison = sd.compare(run_of(list(range(20))), run_of(list(range(1, 21))))
    assert "20 of 20 values differ" in str(comparison)
    assert "and 10 more" in str(comparison)


def test_only_runs_of_one_world_size():
    with pytest.raises(ValueError, match=r"the runs have 1 and 2 ranks.*world_size=1"):
        sd.compare(run_of(1), run_of(1, 2))
