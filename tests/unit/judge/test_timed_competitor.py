"""A competitor timed beside the judged candidate: its failure ends its own part only."""

import pytest

from warpwright.core.records.evidence import Counterexample
from warpwright.core.records.measurement import Cache
from warpwright.judge.processes.workers import WorkerFailure
from warpwright.judge.timing.interleaving import DroppedOut
from warpwright.judge.timing.timed_candidate import TimedCandidate, TimedCompetitor, WrongWhileTimed

WRONG = WrongWhileTimed(Counterexample(kind="error", message="y: 3 of 4 elements wrong"))


@pytest.mark.parametrize("failure", [WRONG, WorkerFailure("hang", "no answer within 10 s")], ids=["wrong", "dead"])
def test_a_competitor_that_fails_drops_out(monkeypatch, failure):
    def failing(self, cache):
        raise failure

    monkeypatch.setattr(TimedCandidate, "block", failing)
    opponent = TimedCompetitor.__new__(TimedCompetitor)
    with pytest.raises(DroppedOut, match=r"elements wrong|no answer"):
        opponent.block(Cache.COLD)
    assert opponent.slope_us() is None
