"""Subjects take turns, forwards and backwards, without those that drop out, until the first median is known."""

from warpwright.core.records.measurement import Cache
from warpwright.judge.timing.case_timing import slope_disagreement
from warpwright.judge.timing.interleaving import DroppedOut, chain_keys, interleave
from warpwright.judge.timing.nvml import GpuState
from warpwright.judge.timing.stopping import Limits


class Fake:
    """Gives the same samples each time and records when it was timed."""

    def __init__(self, name, log, lost_after=None):
        self.name, self._log, self._lost_after = name, log, lost_after

    def block(self, cache):
        self._log.append(self.name)
        if self._lost_after is not None and self._log.count(self.name) > self._lost_after:
            raise DroppedOut("gone")
        return [100.0, 101.0, 102.0, 103.0]


class Calm:
    def read(self):
        return GpuState()


class Hot:
    """Throttles the GPU in every second reading."""

    def __init__(self):
        self._count = 0

    def read(self):
        self._count += 1
        return GpuState(throttle=0x20 if self._count % 4 == 0 else 0)


LIMITS = Limits(least=16, most=16, seconds=60.0)


def test_turns_alternate_forwards_and_backwards():
    log = []
    found = interleave([Fake("a", log), Fake("b", log)], Cache.COLD, LIMITS, Calm())
    assert log == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert found["a"].blocks == [[100.0, 101.0, 102.0, 103.0]] * 4
    assert found["a"].stopped_because


def test_a_baseline_that_drops_out_is_timed_no_more_and_its_reason_is_kept():
    log = []
    found = interleave([Fake("a", log), Fake("b", log, lost_after=1)], Cache.COLD, LIMITS, Calm())
    assert found["b"].lost == "gone"
    assert log.count("b") == 2
    assert len(found["a"].blocks) == 4


def test_samples_of_a_throttled_gpu_are_discarded_with_the_reason():
    log = []
    found = interleave([Fake("a", log)], Cache.COLD, LIMITS, Hot())
    assert len(found["a"].blocks) == 4
    assert found["a"].discards
    assert "thermal" in found["a"].discards[0].reason
    assert found["a"].discards[0].samples_us == (100.0, 101.0, 102.0, 103.0)


def test_no_two_graphs_share_a_key():
    keys = [key for number in range(4) for cache in Cache for key in chain_keys(number, cache)]
    assert len(set(keys)) == len(keys)
    assert min(keys) >= 1000


class Clock:
    """Returns one slope after the other."""

    def __init__(self, *said):
        self._said = iter(said)

    def slope_us(self):
        return next(self._said)


def test_a_wall_clock_that_was_delayed_is_read_again():
    assert slope_disagreement(Clock(15.3, 15.0, 4.3), 4.1) is None
    assert slope_disagreement(Clock(4.3), 4.1) is None
    assert slope_disagreement(Clock(None), 4.1) is None


def test_work_outside_the_timed_window_shows_every_time():
    assert slope_disagreement(Clock(15.3, 16.0, 15.0, 15.5), 4.1) == 15.5
