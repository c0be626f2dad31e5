"""The stopping rule: it stops when the median is known, and always stops in the end."""

import random

from hypothesis import given
from hypothesis import strategies as st

from warpwright.judge.timing.stopping import Limits, Stopping, entropy


def fed(samples, **limits):
    stopping = Stopping(limits=Limits(**limits))
    for sample in samples:
        stopping.feed(sample)
    return stopping


def test_a_steady_series_stops_at_the_least_number_of_samples():
    stopping = fed([100.0] * 23)
    assert stopping.reason(0.0) is None
    stopping.feed(100.0)
    assert stopping.reason(0.0) == "median known to 0.4%"


def test_a_noisy_series_goes_on_until_the_median_is_known():
    generator = random.Random(0)
    stopping = Stopping(limits=Limits(most=10_000))
    while stopping.reason(0.0) is None:
        stopping.feed(100 * generator.uniform(0.9, 1.1))
    assert 100 < len(stopping.samples) < 10_000


def test_two_modes_settle_by_entropy_though_the_median_never_narrows():
    stopping = Stopping(limits=Limits(most=10_000, relative_error=1e-9))
    for number in range(2000):
        stopping.feed(100.0 if number % 2 else 140.0)
        if reason := stopping.reason(0.0):
            break
    assert reason == "nothing new in the samples"


def test_time_and_number_bound_everything():
    generator = random.Random(1)
    wild = [generator.lognormvariate(3, 2) for _ in range(400)]
    assert fed(wild[:2], seconds=1.0).reason(1.5) == "time budget of 1 s"
    assert fed(wild).reason(0.0) == "400 samples, the most allowed"


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=60))
def test_entropy_is_finite_and_never_negative(samples):
    assert 0 <= entropy(samples) + 1e-12 < 20


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=420), st.floats(0, 10))
def test_a_reason_is_always_given_in_the_end(samples, elapsed):
    stopping = fed(samples)
    reason = stopping.reason(elapsed)
    if elapsed >= 3 or len(samples) >= 400:
        assert reason
