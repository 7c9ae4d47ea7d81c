import numpy as np
import pytest

from simdist.errors import ClusterError
from simdist.sim.speed import Speed


def test_a_straggler_takes_its_factor_longer():
    assert Speed(0, 2.5, 0.0, 0).stretch(2.0) == 5.0
    assert Speed(0, 1.0, 0.0, 0).stretch(0.1) == 0.1


def test_jitter_has_mean_one_and_its_own_draws_per_rank_and_seed():
    draws = {(r, s): [Speed(r, 1.0, 0.1, s).stretch(1.0)] for r in (0, 1) for s in (0, 1)}
    assert len({v[0] for v in draws.values()}) == 4
    speed = Speed(0, 1.0, 0.1, 0)
    many = np.array([speed.stretch(1.0) for _ in range(20_000)])
    assert many.mean() == pytest.approx(1.0, abs=0.005)
    assert np.log(many).std() == pytest.approx(0.1, rel=0.03)
    again = Speed(0, 1.0, 0.1, 0)
    assert [again.stretch(1.0) for _ in range(600)] == many[:600].tolist()


@pytest.mark.parametrize(
    ("factor", "jitter", "text"), [(0, 0, "stragglers"), (-1, 0, "stragglers"), (1, -0.1, "jitter")]
)
def test_bad_numbers(factor, jitter, text):
    with pytest.raises(ClusterError, match=text):
        Speed(2, factor, jitter, 0)
