"""Another candidate beside the one that is judged: what befalls it ends its part, and says nothing of the other."""

import pytest

from warpwright.core.records.evidence import Counterexample
from warpwright.core.records.measurement import Cache
from warpwright.judge.contestant import Contestant, Opponent, WrongWhileTimed
from warpwright.judge.processes.workers import CellFailure
from warpwright.judge.timing.interleaving import RivalLost

WRONG = WrongWhileTimed(Counterexample(kind="error", message="y: 3 of 4 elements wrong"))


@pytest.mark.parametrize("failure", [WRONG, CellFailure("hang", "no answer within 10 s")], ids=["wrong", "dead"])
def test_a_failure_makes_it_a_lost_rival(monkeypatch, failure):
    def failing(self, cache):
        raise failure

    monkeypatch.setattr(Contestant, "block", failing)
    opponent = Opponent.__new__(Opponent)
    with pytest.raises(RivalLost, match=r"elements wrong|no answer"):
        opponent.block(Cache.COLD)
    assert opponent.slope_us() is None
