"""Successive halving: who goes on, that rungs do not mix, and that no score is no verdict."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.errors import UsageError
from warpwright.propose.tuning.halving import Halving, Rung

RUNGS = (Rung(name="cheap", share=0.5), Rung(name="dear", share=0.5), Rung(name="dearest"))


def run(halving: Halving, score: dict[str, dict[str, float | None]]) -> Halving:
    while (turn := halving.turn) is not None:
        halving = halving.fed({name: score[turn.rung.name].get(name) for name in turn.entrants})
    return halving


def test_the_better_half_goes_on_and_the_last_rung_decides() -> None:
    cheap: dict[str, float | None] = {"a": 1.0, "b": 4.0, "c": 3.0, "d": 2.0}
    done = run(
        Halving(entrants=tuple("abcd"), rungs=RUNGS),
        {"cheap": cheap, "dear": {"b": -9.0, "c": -8.0}, "dearest": {"c": 0.0}},
    )
    assert done.winner == "c"
    assert done.ranked == ("c", "b", "d", "a")


def test_scores_of_different_rungs_are_never_compared() -> None:
    """The predictions are far above every measurement; only the last rung's order counts."""
    cheap: dict[str, float | None] = dict.fromkeys("abcd", 100.0)
    done = run(Halving(entrants=tuple("abcd"), rungs=RUNGS[:2]), {"cheap": cheap, "dear": {"a": 0.1, "b": 0.2}})
    assert done.winner == "b"


def test_the_incumbent_is_carried_along_however_it_looks() -> None:
    halving = Halving(entrants=tuple("abcd"), rungs=RUNGS, incumbent="a")
    halving = halving.fed({"a": 0.0, "b": 1.0, "c": 2.0, "d": 3.0})
    assert halving.turn is not None
    assert halving.turn.entrants == ("d", "c", "a")


def test_what_has_no_score_goes_no_further_not_even_the_incumbent() -> None:
    halving = Halving(entrants=tuple("ab"), rungs=RUNGS, incumbent="a").fed({"a": None, "b": math.nan})
    assert halving.turn is None
    assert halving.winner is None
    assert halving.ranked == ()


def test_scores_may_come_in_pieces() -> None:
    halving = Halving(entrants=tuple("abc"), rungs=RUNGS).fed({"b": 1.0})
    assert halving.turn is not None
    assert halving.turn.entrants == ("a", "c")
    assert halving.ranked == ()


def test_who_is_not_asked_cannot_be_scored() -> None:
    with pytest.raises(UsageError, match="no score is due for x"):
        Halving(entrants=tuple("ab"), rungs=RUNGS).fed({"x": 1.0})
    done = run(Halving(entrants=("a",), rungs=RUNGS[:1]), {"cheap": {"a": 1.0}})
    with pytest.raises(UsageError, match="no score is due for a"):
        done.fed({"a": 1.0})


def test_a_rung_lets_at_least_and_at_most_so_many_pass() -> None:
    rung = Rung(name="r", share=0.25, least=4, most=16)
    assert [rung.passing(count) for count in (1, 4, 10, 40, 1000)] == [1, 4, 4, 10, 16]
    assert Rung(name="r", share=0.1).passing(11) == 2


@pytest.mark.parametrize("share", [0.0, 1.5, math.nan])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        Rung(name="r", share=share)


@pytest.mark.parametrize("entrants", [(), ("a", "a")])
def test_entrants_come_once(entrants: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="each once"):
        Halving(entrants=entrants)


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.none() | st.floats(allow_nan=True), min_size=1, max_size=40))
def test_with_honest_rungs_the_best_wins(truth: dict[str, float | None]) -> None:
    """Where every rung sees the truth, the winner is the best, and each rung asks no more than it may."""
    halving, asked = Halving(entrants=tuple(truth)), []
    while (turn := halving.turn) is not None:
        asked.append(len(turn.entrants))
        halving = halving.fed({name: truth[name] for name in turn.entrants})
    scored = [score for score in truth.values() if score is not None and not math.isnan(score)]
    assert asked == sorted(asked, reverse=True)
    assert len(asked) == (3 if scored else 1)
    assert (halving.winner is None) == (not scored)
    if halving.winner is not None:
        assert truth[halving.winner] == max(scored)
