"""Statistics: intervals with the stated coverage, and None for no samples."""

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.records.measurement import Cache
from warpwright.judge.timing.inference import geometric_mean, median, median_interval, speed_up
from warpwright.judge.timing.interleaving import per_call_us

positive = st.floats(0.01, 1e5)


@given(st.lists(positive, min_size=1, max_size=200))
def test_the_interval_holds_the_sample_median(samples):
    low, high = median_interval(samples)
    assert low <= statistics.median(samples) <= high
    assert median(samples).value == statistics.median(samples)


def test_the_interval_covers_the_true_median_as_often_as_stated():
    generator = random.Random(0)
    draws = [median_interval([generator.lognormvariate(0, 1) for _ in range(50)]) for _ in range(400)]
    assert sum(low <= 1.0 <= high for low, high in draws) >= 0.93 * 400


def test_the_same_kernel_on_both_sides_is_not_faster_than_itself():
    generator = random.Random(0)
    holding = 0
    for trial in range(60):
        sides = [[[generator.gauss(100, 2) for _ in range(8)] for _ in range(6)] for _ in range(2)]
        found = speed_up(*sides, seed=trial)
        holding += found.low <= 1 <= found.high
    assert holding >= 54


def test_the_interval_includes_the_difference_between_processes():
    """Two processes with the same kernel differ by a little, always in the same direction."""
    found = speed_up([[100.0] * 8] * 6, [[100.2] * 8] * 6)
    assert found.low < 1.0 < found.value
    short = speed_up([[5.0] * 8] * 6, [[5.05] * 8] * 6)
    assert short.low < 1.0
    assert short.high - short.low > 1.5 * (found.high - found.low)


def test_drift_between_turns_widens_the_interval():
    steady = [[1000.0 + i % 3 for i in range(8)] for _ in range(6)]
    drifting = [[1000.0 + 50 * turn + i % 3 for i in range(8)] for turn in range(6)]
    width = [found.high - found.low for found in (speed_up(steady, steady), speed_up(drifting, steady))]
    assert width[1] > 3 * width[0]


def test_a_real_difference_is_seen():
    fast, slow = [[50.0, 51.0, 50.5]] * 5, [[100.0, 101.0, 99.0]] * 5
    found = speed_up(fast, slow)
    assert found.low > 1.9
    assert found.value == pytest.approx(100 / 50.5)


@given(st.lists(positive, min_size=1, max_size=30))
def test_the_geometric_mean_lies_between_the_extremes(values):
    mean = geometric_mean(values)
    assert min(values) * 0.999 <= mean <= max(values) * 1.001


def test_the_mean_of_no_values_is_absent():
    assert geometric_mean([]) is None


def test_the_cost_of_measuring_is_subtracted_once_per_chain():
    assert per_call_us([81.0, 161.0], Cache.COLD, cost=1.0, calls=8) == [10.0, 20.0]


def test_the_reads_of_warm_chains_are_subtracted():
    assert per_call_us([180.0, 100.0, 260.0, 100.0], Cache.WARM, cost=1.0, calls=8) == [10.0, 20.0]
